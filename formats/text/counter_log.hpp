#pragma once

#include "formats/text/report_log.hpp"

namespace snapdiff::formats::text {

/// A text whose moments are sets of counters. A counter that is met again begins the next moment.
class CounterLog : public ReportLog {
 public:
  using ReportLog::ReportLog;

 protected:
  /// Sets a counter in the open moment, which begins where there is none.
  void put(Counter counter) {
    if (counters_.contains(counter.name)) {
      if (is_closing_) return;
      close();
    }
    moment();
    std::string name = counter.name;
    counters_.emplace(std::move(name), std::move(counter));
  }

  /// Sets a level in the open moment, which begins where there is none.
  void set(std::string_view name, std::int64_t value, std::string_view unit = "bytes", std::int64_t half_unit = 0) {
    put({std::string(name), value, std::string(unit), false, half_unit});
  }
  /// Sets a counter that only counts up.
  void set_total(std::string_view name, std::int64_t value) { put({std::string(name), value, "count", true, 0}); }

  /// The facts of the open moment, which begins where there is none.
  SnapshotFacts& moment() {
    if (!facts_) facts_.emplace();
    return *facts_;
  }
  bool is_open() const { return facts_.has_value(); }
  std::optional<std::int64_t> value_of(std::string_view name) const {
    const auto found = counters_.find(name);
    return found == counters_.end() ? std::nullopt : std::optional(found->second.value);
  }

  /// Whether this is a last line without an end, which is then left out: its number may be cut, or the line itself.
  bool leaves_out_line() {
    if (lines_.terminated()) return false;
    if (is_open()) moment().lose("the last line has no end and was left out", lines_.line_offset());
    return true;
  }
  bool has_counter(std::string_view name) const { return counters_.contains(name); }
  bool is_empty() const { return counters_.empty() && !has_rows(); }

  /// Hands the open moment on, where it holds a counter or a row.
  void close() {
    if (!is_empty()) {
      is_closing_ = true;
      before_close();
      is_closing_ = false;
      SnapshotBuilder builder;
      SnapshotFacts& facts = builder.facts() = std::move(moment());
      facts.sampling = Sampling::exact;
      if (!facts.taken_at_ns) facts.taken_at_ns = take_time();
      for (auto& [name, counter] : counters_) facts.counters.push_back(std::move(counter));
      if (has_rows()) add_rows(builder);
      take_report(builder.finish());
    }
    counters_.clear();
    facts_.reset();
  }

  void finish() override { close(); }
  /// The moment is whole: its sums can be checked. A counter set here that it has stays as it is.
  virtual void before_close() {}
  /// Of a reader whose moments have rows, too: whether the open one has any; puts them into its snapshot.
  virtual bool has_rows() const { return false; }
  virtual void add_rows(SnapshotBuilder& /*builder*/) {}

 private:
  std::optional<SnapshotFacts> facts_;  // of the open moment
  std::map<std::string, Counter, std::less<>> counters_;
  bool is_closing_ = false;
};

}  // namespace snapdiff::formats::text
