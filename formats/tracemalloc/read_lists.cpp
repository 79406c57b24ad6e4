#include "formats/tracemalloc/read_lists.hpp"

#include <utility>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/tracemalloc/printed_list.hpp"
#include "formats/tracemalloc/statistic_line.hpp"

namespace snapdiff::formats::tracemalloc {
namespace {

/// Names and stacks of all lists of one input are kept until the end.
constexpr std::size_t kMostSnapshots = 4096;

bool is_blank_or_indented(std::string_view line) { return line.empty() || line.front() == ' ' || line.front() == '\t'; }

/// Finds where one list ends and the next one begins.
class Lists {
 public:
  Status take(std::string_view text, std::uint64_t offset) {
    const StatisticLine line = parse_line(text);
    switch (line.kind) {
      case LineKind::other:
        // A heading, or anything else that a program prints; source text and blank lines are inside lists.
        in_stack_ = in_stack_ && is_blank_or_indented(text);
        separated_ = separated_ || !is_blank_or_indented(text);
        return ok();
      case LineKind::damaged:
        damaged_.add(Severity::data_loss, "lines of a list that could not be read, left out", offset);
        in_stack_ = false;
        return ok();
      case LineKind::frame:
        if (in_stack_) list_.add_frame(line);
        return ok();
      case LineKind::rest:
      case LineKind::total:
        separated_ = !list_.add_below(line) || separated_;
        in_stack_ = false;
        return ok();
      default: return take_entry(line, offset);
    }
  }

  Status end_list() {
    if (snapshots_.size() + 2 > kMostSnapshots)
      return Error{ErrorCode::limit, "too many lists: more than " + std::to_string(kMostSnapshots) + " snapshots"};
    Status done = list_.finish(snapshots_);
    list_ = {};
    separated_ = false;
    return done;
  }

  Status emit(SnapshotSink& out, std::uint64_t too_long) {
    if (too_long > 0) damaged_.add(Severity::data_loss, "lines of more than 16 MiB, left out", std::nullopt, too_long);
    for (Snapshot& snapshot : snapshots_) {
      snapshot.facts.notes.add_all(damaged_);
      if (Status taken = out.take(std::move(snapshot)); !taken) return taken;
    }
    return ok();
  }

  bool empty() const { return snapshots_.empty(); }

 private:
  Status take_entry(const StatisticLine& line, std::uint64_t offset) {
    in_stack_ = false;
    const std::int64_t before = line.count - line.count_growth;
    if (before < 0) {
      damaged_.add(Severity::data_loss, "lines of a list that could not be read, left out", offset);
      return ok();
    }
    if (separated_ || !list_.goes_on_with(line)) {
      if (Status ended = end_list(); !ended) return ended;
    }
    separated_ = false;
    list_.add(line);
    in_stack_ = true;
    return ok();
  }

  PrintedList list_;
  std::vector<Snapshot> snapshots_;
  Notes damaged_;
  bool separated_ = false;  // other text since the last entry
  bool in_stack_ = false;   // File lines belong to the last entry
};

Status read_lines(Input& in, SnapshotSink& out) {
  text::LogLines lines(in);
  Lists lists;
  std::string_view line;
  while (lines.next(line)) {
    if (Status taken = lists.take(line, lines.line_offset()); !taken) return taken;
  }
  if (Status ended = lists.end_list(); !ended) return ended;
  if (lists.empty())
    return Error{ErrorCode::malformed,
                 "no statistics: the input ends, expected lines such as app.py:9: size=983 KiB, count=201",
                 in.offset()};
  return lists.emit(out, lines.skipped());
}

}  // namespace

void read_lists(Input& in, SnapshotSink& out) { value_or_throw(read_lines(in, out)); }

}  // namespace snapdiff::formats::tracemalloc
