#include "formats/tracemalloc/trace_sums.hpp"

#include "formats/input/type_row.hpp"
#include "formats/tracemalloc/python_frames.hpp"

namespace snapdiff::formats::tracemalloc {
namespace {

std::uint64_t hash_of(std::uint64_t a, std::uint64_t b) { return keyed_hash(Hash128{a, b}); }

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
  tracebacks_.push_back({.depth = static_cast<std::uint32_t>(frames.size())});
  traceback_index_.insert(hash, row);
  return row;
}

std::uint32_t TraceSums::row(std::uint32_t traceback, std::int64_t domain, bool cut) {
  const std::uint64_t hash =
      hash_of(std::uint64_t{traceback} << 1 | (cut ? 1U : 0U), static_cast<std::uint64_t>(domain));
  std::uint32_t row = row_index_.find(hash, [&](std::uint32_t r) {
    return rows_[r].traceback == traceback && rows_[r].domain == domain && rows_[r].cut == cut;
  });
  if (row == HashIndex::kAbsent) {
    row = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back({.traceback = traceback, .cut = cut, .domain = domain});
    row_index_.insert(hash, row);
  }
  return row;
}

void TraceSums::emit(std::uint32_t traceback, std::int64_t domain, bool cut, const Sum& sum) {
  if (sum.count == 0) return;
  stack_.clear();
  const auto frames = frames_of(traceback);
  for (const std::uint32_t frame : frames) stack_.push_back(frames_[frame].id);
  if (frames.size() == 1 && frames_[frames[0]].unknown) stack_.clear();  // becomes [no stack recorded]
  if (cut && !stack_.empty()) stack_.push_back(builder_.pseudo_frame(kStackCut));
  LabelSetId labels{};
  if (domain != 0) {
    labels = builder_.labels({text_label(builder_, "domain", std::to_string(domain))});
  }
  builder_.add_row(builder_.stack(stack_), labels, std::array{sum.count, sum.bytes});
}

Result<Snapshot> TraceSums::finish(std::string format_detail) {
  builder_.add_heap_columns();
  builder_.reserve_stacks(tracebacks_.size(), frame_of_.size());
  for (std::uint32_t t = 0; t < tracebacks_.size(); ++t)
    emit(t, tracebacks_[t].domain, tracebacks_[t].cut != 0, tracebacks_[t].sum);
  for (const Row& row : rows_) emit(row.traceback, row.domain, row.cut, row.sum);
  add_notes(builder_);
  exact_facts(builder_, "cpython", format_detail);
  return builder_.finish();
}

}  // namespace snapdiff::formats::tracemalloc
