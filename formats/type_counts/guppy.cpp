#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/rest_row.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/report_log.hpp"
#include "formats/text/scan.hpp"
#include "formats/text/time_stamp.hpp"
#include "formats/type_counts/type_count_importers.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats {
namespace {

using text::Cursor;
using text::has_prefix;
using text::trim;

constexpr std::string_view kPartition = "Partition of a set of ", kLoader = ".loader: _load_stat";

struct PartitionSum {
  std::int64_t count = 0, bytes = 0;
};
struct PartitionRow {
  PartitionSum sum;
  std::string_view name;
};

/// "Partition of a set of 7756 objects. Total size = 634368 bytes."
std::optional<PartitionSum> partition_of(std::string_view line) {
  Cursor at(line);
  PartitionSum out;
  if (!at.take(kPartition) || !at.count(out.count) || !(at.take(" objects. ") || at.take(" object. ")))
    return std::nullopt;
  if (!at.take("Total size = ") || !at.count(out.bytes) || !at.take(" bytes.")) return std::nullopt;
  return out;
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
  std::array<std::int64_t, 7> numbers{};
  for (std::int64_t& number : numbers) {
    if (at.skip_blanks(), !at.count(number)) return std::nullopt;
  }
  const std::string_view name = at.skip_blanks() ? trim(at.rest()) : std::string_view();
  return name.empty() ? std::nullopt : std::optional(PartitionRow{{numbers[1], numbers[3]}, name});
}

/// ".r: 3212 283712 list" of a dump
std::optional<PartitionRow> dumped_row(std::string_view line) {
  Cursor at(line);
  PartitionRow out;
  if (!at.take(".r: ") || !at.count(out.sum.count) || !at.take(' ') || !at.count(out.sum.bytes) || !at.take(' '))
    return std::nullopt;
  out.name = at.rest();
  return out;
}

class GuppyLog final : public text::ReportLog {
 public:
  GuppyLog(Input& in, SnapshotSink& out)
      : ReportLog(in, out, "no partition: the input ends, expected \"Partition of a set of N objects\" or a dump") {}

 private:
  void handle(std::string_view line) override {
    if (!lines_.terminated() && builder_) {
      // A row is cut, or the line that follows the last one.
      const bool is_row = printed_row(line) || dumped_row(line);
      if (is_row || has_prefix(line, ".")) is_cut_ = lines_.line_offset();
    }
    if (const auto total = partition_of(line)) {
      open("printed partition");
      total_ = *total;
    } else if (line == kLoader) {
      open("dump");
    } else if (const auto kind = heading_of(line); kind && builder_) {
      builder_->facts().comments.emplace_back(*kind);
    } else if (const auto row = builder_ ? printed_row(line) : std::nullopt) {
      add(*row);
    } else if (builder_ && has_prefix(line, ".")) {
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
      if (const auto time = text::parse_time(at.rest())) builder_->facts().taken_at_ns = time->ns;
    } else if (at.take(".count: ")) {
      at.count(total_.count);
    } else if (at.take(".size: ")) {
      at.count(total_.bytes);
    } else if (at.take(".kindheader: ")) {
      builder_->facts().comments.emplace_back(at.rest());
    }
  }

  void open(std::string_view detail) {
    close();
    builder_ = std::make_unique<SnapshotBuilder>();
    builder_->add_heap_columns();
    builder_->facts().producer = "guppy";
    builder_->facts().format_detail = detail;
    builder_->facts().sampling = Sampling::exact;
    total_ = sum_ = {};
    has_end_ = detail != "dump";
  }

  void add(const PartitionRow& row) {
    if (!checked_add(sum_.count, row.sum.count, sum_.count) || !checked_add(sum_.bytes, row.sum.bytes, sum_.bytes))
      fail(ErrorCode::limit, "rows add up beyond 2^63-1, expected them to fit in 64 bits", lines_.line_offset());
    add_type_row(*builder_, row.name, std::array{row.sum.count, row.sum.bytes});
  }

  /// The heading counts all objects; ten rows are printed.
  void close() {
    if (!builder_) return;
    const PartitionSum rest{total_.count - sum_.count, total_.bytes - sum_.bytes};
    if (rest.count > 0 || rest.bytes > 0) {
      builder_->facts().complete = false;
      builder_->add_row(builder_->pseudo_stack(kBelowThreshold), LabelSetId{},
                        std::array{std::max<std::int64_t>(rest.count, 0), std::max<std::int64_t>(rest.bytes, 0)});
    }
    if (is_cut_ || !has_end_)
      builder_->facts().lose("the input ends inside the list", is_cut_.value_or(lines_.offset()));
    out_.take(builder_->finish());
    builder_.reset();
  }

  void finish() override { close(); }

  std::unique_ptr<SnapshotBuilder> builder_;
  PartitionSum total_, sum_;
  std::optional<std::uint64_t> is_cut_;
  bool has_end_ = true;
};

Match sniff_guppy(std::string_view head) {
  if (has_prefix(head, kLoader)) return Match::certain;
  return certain_if(text::any_line_of(head, [](std::string_view line) { return partition_of(line).has_value(); }));
}

}  // namespace

constexpr Format kGuppy{.info = {"guppy", "types on the heap of Python: guppy's hpy().heap(), printed or dumped (.hpy)",
                                 "*.hpy, *.txt", "percentages; the rows that are not printed, which are one"},
                        .sniff = sniff_guppy,
                        .decode = text::read_log<GuppyLog>,
                        .many = "distinct types"};

}  // namespace snapdiff::formats
