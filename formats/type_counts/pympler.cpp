#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using text::trim;

constexpr std::size_t kLongestName = 1024;  // each list may repeat all names

/// "   types |   # objects |   total size"
bool is_summary_heading(std::string_view line) {
  const std::size_t first = line.find('|'), second = line.find('|', first + 1);
  return second != std::string_view::npos && trim(line.substr(0, first)) == "types" &&
         trim(line.substr(first + 1, second - first - 1)) == "# objects" &&
         trim(line.substr(second + 1)) == "total size";
}

struct SummaryRow {
  std::string name;
  std::int64_t count = 0;
  text::Quantity size;
};

/// "  babel.dates.DateTimePattern |         100 |      5.47 KB"; names may hold bars.
std::optional<SummaryRow> summary_row(std::string_view line) {
  const std::size_t last = line.rfind('|');
  const std::size_t first = last == std::string_view::npos || last == 0 ? last : line.rfind('|', last - 1);
  if (first == std::string_view::npos || first == last) return std::nullopt;
  SummaryRow out{std::string(trim(line.substr(0, first))), 0, {}};
  text::Integer count;
  const auto size = text::parse_size(trim(line.substr(last + 1)));
  if (out.name.empty() || out.name.size() > kLongestName || !size ||
      !text::reads(line.substr(first + 1, last - first - 1), "~%~$", count))
    return std::nullopt;
  out.count = count.value;
  out.size = *size;
  return out;
}

class PymplerLog final : public text::ReportLog {
  using ReportLog::ReportLog;

  struct List {
    std::vector<SummaryRow> rows;
    std::optional<std::uint64_t> cut;
  };

  void handle(std::string_view line) override {
    if (is_summary_heading(line)) {
      constexpr std::size_t kMostLists = 65536;  // a heading has 27 bytes, a snapshot takes 4000
      if (lists_.size() == kMostLists)
        fail(ErrorCode::limit, "too many lists: expected at most 65536", lines_.line_offset());
      lists_.emplace_back();
      is_open_ = true;
      if (!lines_.terminated()) lists_.back().cut = lines_.line_offset();
      return;
    }
    if (!is_open_) return;
    std::optional<SummaryRow> row = summary_row(line);
    if (!lines_.terminated()) lists_.back().cut = lines_.line_offset();
    if (row && lines_.terminated()) {
      // Only a difference has a type whose objects or bytes are fewer, or whose objects only grew.
      is_difference_ = is_difference_ || row->count <= 0 || row->size.value < 0;
      lists_.back().rows.push_back(std::move(*row));
    } else if (line.find("===") == std::string_view::npos) {
      is_open_ = false;
    }
  }

  void finish() override {
    constexpr std::size_t kMostRows = std::size_t{1} << 20;  // of lists times types
    std::map<std::string, SummaryRow> sums;
    std::size_t made = 0;
    for (List& list : lists_) {
      if (!is_difference_) sums.clear();
      for (SummaryRow& row : list.rows) add(sums[row.name], row);
      made += sums.size();
      if (made > kMostRows) fail(ErrorCode::limit, "too many lists of too many types: expected 1048576 rows at most");
      take(sums, list);
    }
  }

  static void add(SummaryRow& sum, const SummaryRow& row) {
    add_to(sum.count, row.count, "differences add up");
    add_to(sum.size.value, row.size.value, "differences add up");
    add_to(sum.size.half_unit, row.size.half_unit, "differences add up");
  }

  void take(const std::map<std::string, SummaryRow>& sums, const List& list) {
    SnapshotBuilder builder;
    const std::string space = is_difference_ ? "growth_space" : "inuse_space";
    builder.add_column({is_difference_ ? "growth_objects" : "inuse_objects", "count"});
    builder.add_column({space, "bytes"});
    builder.add_column({half_unit_name(space), "bytes"});
    SnapshotFacts& facts = exact_facts(builder, "pympler", is_difference_ ? "printed differences" : "printed summary");
    for (const auto& [name, row] : sums) {
      facts.is_diff = facts.is_diff || row.count < 0 || row.size.value < 0;
      add_type_row(builder, name, {row.count, row.size.value, row.size.half_unit});
    }
    facts.complete = false;  // the largest types only
    if (is_difference_)
      facts.notes.add(Severity::info, "differences, added up: values are growth since the tracker was made");
    if (list.cut) facts.lose("the input ends inside the list", *list.cut);
    out_.take(builder.finish());
  }

  std::vector<List> lists_;
  bool is_open_ = false, is_difference_ = false;
};

}  // namespace

constexpr Format kPympler = text::log_format<PymplerLog, is_summary_heading,
                                             "no summary: the input ends, expected \"types | # objects | total size\"">(
    {"pympler", "types on the heap of Python: pympler's summaries, and SummaryTracker's differences", "*.txt, *.log",
     "types beyond the rows that are printed, and how much they are"});

}  // namespace snapdiff::formats
