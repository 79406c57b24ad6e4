#include "formats/tracemalloc/printed_list.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "formats/tracemalloc/python_frames.hpp"

namespace snapdiff::formats::tracemalloc {
namespace {

constexpr std::string_view kBelowThreshold = "[below threshold]";

}  // namespace

/// What lists are sorted by, as far as it was printed.
std::int64_t PrintedList::weight(const StatisticLine& line) {
  if (line.kind != LineKind::difference) return line.size.bytes;
  return line.size_growth.bytes < 0 ? -line.size_growth.bytes : line.size_growth.bytes;
}

void PrintedList::add(const StatisticLine& line) {
  kind_ = line.kind;
  last_weight_ = weight(line);
  Entry entry;
  entry.size = line.size;
  entry.count = line.count;
  entry.size_growth = line.size_growth;
  entry.count_growth = line.count_growth;
  entry.frames_begin = places_.size();
  entry.has_stack = line.kind == LineKind::blocks;
  if (!entry.has_stack) places_.push_back({std::string(line.file), line.line});
  entry.frames_end = places_.size();
  entries_.push_back(entry);
}

void PrintedList::add_frame(const StatisticLine& frame) {
  if (entries_.empty()) return;
  Entry& entry = entries_.back();
  if (!entry.has_stack) {
    // The line named one frame of the stack that now follows.
    entry.has_stack = true;
    places_.resize(entry.frames_begin);
  }
  places_.push_back({std::string(frame.file), frame.line});
  entry.frames_end = places_.size();
}

bool PrintedList::add_below(const StatisticLine& line) {
  if (empty() || kind_ != LineKind::ranked || has_total_) return false;
  if (line.kind == LineKind::rest) {
    if (rest_) return false;
    rest_ = line.size;
    return true;
  }
  has_total_ = true;
  if (rest_) return true;
  PrintedSize rest = line.size;
  for (const Entry& entry : entries_) {
    if (rest.bytes <= rest.half_unit) break;  // nothing is left, whatever follows; more might not fit in 64 bits
    rest.bytes -= entry.size.bytes;
    rest.half_unit += entry.size.half_unit;
  }
  // All lines are listed where the difference is within what was rounded off.
  if (rest.bytes > rest.half_unit) rest_ = rest;
  return true;
}

void PrintedList::add_row(SnapshotBuilder& builder, const Entry& entry, Side side) const {
  std::int64_t bytes = entry.size.bytes;
  std::int64_t half_unit = entry.size.half_unit;
  std::int64_t count = entry.count;
  if (side == Side::before) {
    bytes -= entry.size_growth.bytes;
    half_unit += entry.size_growth.half_unit;
    count -= entry.count_growth;
    if (bytes < 0) bytes = 0;  // by rounding
  }
  if (count == 0 && has_counts()) {
    bytes = 0;
    // Exact, but a row of zeros would not be kept, and a row that is absent is unknown here.
    half_unit = 1;
  }
  std::vector<FrameId> stack;
  for (std::size_t i = entry.frames_end; i > entry.frames_begin; --i) {
    const Place& place = places_[i - 1];
    stack.push_back(place_frame(builder, place.file, place.line));
  }
  if (stack.size() == 1 && places_[entry.frames_begin].file == kUnknownFile) stack.clear();
  const std::array<std::int64_t, 3> values = {count, bytes, half_unit};
  builder.add_row(builder.stack(stack), LabelSetId{}, std::span(values).subspan(has_counts() ? 0 : 1));
}

Result<Snapshot> PrintedList::snapshot(Side side) const {
  SnapshotBuilder builder;
  if (has_counts()) builder.add_column({"inuse_objects", "count"});
  builder.add_column({"inuse_space", "bytes"});
  builder.add_column({half_unit_name("inuse_space"), "bytes"});
  for (const Entry& entry : entries_) add_row(builder, entry, side);
  if (rest_) {
    const std::array<std::int64_t, 2> values = {rest_->bytes, rest_->half_unit};
    builder.add_row(builder.pseudo_stack(kBelowThreshold), LabelSetId{}, values);
  }
  add_notes(builder);
  SnapshotFacts& facts = builder.facts();
  facts.producer = "cpython";
  facts.sampling = Sampling::exact;
  facts.complete = false;
  facts.format_detail = side == Side::before           ? "printed differences, before"
                        : side == Side::after          ? "printed differences, after"
                        : kind_ == LineKind::statistic ? "printed statistics"
                        : kind_ == LineKind::ranked    ? "display_top"
                                                       : "printed tracebacks";
  return builder.finish();
}

Status PrintedList::finish(std::vector<Snapshot>& out) const {
  if (empty()) return ok();
  const bool differences = kind_ == LineKind::difference;
  for (const Side side : {Side::before, Side::after}) {
    if (!differences && side == Side::before) continue;
    Result<Snapshot> made = snapshot(differences ? side : Side::only);
    if (!made) return std::move(made).error();
    out.push_back(std::move(*made));
  }
  return ok();
}

}  // namespace snapdiff::formats::tracemalloc
