#pragma once

#include "formats/text/report_log.hpp"

namespace snapdiff::formats::text {

/// A text whose moments are sets of counters. A counter that is met again begins the next moment.
class CounterLog : public ReportLog {
 protected:
  using ReportLog::ReportLog;

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

  /// A line that holds no counter: its time is the time of the next moment.
  void note_time(std::string_view line) {
    if (const std::optional<TimeStamp> time = find_time(line)) time_ = time->ns;
  }

  /// Hands the open moment on, where it holds a counter.
  void close() {
    if (!counters_.empty()) {
      is_closing_ = true;
      before_close();
      is_closing_ = false;
      SnapshotBuilder builder;
      SnapshotFacts& facts = builder.facts() = std::move(*facts_);
      facts.sampling = Sampling::exact;
      if (!facts.taken_at_ns) facts.taken_at_ns = std::exchange(time_, std::nullopt);
      for (auto& [name, counter] : counters_) facts.counters.push_back(std::move(counter));
      take_report(builder.finish());
    }
    counters_.clear();
    facts_.reset();
  }

  void finish() override { close(); }
  /// The moment is whole: its sums can be checked. A counter set here that it has stays as it is.
  virtual void before_close() {}

 private:
  std::optional<SnapshotFacts> facts_;  // of the open moment
  std::map<std::string, Counter, std::less<>> counters_;
  std::optional<std::int64_t> time_;
  bool is_closing_ = false;
};

}  // namespace snapdiff::formats::text
