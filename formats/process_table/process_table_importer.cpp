#include "formats/process_table/process_table_importer.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/input/type_row.hpp"
#include "formats/process_table/machine_lines.hpp"
#include "formats/process_table/table_heading.hpp"
#include "formats/text/report_log.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats {
namespace {

using namespace process_table;

class TableLog final : public text::ReportLog {
 public:
  TableLog(Input& in, SnapshotSink& out)
      : ReportLog(in, out,
                  "no table: the input ends, expected one of ps, top, pidstat, docker stats, kubectl top, "
                  "nvidia-smi, free, psrecord or jstat -gc") {}

 private:
  void handle(std::string_view line) override {
    if (!lines_.terminated()) {
      cut_ = lines_.line_offset();
      return;
    }
    if (auto heading = Heading::of(line)) {
      if (has_rows()) close();
      heading_ = *std::move(heading);
      tool_ = heading_->tool();
      return;
    }
    MachineLines::Found found = machine_.read(line);
    if (found.is_heading) {
      // nvidia-smi begins a report with it, free and jstat repeat it.
      if (found.tool == "nvidia-smi" || counters_.contains("mem.total")) close();
      heading_.reset();
      tool_ = found.tool;
      return;
    }
    if (!found.tool.empty()) {
      if (tool_.empty() || found.tool == "nvidia-smi") tool_ = found.tool;
      for (Counter& one : found.counters) add(std::move(one));
      for (Row& one : found.rows) add(std::move(one));
      return;
    }
    if (heading_) {
      if (auto row = heading_->row(line)) return add(*std::move(row));
    }
    if (const auto time = text::find_time(line)) {
      if (has_rows() || !counters_.empty()) close();
      time_ = time->ns;
    }
  }

  bool has_rows() const { return !rows_.empty(); }

  void add(Row row) {
    if (!keys_.insert(row.key).second) {
      close();
      keys_.insert(row.key);
    }
    rows_.push_back(std::move(row));
  }

  void add(Counter counter) {
    if (counters_.contains(counter.name)) close();
    std::string name = counter.name;
    counters_.emplace(std::move(name), std::move(counter));
  }

  void close() {
    if (rows_.empty() && counters_.empty()) return;
    SnapshotBuilder builder;
    SnapshotFacts& facts = builder.facts();
    facts.sampling = Sampling::exact;
    facts.format_detail = tool_;
    facts.taken_at_ns = std::exchange(time_, std::nullopt);
    for (auto& [name, counter] : counters_) facts.counters.push_back(std::move(counter));
    if (!rows_.empty()) add_rows(builder);
    take_report(builder.finish());
    rows_.clear();
    keys_.clear();
    counters_.clear();
  }

  void add_rows(SnapshotBuilder& builder) {
    const std::string_view first = heading_ ? heading_->first_metric() : "memory";  // of a GPU
    builder.facts().default_metric = first;
    std::vector<std::size_t> metrics;
    for (std::size_t i = 0; i < kMetrics.size(); ++i) {
      if (i > 0 && (!heading_ || !heading_->has(i))) continue;
      std::int64_t half = 0;
      for (const Row& row : rows_) half = std::max(half, row.values[i] ? row.values[i]->half_unit : 0);
      metrics.push_back(i);
      builder.add_column({std::string(i == 0 ? first : kMetrics[i]), "bytes"}, half);
    }
    builder.add_column({"tasks", "count"});
    std::vector<std::int64_t> values;
    for (const Row& row : rows_) {
      values.clear();
      for (const std::size_t metric : metrics) values.push_back(row.values[metric] ? row.values[metric]->value : 0);
      values.push_back(1);
      add_type_row(builder, row.name, values);
    }
  }

  void finish() override {
    close();
    if (cut_ && !out_.empty()) out_.last().lose("the last line has no end and was left out", *cut_);
  }

  std::optional<Heading> heading_;
  MachineLines machine_;
  std::string_view tool_;
  std::vector<Row> rows_;  // of the open moment
  std::set<std::string, std::less<>> keys_;
  std::map<std::string, Counter> counters_;
  std::optional<std::int64_t> time_;
  std::optional<std::uint64_t> cut_;
};

/// A heading with a row below it.
Match sniff_table(std::string_view head) {
  std::optional<Heading> heading;
  MachineLines machine;
  bool has_heading = false;
  return certain_if(text::any_line_of(head, [&](std::string_view line) {
    if (auto found = Heading::of(line)) {
      heading = std::move(found);
      return false;
    }
    const MachineLines::Found found = machine.read(line);
    has_heading = has_heading || found.is_heading;
    if (has_heading && (!found.counters.empty() || !found.rows.empty())) return true;
    return heading && heading->row(line).has_value();
  }));
}

}  // namespace

constexpr Format kProcessTable{
    .info = {"process-table",
             "memory by process: ps, top, pidstat -r, docker stats, kubectl top, nvidia-smi, free, psrecord, jstat -gc",
             "*.txt, *.log", "pids, users, processor time, power; times of day without a date"},
    .sniff = sniff_table,
    .decode = text::read_log<TableLog>,
    .many = "processes",
    .rank = -1};

}  // namespace snapdiff::formats
