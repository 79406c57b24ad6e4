#include "formats/tracker_lines/run_tables.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "formats/tracker_lines/inline_frame.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

constexpr std::size_t kMostFrames = 1'000'000;
constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max() - 1;

std::int32_t source_line(const Fields& fields) {
  const std::int64_t line = fields.integer(Key::line, 0).value_or(0);
  if (line > std::numeric_limits<std::int32_t>::max()) fields.wrong(Key::line, "a line number below 2^31");
  return static_cast<std::int32_t>(line);
}

/// A number, or a text as "0x7f12" or "1234".
std::uint64_t address(const Fields& fields) {
  if (!fields.has(Key::addr)) return kNoOffset;
  const JsonValue& value = fields.at(Key::addr);
  if (value.kind != JsonKind::text) return static_cast<std::uint64_t>(*fields.integer(Key::addr, 0));
  const bool hex = value.text.substr(0, 2) == "0x" || value.text.substr(0, 2) == "0X";
  const std::string_view digits = value.text.substr(hex ? 2 : 0);
  const char* const end = digits.data() + digits.size();
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), end, number, hex ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    fields.wrong(Key::addr, "an address: a number, or a text as 0x7f12");
  return number;
}

}  // namespace

StringId RunTables::intern(std::string_view text) {
  if (text.empty()) return StringId{};
  const std::uint64_t hash = hash_bytes(text).low;
  const std::uint32_t row = text_rows_.find(hash, [&](std::uint32_t r) { return texts_[StringId{r}] == text; });
  if (row != HashIndex::kAbsent) return StringId{row};
  const StringId id = texts_.append(text);
  text_rows_.insert(hash, static_cast<std::uint32_t>(id));
  return id;
}

void RunTables::define_frame(const Fields& fields) {
  const std::int64_t id = fields.required_integer(Key::id, 1);
  Frame frame;
  frame.function = intern(fields.text(Key::fn));
  frame.address = address(fields);
  if (frame.function == StringId{} && frame.address == kNoOffset) fail_line(Rule::line, "frame without fn or addr");
  frame.file = intern(fields.text(Key::file));
  frame.module = intern(fields.text(Key::module));
  frame.line = source_line(fields);
  frame.inlined = fields.truth(Key::inlined).value_or(false);
  const std::uint32_t row = frame_ids_.find(id);
  if (row == kNone) {
    if (frames_.size() == kMostRows) fail_line(Rule::line, "more frames than 32 bits count");
    frame_ids_.insert(id);
    frames_.push_back(frame);
  } else if (!(frames_[row] == frame)) {
    fail_line(Rule::place, "frame defined again, and differently",
              "found id " + std::to_string(id) + ", expected equal content or another id");
  }
}

void RunTables::define_stack(const Fields& fields) {
  const std::int64_t id = fields.required_integer(Key::id, 1);
  fields.require(Key::frames);
  const JsonValue& array = fields.at(Key::frames);
  if (array.kind != JsonKind::array) fields.wrong(Key::frames, "an array of frame ids");
  scratch_.clear();
  const std::vector<JsonValue>& values = fields.values();
  for (std::uint32_t at = fields.row(Key::frames) + 1; at < array.end; at = values[at].end) {
    const std::optional<std::int64_t> frame = integer_of(values[at]);
    const std::uint32_t row = frame ? frame_ids_.find(*frame) : kNone;
    if (row == kNone) {
      fail_line(frame ? Rule::place : Rule::line, "stack names a frame that is not defined",
                "found " + shown(values[at]) + ", expected the id of a frame line before this one");
    }
    scratch_.push_back(row);
  }
  if (scratch_.size() > kMostFrames) fail_line(Rule::line, "stack of more than 1000000 frames");
  if (root_first_) std::reverse(scratch_.begin(), scratch_.end());
  const std::uint32_t row = stack_ids_.find(id);
  if (row == kNone) {
    if (stack_count() == kMostRows) fail_line(Rule::line, "more stacks than 32 bits count");
    stack_ids_.insert(id);
    stack_frames_.insert(stack_frames_.end(), scratch_.begin(), scratch_.end());
    stack_begin_.push_back(stack_frames_.size());
  } else if (const auto old = frames_of(row); !std::equal(old.begin(), old.end(), scratch_.begin(), scratch_.end())) {
    fail_line(Rule::place, "stack defined again, and differently",
              "found id " + std::to_string(id) + ", expected equal content or another id");
  }
}

FrameId TableIds::frame(std::uint32_t row) {
  if (frame_.size() < tables_.frame_count()) frame_.resize(tables_.frame_count(), kUnset);
  if (frame_[row] != kUnset) return FrameId{frame_[row]};
  const RunTables::Frame& frame = tables_.frame(row);
  SnapshotBuilder::FrameSpec spec;
  spec.module = builder_.module(tables_.text(frame.module), {});
  spec.offset = frame.address;
  spec.function = builder_.function(builder_.string(tables_.text(frame.function)), StringId{},
                                    builder_.string(tables_.text(frame.file)), 0);
  spec.line = frame.line;
  spec.flags = frame.inlined ? kFrameInlined : std::uint8_t{0};
  const FrameId id = builder_.frame(spec);
  frame_[row] = static_cast<std::uint32_t>(id);
  return id;
}

StackId TableIds::stack(std::uint32_t row) {
  if (stack_.size() < tables_.stack_count()) stack_.resize(tables_.stack_count(), kUnset);
  if (stack_[row] != kUnset) return StackId{stack_[row]};
  scratch_.clear();
  for (const std::uint32_t frame_row : tables_.frames_of(row)) scratch_.push_back(frame(frame_row));
  const StackId id = builder_.stack(scratch_);
  stack_[row] = static_cast<std::uint32_t>(id);
  return id;
}

FrameId TableIds::inline_frame(std::string_view text) {
  const std::uint64_t hash = hash_bytes(text).low;
  const std::uint32_t row =
      inline_rows_.find(hash, [&](std::uint32_t r) { return builder_.dictionary().strings[inline_text_[r]] == text; });
  if (row != HashIndex::kAbsent) return inline_frame_[row];
  const InlineFrame parts = parse_inline_frame(text);
  SnapshotBuilder::FrameSpec spec;
  spec.function = builder_.function(builder_.string(parts.function), StringId{}, builder_.string(parts.file), 0);
  spec.line = parts.line;
  const FrameId id = builder_.frame(spec);
  inline_rows_.insert(hash, static_cast<std::uint32_t>(inline_frame_.size()));
  inline_text_.push_back(builder_.string(text));
  inline_frame_.push_back(id);
  return id;
}

}  // namespace snapdiff::formats::tracker_lines
