#include "analyzer/fleet/row_filter.hpp"

#include <iterator>
#include <string_view>
#include <vector>

#include "analyzer/fleet/sql_text.hpp"
#include "analyzer/fleet/tables.hpp"

namespace snapdiff::fleet {
namespace {

/// Times in an hour that are looked for one by one.
constexpr std::size_t kFewTimes = 4;

/// A list of moments, as the engine's type.
std::string moments(const std::set<std::uint64_t>& seconds) {
  std::string out;
  for (const std::uint64_t one : seconds)
    out += (out.empty() ? "toDateTime(" : ",toDateTime(") + std::to_string(one) + ")";
  return out;
}

template <class Item>
std::string joined(const std::set<Item>& items) {
  const std::vector<Item> list(items.begin(), items.end());
  return list_of(std::span<const Item>(list));
}

std::string any_equal(std::string_view column, const std::set<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts)
    out += (out.empty() ? "" : " OR ") + std::string(column) + " = " + literal(text);
  return out;
}

/// Hours that follow each other are one condition.
std::string any_hour(const std::set<std::uint64_t>& hours) {
  std::string out;
  for (auto first = hours.begin(); first != hours.end();) {
    auto last = first;
    for (auto next = std::next(last); next != hours.end() && *next == *last + kHour; ++next) last = next;
    out += (out.empty() ? "" : " OR ") + ("hour >= toDateTime(" + std::to_string(*first)) +
           ") AND hour <= toDateTime(" + std::to_string(*last) + ")";
    first = std::next(last);
  }
  return out;
}

}  // namespace

void RowFilter::add(const Committed& one) {
  services_.insert(one.service);
  metrics_.insert(one.metric);
  const std::uint64_t seconds = row_seconds(one.ts_ns);
  hours_.insert(seconds / kHour * kHour);
  times_.insert(seconds);
  pushes_.insert(one.push);
}

std::string RowFilter::where() const {
  // A hint takes comparisons, no sets.
  return "indexHint((" + any_equal("service", services_) + ") AND (" + any_equal("metric", metrics_) + ") AND (" +
         any_hour(hours_) + ")) AND metric IN (" + joined(metrics_) + ") AND push IN (" + joined(pushes_) + ")";
}

std::string RowFilter::text(const std::string& more) const {
  const bool few = at_few_moments || times_.size() <= kFewTimes * hours_.size();
  return (few ? " PREWHERE ts IN (" + moments(times_) + ")" : "") + " WHERE " + where() + more;
}

std::string stack_range(std::uint64_t number, std::uint64_t count) {
  const auto edge = [&](std::uint64_t at) {
    const std::uint64_t first = (at << 16U) / count;
    return literal(Hash128{(first >> 8U) | (first & 0xffU) << 8U, 0});
  };
  return (number > 0 ? " AND stack >= " + edge(number) : std::string()) +
         (number + 1 < count ? " AND stack < " + edge(number + 1) : std::string());
}

}  // namespace snapdiff::fleet
