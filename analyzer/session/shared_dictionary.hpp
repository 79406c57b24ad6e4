#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/held_stacks.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::session {

/// One dictionary for several snapshots. Each file brings a dictionary of its own, and those of one program hold nearly
/// the same: kept apart, fifty snapshots of 100 000 stacks take 2 GB, and each of their stacks is looked at fifty
/// times. A stack that is there already, by its hash, keeps the frames with which it came first, as in a store.
/// Snapshots with references of their own into theirs (an allocator's state, an object graph) are left as they are.
/// No view into the dictionary may be held while it grows. One thread at a time.
class SharedDictionary : public HeldStacks {
 public:
  SharedDictionary();

  bool holds(const Hash128& stack) const override { return find_stack(stack) != HashIndex::kAbsent; }
  void prefetch(const Hash128& stack) const override { stacks_.prefetch(keyed_hash(stack)); }

  /// Moves what the snapshot refers to over, and gives it this dictionary.
  void take(Snapshot& snapshot);

  /// The snapshot's own dictionary becomes this one, which must be empty.
  void adopt(Snapshot& snapshot);

  /// Gives the memory back by which rows are found: nothing is taken any more.
  void forget() { *this = SharedDictionary(); }

  /// As take(), where that spares memory and changes nothing: most of its stacks are here already, and each of its
  /// frames that is here, by its hash, says the same, but for the offset in a module of the same build id. Else the
  /// snapshot stays as it is. Frames of stacks that are here may have been left out of it: it gets them back.
  void take_if_alike(Snapshot& snapshot);

 private:
  class Rows;
  /// By stack and by frame of a dictionary: its number here, HashIndex::kAbsent where it is not here.
  struct Known {
    std::vector<std::uint32_t> stacks, frames;
  };

  std::uint32_t find_stack(const Hash128& hash) const;
  std::optional<Known> know_most(const Dictionary& other) const;
  void move(Snapshot& snapshot, Known known);
  void give_frames_back(Snapshot& snapshot) const;

  std::shared_ptr<Dictionary> dictionary_;
  HashIndex strings_, modules_, functions_, frames_, label_sets_, stacks_;
};

}  // namespace snapdiff::session
