#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <vector>

#include "formats/text/quantity.hpp"

/// Points of a log, and fewer of them that still say the same.
namespace snapdiff::formats::metric_log {

struct Entry {
  std::uint32_t series = 0;
  std::uint32_t place = 0;  // in the group
  text::Quantity quantity;
};

/// One counter's value; `series` is the Recorder's number of the counter.
struct PointValue {
  std::uint32_t series = 0;
  text::Quantity quantity;
};

struct PointFacts {
  std::optional<std::int64_t> time_ns;
  std::optional<std::int64_t> step;
  std::uint16_t kinds = 0;  ///< a set of Kind
};

/// A counter is in a point at most once.
struct LogPoint {
  PointFacts facts;
  std::vector<PointValue> values;
};

/// Points that are made fewer at a time, and what they become.
inline constexpr std::size_t kThinnedGroup = 8;
inline constexpr std::size_t kThinnedTo = 4;

/// Which of one counter's values stay: a bit each. At most kThinnedTo.
inline std::uint32_t chosen(std::span<const Entry> values) {
  const std::size_t count = values.size();
  if (count <= kThinnedTo) return (1U << count) - 1;
  const auto less = [](const Entry& a, const Entry& b) { return a.quantity.value < b.quantity.value; };
  const auto bit = [&](auto at) { return 1U << (at - values.begin()); };
  std::uint32_t out = 1U | 1U << (count - 1);
  out |= bit(std::min_element(values.begin(), values.end(), less));
  out |= bit(std::max_element(values.begin(), values.end(), less));
  const std::array<std::size_t, 4> fillers = {count / 3, 2 * count / 3, 1, 2};
  for (const std::size_t at : fillers) {
    if (static_cast<std::size_t>(__builtin_popcount(out)) < kThinnedTo) out |= 1U << at;
  }
  return out;
}

/// Puts one counter's values into points, each at about its place in the group.
inline void place_values(std::span<const Entry> values, std::array<LogPoint, kThinnedTo>& points,
                         std::array<std::size_t, kThinnedTo>& last) {
  const std::uint32_t kept = chosen(values);
  auto left = static_cast<std::size_t>(__builtin_popcount(kept));
  std::size_t next = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((kept >> i & 1U) == 0) continue;
    const std::size_t wanted = values[i].place * kThinnedTo / kThinnedGroup;
    const std::size_t slot = std::min(std::max(wanted, next), kThinnedTo - left);
    points[slot].values.push_back({values[i].series, values[i].quantity});
    last[slot] = std::max<std::size_t>(last[slot], values[i].place);
    next = slot + 1;
    --left;
  }
}

/// At most kThinnedTo points for at most kThinnedGroup points in their order. Of each counter its first, last,
/// smallest and largest value stay, as they were and in their order (M4: Jugel et al., VLDB 2014, section 4.1);
/// others fill what is left. A point has the time and step of the last of its values.
/// Steps: n log n in the number of values.
inline std::vector<LogPoint> thinned(const std::vector<LogPoint>& group) {
  std::vector<Entry> entries;
  for (std::size_t place = 0; place < group.size(); ++place) {
    for (const PointValue& value : group[place].values)
      entries.push_back({value.series, static_cast<std::uint32_t>(place), value.quantity});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.series, a.place) < std::tie(b.series, b.place); });
  std::array<LogPoint, kThinnedTo> points;
  std::array<std::size_t, kThinnedTo> last{};
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin;
    while (end < entries.size() && entries[end].series == entries[begin].series) ++end;
    place_values(std::span(entries).subspan(begin, end - begin), points, last);
    begin = end;
  }

  std::vector<LogPoint> out;
  std::size_t place = 0;  // the first point of the group that no fact was taken of yet
  for (std::size_t slot = 0; slot < kThinnedTo; ++slot) {
    if (points[slot].values.empty()) continue;
    PointFacts facts = out.empty() ? PointFacts{} : out.back().facts;
    facts.kinds = 0;
    for (; place <= last[slot]; ++place) {
      const PointFacts& from = group[place].facts;
      if (from.time_ns) facts.time_ns = from.time_ns;
      if (from.step) facts.step = from.step;
      facts.kinds = static_cast<std::uint16_t>(facts.kinds | from.kinds);
    }
    if (facts.kinds == 0) facts.kinds = out.back().facts.kinds;
    out.push_back({facts, std::move(points[slot].values)});
  }
  return out;
}

}  // namespace snapdiff::formats::metric_log
