#pragma once

#include <unordered_map>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/fleet/impl.hpp"

namespace snapdiff::fleet {

/// Brings stacks, frames and label sets from the servers into one dictionary.
class DictionaryReader {
 public:
  DictionaryReader(Fleet::Impl& from, SnapshotBuilder& into) : from_(from), into_(into) {}

  /// Errors: internal, where a stack or one of its frames is on no server.
  void read_stacks(std::vector<Hash128> stacks);
  void read_labels(std::vector<std::uint64_t> labels);

  StackId stack(const Hash128& hash) const { return stack_ids_.at(hash); }
  LabelSetId labels(std::uint64_t id) const { return id == 0 ? LabelSetId{} : label_ids_.at(id); }

 private:
  void read_frames(std::vector<Hash128> frames);

  Fleet::Impl& from_;
  SnapshotBuilder& into_;
  std::unordered_map<Hash128, FrameId> frame_ids_;
  std::unordered_map<Hash128, StackId> stack_ids_;
  std::unordered_map<std::uint64_t, LabelSetId, KeyedHash> label_ids_;
};

}  // namespace snapdiff::fleet
