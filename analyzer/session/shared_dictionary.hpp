#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::session {

/// One dictionary for the snapshots of a long series. Each file brings a dictionary of its own, and those of one
/// program hold nearly the same: kept apart, fifty snapshots of 100 000 stacks take 2 GB.
/// A stack that is there already, by its hash, keeps the frames with which it came first, as in a store.
class SharedDictionary {
 public:
  SharedDictionary() : dictionary_(std::make_shared<Dictionary>()) {}

  /// Moves what the snapshot refers to over, and gives it this dictionary. Snapshots with references of their own
  /// into theirs (an allocator's state, an object graph) are left as they are. No view into the dictionary may be held
  /// while it grows. One thread at a time.
  void take(Snapshot& snapshot);

 private:
  class Rows;
  using Numbers = std::unordered_map<std::string, std::uint32_t, KeyedHash>;  // by a row's fields as bytes

  std::shared_ptr<Dictionary> dictionary_;
  std::unordered_map<std::string, StringId, KeyedHash> strings_;
  Numbers modules_, functions_, frames_, label_sets_;
  std::unordered_map<Hash128, StackId> stacks_;
};

}  // namespace snapdiff::session
