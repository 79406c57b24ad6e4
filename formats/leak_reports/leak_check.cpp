#include "formats/leak_reports/leak_check.hpp"

#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::leak_reports {
namespace {

constexpr std::size_t kMaxFrames = 1'000'000;

void add(Leaked& sum, const Leaked& more) {
  if (checked_add(sum.bytes, more.bytes, sum.bytes) && checked_add(sum.blocks, more.blocks, sum.blocks)) return;
  fail(ErrorCode::limit, "sum over the leak records is beyond 2^63-1, expected it to fit in 64 bits");
}

}  // namespace

LeakCheck::LeakCheck() {
  builder_.add_heap_columns();
  facts().sampling = Sampling::exact;
}

LabelSetId LeakCheck::kind_labels(std::string_view kind) {
  return builder_.labels({text_label(builder_, "kind", kind)});
}

void LeakCheck::open_record(std::string_view kind, Leaked leaked) {
  close_record();
  kind_ = kind;
  leaked_ = leaked;
  frames_.clear();
  record_open_ = true;
}

void LeakCheck::add_frame(const LeakFrame& frame) {
  if (frames_.size() == kMaxFrames) {
    fail(ErrorCode::limit, "stack too deep: more than 1000000 frames");
  }
  frames_.push_back(text::frame_of(builder_, frame));
}

void LeakCheck::close_record() {
  if (!record_open_) return;
  record_open_ = false;
  ++records_;
  add(sums_[kind_], leaked_);
  const std::int64_t values[] = {leaked_.blocks, leaked_.bytes};
  builder_.add_row(builder_.stack(frames_), kind_labels(kind_), values);
}

void LeakCheck::drop_record() { record_open_ = false; }

void LeakCheck::add_summary(std::string_view kind, Leaked total, std::string_view rest) {
  close_record();
  const auto known = sums_.find(kind);
  add_rest(kind_labels(kind), known == sums_.end() ? Leaked{} : known->second, total, rest);
}

void LeakCheck::add_total(Leaked total, std::string_view rest) {
  close_record();
  Leaked known;
  for (const auto& entry : sums_) add(known, entry.second);
  add_rest(LabelSetId{}, known, total, rest);
}

void LeakCheck::add_rest(LabelSetId labels, Leaked known, Leaked total, std::string_view rest) {
  if (known.bytes > total.bytes || known.blocks > total.blocks) {
    builder_.notes().add(Severity::warning, "the records add up to more than the summary says");
    return;
  }
  if (known.bytes == total.bytes && known.blocks == total.blocks) return;
  const std::int64_t values[] = {total.blocks - known.blocks, total.bytes - known.bytes};
  builder_.add_row(builder_.pseudo_stack(rest), labels, values);
  facts().complete = false;
}

void LeakCheck::mark_cut(std::string_view why, std::uint64_t offset) {
  drop_record();
  facts().complete = false;
  facts().lose(why, offset);
}

Result<Snapshot> LeakCheck::finish() {
  close_record();
  return builder_.finish();
}

}  // namespace snapdiff::formats::leak_reports
