#pragma once

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/tracker_lines/typed_fields.hpp"

namespace snapdiff::formats::tracker_lines {

constexpr std::size_t kMostFrames = 1'000'000;

constexpr std::uint32_t kUnset = 0xffffffffU;

inline std::int32_t source_line(const Fields& fields) {
  const std::int64_t line = fields.integer("line"_key, 0).value_or(0);
  if (line > std::numeric_limits<std::int32_t>::max()) fields.wrong("line"_key, "a line number below 2^31");
  return static_cast<std::int32_t>(line);
}

/// A number, or a text as "0x7f12" or "1234".
inline std::uint64_t address(const Fields& fields) {
  if (!fields.has("addr"_key)) return kNoOffset;
  const JsonValue& value = fields.at("addr"_key);
  if (value.kind != JsonKind::text) return static_cast<std::uint64_t>(*fields.integer("addr"_key, 0));
  const bool hex = value.text.substr(0, 2) == "0x" || value.text.substr(0, 2) == "0X";
  const std::string_view digits = value.text.substr(hex ? 2 : 0);
  std::uint64_t number = 0;
  if (!text::parse_whole(digits, number, hex ? 16 : 10))
    fields.wrong("addr"_key, "an address: a number, or a text as 0x7f12");
  return number;
}

/// One text of an inline stack: "fn (file:line)", or a bare function.
struct InlineFrame {
  std::string_view function;
  std::string_view file;
  std::int32_t line = 0;
};

/// The last parentheses are taken as the place when they end in a colon and a number; "f(int)" and
/// "operator() (a.cpp:3)" are both read right.
inline InlineFrame parse_inline_frame(std::string_view text) {
  const InlineFrame bare{text, {}, 0};
  if (text.empty() || text.back() != ')') return bare;
  const std::size_t open = text.rfind(" (");
  if (open == std::string_view::npos || open == 0) return bare;
  std::string_view file = text.substr(open + 2, text.size() - open - 3);
  std::int64_t line = 0;
  if (!text::take_line_number(file, line) || line > std::numeric_limits<std::int32_t>::max()) return bare;
  return {text.substr(0, open), file, static_cast<std::int32_t>(line)};
}

/// What the snapshots of a run (the lines from one header to the next) share: their dictionary, and the ids of the
/// frame and stack lines. A stack is interned once, however many snapshots have it.
class RunTables {
 public:
  SnapshotBuilder& builder() { return *builder_; }
  void set_root_first(bool root_first) { root_first_ = root_first; }

  /// Take a frame or stack line. Throw LineError: a wrong value, a frame that is not defined, another definition under
  /// the same id (rule 1).
  void define_frame(const Fields& fields) {
    const std::int64_t id = fields.required_integer("id"_key, 1);
    Frame frame;
    const std::string_view function = fields.text("fn"_key);
    frame.spec.offset = address(fields);
    if (function.empty() && frame.spec.offset == kNoOffset) fail_line(Rule::line, "frame without fn or addr");
    frame.spec.line = source_line(fields);
    frame.spec.flags = fields.truth("inlined"_key).value_or(false) ? kFrameInlined : std::uint8_t{0};
    frame.file = builder_->string(fields.text("file"_key));
    frame.spec.module = builder_->module(fields.text("module"_key), {});
    frame.spec.function = builder_->function(builder_->string(function), StringId{}, frame.file, 0);
    const std::uint32_t row = frame_ids_.intern(static_cast<std::uint64_t>(id));
    if (row == frames_.size()) {
      frames_.push_back(frame);
      frame_rows_.push_back(builder_->frame(frame.spec));
    } else if (!is_same(frames_[row], frame)) {
      fail_line(Rule::place, "frame defined again, and differently",
                "found id " + std::to_string(id) + ", expected equal content or another id");
    }
  }

  void define_stack(const Fields& fields) {
    const std::int64_t id = fields.required_integer("id"_key, 1);
    fields.require("frames"_key);
    const JsonValue& array = fields.at("frames"_key);
    if (array.kind != JsonKind::array) fields.wrong("frames"_key, "an array of frame ids");
    scratch_.clear();
    const std::vector<JsonValue>& values = fields.values();
    for (std::uint32_t at = fields.row("frames"_key) + 1; at < array.end; at = values[at].end) {
      const std::optional<std::int64_t> frame = integer_of(values[at]);
      const std::uint32_t row = frame ? frame_ids_.find(static_cast<std::uint64_t>(*frame)) : NumberRows::kAbsent;
      if (row == NumberRows::kAbsent)
        fail_line(frame ? Rule::place : Rule::line, "stack names a frame that is not defined",
                  "found " + shown(values[at]) + ", expected the id of a frame line before this one");
      scratch_.push_back(frame_rows_[row]);
    }
    if (scratch_.size() > kMostFrames) fail_line(Rule::line, "stack of more than 1000000 frames");
    if (root_first_) std::reverse(scratch_.begin(), scratch_.end());
    const StackId stack = builder_->stack(scratch_);
    const std::uint32_t row = stack_ids_.intern(static_cast<std::uint64_t>(id));
    if (row == stack_rows_.size()) {
      stack_rows_.push_back(stack);
    } else if (stack_rows_[row] != stack) {
      fail_line(Rule::place, "stack defined again, and differently",
                "found id " + std::to_string(id) + ", expected equal content or another id");
    }
  }

  /// The stack that a live or node line names under `stack`, be it an id or an array of texts. Throws LineError.
  StackId stack_of(const Fields& fields) {
    const JsonValue& stack = fields.at("stack"_key);
    if (stack.kind == JsonKind::array) return inline_stack(fields);
    const std::optional<std::int64_t> id = integer_of(stack);
    if (!id) fields.wrong("stack"_key, "the id of a stack line, or an array of texts");
    const std::uint32_t row = stack_ids_.find(static_cast<std::uint64_t>(*id));
    if (row == NumberRows::kAbsent)
      fail_line(Rule::place, std::string(to_text(fields.kind())) + " names a stack that is not defined",
                "found " + shown(stack) + ", expected the id of a stack line before this one");
    return stack_rows_[row];
  }

  /// Stack and labels of rows that are keyed by a type alone.
  StackId type_stack(StringId type) {
    return StackId{once(type_stacks_, type, [&] {
      const FrameId frame = builder_->frame({.function = builder_->function(type, StringId{}, StringId{}, 0)});
      return builder_->stack(std::span(&frame, 1));
    })};
  }
  LabelSetId type_labels(StringId type) {
    return LabelSetId{once(type_labels_, type, [&] { return builder_->labels({{builder_->string("type"), type}}); })};
  }

  /// Keys of the rows of the snapshot before, RowTable::keys(): of live lines, and of nodes.
  std::vector<std::uint64_t> keys_of_lives;
  std::vector<std::uint64_t> keys_of_nodes;

  /// The dictionary of all that was interned; the tables are empty then.
  /// Throws Failure (internal) when the model is broken.
  std::shared_ptr<const Dictionary> finish() {
    Result<Snapshot> made = builder_->finish();
    if (!made) fail(std::move(made).error());
    *this = RunTables{};
    return made->dictionary;
  }

  /// The number that `made` has by text, which make() gives the first time.
  template <class Make>
  static std::uint32_t once(std::vector<std::uint32_t>& made, StringId text, Make make) {
    const std::size_t row = index_of(text);
    if (row >= made.size()) made.resize(row + 1, kUnset);
    if (made[row] == kUnset) made[row] = static_cast<std::uint32_t>(make());
    return made[row];
  }

  struct Frame {
    StringId file{};
    FrameSpec spec;
  };
  static bool is_same(const Frame& a, const Frame& b) {
    return a.file == b.file && a.spec.module == b.spec.module && a.spec.offset == b.spec.offset &&
           a.spec.function == b.spec.function && a.spec.line == b.spec.line && a.spec.flags == b.spec.flags;
  }

  FrameId inline_frame(std::string_view text) {
    const auto [row, is_new] = inline_rows_.intern(keyed_hash(text), inline_frames_.size(), [&](std::uint32_t r) {
      return builder_->dictionary().strings[inline_texts_[r]] == text;
    });
    if (!is_new) return inline_frames_[row];
    const InlineFrame parts = parse_inline_frame(text);
    const FrameId id = builder_->frame(
        {.function = builder_->function(builder_->string(parts.function), StringId{}, builder_->string(parts.file), 0),
         .line = parts.line});
    inline_texts_.push_back(builder_->string(text));
    inline_frames_.push_back(id);
    return id;
  }

  StackId inline_stack(const Fields& fields) {
    scratch_.clear();
    const JsonValue& array = fields.at("stack"_key);
    const std::vector<JsonValue>& values = fields.values();
    for (std::uint32_t row = fields.row("stack"_key) + 1; row < array.end; row = values[row].end) {
      if (values[row].kind != JsonKind::text)
        fail_line(Rule::line, "inline stack holds something else than texts",
                  "found " + shown(values[row]) + ", expected \"fn (file:line)\"");
      if (scratch_.size() == kMostFrames) fail_line(Rule::line, "stack of more than 1000000 frames");
      scratch_.push_back(inline_frame(values[row].text));
    }
    if (root_first_) std::reverse(scratch_.begin(), scratch_.end());
    return builder_->stack(scratch_);
  }

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
