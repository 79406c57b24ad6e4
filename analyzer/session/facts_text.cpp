#include "analyzer/session/facts_text.hpp"

#include <algorithm>
#include <span>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/words.hpp"

namespace snapdiff::session {

std::string time_text(std::int64_t unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t milliseconds = (unix_ns % kSecond + kSecond) % kSecond / 1'000'000;
  const std::string decimals = milliseconds == 0 ? "" : "." + std::to_string(1000 + milliseconds).substr(1);
  return utc_text(unix_ns, 'T') + decimals + "Z";
}

const Column* main_column(const Snapshot& snapshot) {
  const MetricList metrics = metric_list(snapshot.samples.columns, snapshot.facts.default_metric);
  return snapshot.column(default_metric(std::span(&metrics, 1)));
}

const std::pair<SampleType, std::int64_t>* main_total(const store::SnapshotInfo& info) {
  MetricList metrics{{}, info.facts.default_metric, false};
  for (const auto& [type, total] : info.totals) {
    if (!type.name.ends_with(kHalfUnitEnding)) metrics.types.push_back(type);
    if (type.name == kLostSpace) metrics.lost = total != 0;
  }
  const std::string chosen = default_metric(std::span(&metrics, 1));
  const auto at =
      std::find_if(info.totals.begin(), info.totals.end(), [&](const auto& one) { return one.first.name == chosen; });
  return at == info.totals.end() || chosen.empty() ? nullptr : &*at;
}

std::int64_t total_of(const Column& column) {
  std::int64_t total = 0;
  for (const std::int64_t value : column.value) total += value;
  return total;
}

std::string value_text(const SampleType& type, std::int64_t value) {
  if (type.unit == "bytes") return bytes_text(value);
  const std::string count = count_text(value);
  return type.unit == "count" || type.unit.empty() ? count : count + " " + type.unit;
}

}  // namespace snapdiff::session
