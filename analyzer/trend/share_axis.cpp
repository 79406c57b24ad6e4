#include "analyzer/trend/share_axis.hpp"

#include <algorithm>

namespace snapdiff::trend {
namespace {

__extension__ using Wide = __int128;  // both ends of the range may occur

constexpr Wide kDay = Wide{86'400} * 1'000'000'000;

struct Span {
  std::int64_t first = 0, last = 0;
  Wide length() const { return static_cast<Wide>(last) - first; }
};

std::optional<Span> known_span(const TimedSeries& series) {
  std::optional<Span> span;
  for (const std::optional<std::int64_t>& time : series.taken_at_ns) {
    if (!time) continue;
    if (!span) span = Span{*time, *time};
    span->first = std::min(span->first, *time);
    span->last = std::max(span->last, *time);
  }
  return span;
}

/// Known times of all series, one span per occasion.
std::vector<Span> occasions(std::span<const TimedSeries> series) {
  std::vector<Span> spans;
  Wide longest = kDay;
  for (const TimedSeries& one : series) {
    const std::optional<Span> span = known_span(one);
    if (!span) continue;
    spans.push_back(*span);
    longest = std::max(longest, span->length());
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  std::vector<Span> joined;
  for (const Span& span : spans) {
    if (joined.empty() || static_cast<Wide>(span.first) - joined.back().last > longest) {
      joined.push_back(span);
    } else {
      joined.back().last = std::max(joined.back().last, span.last);
    }
  }
  return joined;
}

std::int64_t between(std::int64_t from, std::int64_t to, std::size_t part, std::size_t parts) {
  const Wide step = (static_cast<Wide>(to) - from) * static_cast<Wide>(part) / static_cast<Wide>(parts);
  return static_cast<std::int64_t>(from + step);
}

/// Why no snapshot of the series can be placed, "" where some may be.
std::string obstacle(const TimedSeries& series) {
  if (series.taken_at_ns.size() < 2) return "a single snapshot has no place in an order";
  if (!series.ordered) return "nothing but their import orders the snapshots";
  if (series.restarts) return "its process seems to have restarted in between";
  std::optional<std::int64_t> newest;
  for (const std::optional<std::int64_t>& time : series.taken_at_ns) {
    if (time && newest && *time < *newest) return "the times it holds run against its order";
    if (time) newest = time;
  }
  return {};
}

EstimatedTimes estimate(const TimedSeries& series, const std::vector<Span>& occasions) {
  const std::size_t n = series.taken_at_ns.size();
  EstimatedTimes out;
  out.estimated_ns.resize(n);
  const auto missing =
      static_cast<std::size_t>(std::count(series.taken_at_ns.begin(), series.taken_at_ns.end(), std::nullopt));
  if (missing == 0) return out;
  out.why_not = obstacle(series);
  if (!out.why_not.empty()) return out;

  const bool one_axis = occasions.size() == 1;
  // From one known time to the next; places n and -1 stand for the ends of the axis.
  std::size_t begin = 0;
  while (begin < n) {
    if (series.taken_at_ns[begin]) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < n && !series.taken_at_ns[end]) ++end;
    const bool after_one = begin > 0, before_one = end < n;
    if ((after_one && before_one) || one_axis) {
      const std::int64_t from = after_one ? *series.taken_at_ns[begin - 1] : occasions.front().first;
      const std::int64_t to = before_one ? *series.taken_at_ns[end] : occasions.front().last;
      // At an end of the axis the outermost snapshot takes the end itself.
      const std::size_t skipped = after_one ? 1 : 0;
      const std::size_t parts = end - begin + (before_one ? 1 : 0) + skipped - 1;
      if (to > from || (after_one && before_one)) {
        for (std::size_t i = begin; i < end; ++i) {
          out.estimated_ns[i] = between(from, to, i - begin + skipped, parts);
          ++out.count;
        }
      }
    }
    begin = end;
  }
  if (out.count == missing) return out;
  out.why_not = occasions.empty() ? "no series holds a time"
                : occasions.size() > 1
                    ? "the known times are of " + std::to_string(occasions.size()) + " occasions, more than a day apart"
                : occasions.front().first == occasions.front().last ? "a single time is known"
                                                                    : "no known time lies beyond its own";
  return out;
}

}  // namespace

SharedAxis share_axis(std::span<const TimedSeries> series) {
  const std::vector<Span> found = occasions(series);
  SharedAxis axis;
  if (found.size() == 1) {
    axis.first_ns = found.front().first;
    axis.last_ns = found.front().last;
  }
  for (const TimedSeries& one : series) axis.series.push_back(estimate(one, found));
  return axis;
}

}  // namespace snapdiff::trend
