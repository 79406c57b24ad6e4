#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

constexpr std::string_view kLoader = ".loader: _load_stat";

struct PartitionSum {
  std::int64_t count = 0, bytes = 0;
};
struct PartitionRow {
  PartitionSum sum;
  std::string_view name;
};

/// "Partition of a set of 7756 objects. Total size = 634368 bytes."
std::optional<PartitionSum> partition_of(std::string_view line) {
  PartitionSum out;
  return given(reads(line, "Partition of a set of % objects?. Total size = % bytes.", out.count, out.bytes), out);
}

/// " Index  Count   %     Size   % Cumulative  % Kind (class / dict of class)": what the rows are kinds of.
std::optional<std::string_view> heading_of(std::string_view line) {
  Cursor at(line);
  for (const std::string_view word : {"Index", "Count", "%", "Size", "%", "Cumulative", "%"}) {
    at.skip_blanks();
    if (at.token() != word) return std::nullopt;
  }
  return trim(at.rest());
}

/// "     0   3212  41   283712  45    283712  45 list"
std::optional<PartitionRow> printed_row(std::string_view line) {
  Cursor at(line);
  std::int64_t count = 0, bytes = 0, other = 0;
  if (!at.takes("~%~%~%~%~%~%~%", other, count, other, bytes, other, other, other)) return std::nullopt;
  const std::string_view name = at.skip_blanks() ? trim(at.rest()) : std::string_view();
  return name.empty() ? std::nullopt : std::optional(PartitionRow{{count, bytes}, name});
}

/// ".r: 3212 283712 list" of a dump
std::optional<PartitionRow> dumped_row(std::string_view line) {
  Cursor at(line);
  PartitionRow out;
  if (!at.takes(".r: % % ", out.sum.count, out.sum.bytes)) return std::nullopt;
  out.name = at.rest();
  return out;
}

class GuppyLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (!lines_.terminated() && report_) {
      // A row is cut, or the line that follows the last one.
      const bool is_row = printed_row(line) || dumped_row(line);
      if (is_row || has_prefix(line, ".")) is_cut_ = lines_.line_offset();
    }
    if (const auto total = partition_of(line)) {
      open("printed partition");
      total_ = *total;
    } else if (line == kLoader) {
      open("dump");
    } else if (const auto kind = heading_of(line); kind && report_) {
      report_->facts().comments.emplace_back(*kind);
    } else if (const auto row = report_ ? printed_row(line) : std::nullopt) {
      add(*row);
    } else if (report_ && has_prefix(line, ".")) {
      read_dump(line);
    }
  }

  void read_dump(std::string_view line) {
    Cursor at(line);
    if (const auto row = dumped_row(line)) {
      add(*row);
    } else if (has_prefix(line, ".end: ")) {
      has_end_ = true;
      close();
    } else if (at.take(".timemade: ")) {
      if (const auto time = parse_time(at.rest())) report_->facts().taken_at_ns = time->ns;
    } else if (at.take(".count: ")) {
      at.count(total_.count);
    } else if (at.take(".size: ")) {
      at.count(total_.bytes);
    } else if (at.take(".kindheader: ")) {
      report_->facts().comments.emplace_back(at.rest());
    }
  }

  void open(std::string_view detail) {
    close();
    open_report("guppy", detail);
    report_->add_heap_columns();
    total_ = sum_ = {};
    has_end_ = detail != "dump";
  }

  void add(const PartitionRow& row) {
    add_to(sum_.count, row.sum.count, "rows add up", lines_.line_offset());
    add_to(sum_.bytes, row.sum.bytes, "rows add up", lines_.line_offset());
    add_type_row(*report_, row.name, {row.sum.count, row.sum.bytes});
  }

  /// The heading counts all objects; ten rows are printed.
  void close() {
    if (!report_) return;
    const PartitionSum rest{total_.count - sum_.count, total_.bytes - sum_.bytes};
    if (rest.count > 0 || rest.bytes > 0) {
      report_->facts().complete = false;
      report_->add_row(report_->pseudo_stack(kBelowThreshold), LabelSetId{},
                       std::array{std::max<std::int64_t>(rest.count, 0), std::max<std::int64_t>(rest.bytes, 0)});
    }
    if (is_cut_ || !has_end_)
      report_->facts().lose("the input ends inside the list", is_cut_.value_or(lines_.offset()));
    give_report();
  }

  void finish() override { close(); }

  PartitionSum total_, sum_;
  std::optional<std::uint64_t> is_cut_;
  bool has_end_ = true;
};

Match sniff_guppy(std::string_view head) {
  if (has_prefix(head, kLoader)) return Match::certain;
  return certain_if(any_line_of(head, partition_of));
}

}  // namespace

constexpr Format kGuppy{
    .info = {"guppy", "types on the heap of Python: guppy's hpy().heap(), printed or dumped (.hpy)", "*.hpy, *.txt",
             "percentages; the rows that are not printed, which are one"},
    .sniff = sniff_guppy,
    .decode =
        read_log<GuppyLog, "no partition: the input ends, expected \"Partition of a set of N objects\" or a dump">};

}  // namespace snapdiff::formats
