#include "formats/tracemalloc/trace_sums.hpp"

#include <algorithm>
#include <utility>

#include "formats/tracemalloc/python_frames.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::formats::tracemalloc {
namespace {

std::uint64_t hash_of(std::uint64_t a, std::uint64_t b) { return mix64(a * 0x9e3779b97f4a7c15ULL + mix64(b)); }

}  // namespace

TraceSums::TraceSums() { traceback({}); }

std::uint32_t TraceSums::frame(std::uint32_t text, std::string_view file, std::int32_t line) {
  const std::uint64_t hash = hash_of(text, static_cast<std::uint32_t>(line));
  const std::uint32_t known = frame_index_.find(
      hash, [&](std::uint32_t row) { return frames_[row].text == text && frames_[row].line == line; });
  if (known != HashIndex::kAbsent) return known;
  Frame frame;
  frame.text = text;
  frame.line = line;
  frame.unknown = line == 0 && file == kUnknownFile;
  frame.id = place_frame(builder_, file, line);
  const auto row = static_cast<std::uint32_t>(frames_.size());
  frames_.push_back(frame);
  frame_index_.insert(hash, row);
  return row;
}

std::uint32_t TraceSums::traceback(std::span<const std::uint32_t> frames) {
  std::uint64_t hash = frames.size();
  for (const std::uint32_t frame : frames) hash = (hash ^ frame) * 0xd1342543de82ef95ULL ^ hash >> 32;
  hash = mix64(hash);
  const std::uint32_t known = traceback_index_.find(hash, [&](std::uint32_t row) {
    const auto other = frames_of(row);
    return std::equal(frames.begin(), frames.end(), other.begin(), other.end());
  });
  if (known != HashIndex::kAbsent) return known;
  const auto row = static_cast<std::uint32_t>(traceback_count());
  frame_of_.insert(frame_of_.end(), frames.begin(), frames.end());
  begin_.push_back(frame_of_.size());
  last_row_.push_back(HashIndex::kAbsent);
  traceback_index_.insert(hash, row);
  return row;
}

std::uint32_t TraceSums::row_slowly(std::uint32_t traceback, std::int64_t domain, bool cut) {
  const std::uint64_t hash =
      hash_of(std::uint64_t{traceback} << 1 | (cut ? 1U : 0U), static_cast<std::uint64_t>(domain));
  std::uint32_t row = row_index_.find(hash, [&](std::uint32_t r) {
    return rows_[r].traceback == traceback && rows_[r].domain == domain && rows_[r].cut == cut;
  });
  if (row == HashIndex::kAbsent) {
    row = static_cast<std::uint32_t>(rows_.size());
    Row added;
    added.traceback = traceback;
    added.cut = cut;
    added.domain = domain;
    rows_.push_back(added);
    row_index_.insert(hash, row);
  }
  last_row_[traceback] = row;
  return row;
}

Result<Snapshot> TraceSums::finish(std::string format_detail) {
  builder_.add_column({"inuse_objects", "count"});
  builder_.add_column({"inuse_space", "bytes"});
  const StringId domain_key = builder_.string("domain");
  std::vector<FrameId> stack;
  for (const Row& row : rows_) {
    if (row.count == 0) continue;
    stack.clear();
    const auto frames = frames_of(row.traceback);
    for (const std::uint32_t frame : frames) stack.push_back(frames_[frame].id);
    if (frames.size() == 1 && frames_[frames[0]].unknown) stack.clear();  // becomes [no stack recorded]
    if (row.cut && !stack.empty()) stack.push_back(builder_.pseudo_frame(kStackCut));
    LabelSetId labels{};
    if (row.domain != 0) {
      Label label;
      label.key = domain_key;
      label.text = builder_.string(std::to_string(row.domain));
      labels = builder_.labels({label});
    }
    const std::int64_t values[] = {row.count, row.bytes};
    builder_.add_row(builder_.stack(stack), labels, values);
  }
  add_notes(builder_);
  SnapshotFacts& facts = builder_.facts();
  facts.producer = "cpython";
  facts.sampling = Sampling::exact;
  facts.format_detail = std::move(format_detail);
  return builder_.finish();
}

}  // namespace snapdiff::formats::tracemalloc
