#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/held_stacks.hpp"
#include "snapdiff/api.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff {

/// Fills one Snapshot. Importers push texts, frames, stacks and rows in any order; equal things
/// get equal ids. Not thread-safe; one builder makes one snapshot.
class SNAPDIFF_API SnapshotBuilder {
 public:
  using FrameSpec = snapdiff::FrameSpec;

  SnapshotBuilder();
  ~SnapshotBuilder();
  SnapshotBuilder(SnapshotBuilder&&) noexcept;
  SnapshotBuilder& operator=(SnapshotBuilder&&) noexcept;

  SnapshotFacts& facts() { return facts_; }
  Notes& notes() { return facts_.notes; }
  const Dictionary& dictionary() const { return *dictionary_; }

  StringId string(std::string_view text);

  ModuleId module(std::string_view name, std::string_view build_id);

  /// An empty name and system name give "no function".
  FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line);

  /// The function of a format that knows one name of it, and perhaps the file.
  FunctionId function(std::string_view name, std::string_view file = {});

  /// Frames of equal hash are one frame; the first one's module, offset and column stay.
  FrameId frame(const FrameSpec& spec);

  /// For the store, which keeps the hash a frame was imported with.
  FrameId frame_with_hash(const FrameSpec& spec, const Hash128& hash);

  /// The frame of a pseudo row, e.g. kNoStackRecorded.
  FrameId pseudo_frame(std::string_view text);
  StackId pseudo_stack(std::string_view text);

  /// Interns a whole stack, leaf first. An empty one is the pseudo stack `[no stack recorded]`.
  StackId stack(std::span<const FrameId> leaf_first);

  /// For a source that keeps the hash a stack was imported with; the stack is not empty.
  StackId stack_with_hash(std::span<const FrameId> leaf_first, const Hash128& hash);

  /// Receives the number of a stack and its frames, leaf first.
  using TakeStack = std::function<void(std::size_t stack, std::span<const FrameId> leaf_first)>;
  /// Calls `take` for each of the stacks begin .. end - 1, ascending. Several threads call it, once for each stack.
  using ReadStacks = std::function<void(std::size_t begin, std::size_t end, const TakeStack& take)>;

  /// stacks() keeps no frames of stacks that are held elsewhere, by their hashes: whoever gets the snapshot has to know
  /// of it. `held` has to stay until then; null: all frames are kept.
  void leave_out(const HeldStacks* held) { held_ = held; }
  /// Whether stacks() keeps the frames of this one.
  bool keeps(std::span<const FrameId> leaf_first) const;

  /// Interns `count` stacks on all cores, as stack() would one after the other. No stack may be interned before.
  /// reserve_stacks() before it spares the growth of the tables. Throws what `read` throws.
  std::vector<StackId> stacks(std::size_t count, const ReadStacks& read);

  /// Hint: about this many strings, functions and frames will come.
  void reserve_code(std::size_t strings, std::size_t functions, std::size_t frames);
  /// Hint: about this many stacks with this many frames in all will come.
  void reserve_stacks(std::size_t stacks, std::size_t frames);

  /// Interns a set of labels; their order does not matter.
  LabelSetId labels(std::vector<Label> set);

  /// All columns must be added before the first row. Returns the column's index.
  std::size_t add_column(SampleType type, std::int64_t half_unit = 0);

  /// The columns inuse_objects and inuse_space, and where `allocated` alloc_objects and alloc_space.
  void add_heap_columns(bool allocated = false);

  /// One row; values.size() == number of columns. Rows of equal stack and labels are summed in
  /// finish().
  void add_row(StackId stack, LabelSetId labels, std::span<const std::int64_t> values);

  /// As add_row; unknown values have `known[c] == 0`.
  void add_row(StackId stack, LabelSetId labels, std::span<const std::int64_t> values,
               std::span<const std::uint8_t> known);

  /// Columns of all rows at once: `labels` and each of `values` are as long as `stacks`. No row may be added before.
  void set_rows(std::vector<StackId> stacks, std::vector<LabelSetId> labels,
                std::vector<std::vector<std::int64_t>> values);

  std::size_t row_count() const { return stack_.size(); }

  void add_mapping(const Mapping& mapping) { mappings_.push_back(mapping); }

  /// Its stack and string ids must be of this builder.
  void set_allocator(std::shared_ptr<const AllocatorState> state) { allocator_ = std::move(state); }

  /// Its string ids must be of this builder. Checked by whoever made it (validate() of object_graph.hpp).
  void set_graph(std::shared_ptr<const ObjectGraph> graph) { graph_ = std::move(graph); }

  /// Sums equal rows, drops rows whose values are all zero, sorts, validates.
  /// Errors: limit, when a sum (of equal rows, or of a whole column) leaves 64 bits; internal,
  /// when validate() finds the model broken. The builder is used up.
  Result<Snapshot> finish();

 private:
  std::unique_ptr<Dictionary> dictionary_;
  const HeldStacks* held_ = nullptr;
  SnapshotFacts facts_;
  std::vector<StackId> stack_;
  std::vector<LabelSetId> label_set_;
  std::vector<Column> columns_;
  std::vector<Mapping> mappings_;
  std::shared_ptr<const AllocatorState> allocator_;
  std::shared_ptr<const ObjectGraph> graph_;
  std::vector<Hash128> text_hash_{hash_bytes({})};  // by string
  HashIndex strings_;
  HashIndex modules_;
  HashIndex functions_;
  HashIndex frames_;
  HashIndex stacks_;
  HashIndex labels_;
};

}  // namespace snapdiff
