#pragma once

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/tracker_lines/typed_fields.hpp"

namespace snapdiff::formats::tracker_lines {

/// One text of an inline stack: "fn (file:line)", or a bare function.
struct InlineFrame {
  std::string_view function;
  std::string_view file;
  std::int32_t line = 0;
};

/// The last parentheses are taken as the place when they end in a colon and a number; "f(int)" and
/// "operator() (a.cpp:3)" are both read right.
InlineFrame parse_inline_frame(std::string_view text);

/// What the snapshots of a run (the lines from one header to the next) share: their dictionary, and the ids of the
/// frame and stack lines. A stack is interned once, however many snapshots have it.
class RunTables {
 public:
  SnapshotBuilder& builder() { return *builder_; }
  void set_root_first(bool root_first) { root_first_ = root_first; }

  /// Take a frame or stack line. Throw LineError: a wrong value, a frame that is not defined, another definition under
  /// the same id (rule 1).
  void define_frame(const Fields& fields);
  void define_stack(const Fields& fields);

  /// The stack that a live or node line names under `stack`, be it an id or an array of texts. Throws LineError.
  StackId stack_of(const Fields& fields);

  /// Stack and labels of rows that are keyed by a type alone.
  StackId type_stack(StringId type);
  LabelSetId type_labels(StringId type);

  /// Keys of the rows of the snapshot before, RowTable::keys(): of live lines, and of nodes.
  std::vector<std::uint64_t> keys_of_lives;
  std::vector<std::uint64_t> keys_of_nodes;

  /// The dictionary of all that was interned; the tables are empty then.
  /// Throws Failure (internal) when the model is broken.
  std::shared_ptr<const Dictionary> finish();

  struct Frame {
    StringId file{};
    FrameSpec spec;
  };
  static bool is_same(const Frame& a, const Frame& b);
  FrameId inline_frame(std::string_view text);
  StackId inline_stack(const Fields& fields);

  std::unique_ptr<SnapshotBuilder> builder_ = std::make_unique<SnapshotBuilder>();
  NumberRows frame_ids_;
  std::vector<Frame> frames_;
  std::vector<FrameId> frame_rows_;
  NumberRows stack_ids_;
  std::vector<StackId> stack_rows_;
  HashIndex inline_rows_;  // by text
  std::vector<StringId> inline_texts_;
  std::vector<FrameId> inline_frames_;
  std::vector<std::uint32_t> type_stacks_;  // by StringId of the type
  std::vector<std::uint32_t> type_labels_;  // the same
  std::vector<FrameId> scratch_;
  bool root_first_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
