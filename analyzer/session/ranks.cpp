#include "analyzer/session/ranks.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::session {
namespace {

std::int64_t distance(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::numeric_limits<std::int64_t>::max();
  return difference < 0 ? -std::max(difference, -std::numeric_limits<std::int64_t>::max()) : difference;
}

std::int64_t middle_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A rank for each device of each snapshot.
std::vector<SnapshotRef> split(const Loaded& loaded, std::vector<RankFacts>& facts) {
  std::vector<SnapshotRef> refs;
  for (const LoadedSnapshot& item : loaded.snapshots) {
    std::vector<Snapshot> parts = cuda::by_device(*item.ref.snapshot);
    std::erase_if(parts, [](const Snapshot& part) {
      const auto device = part.facts.labels.find("device");
      return device != part.facts.labels.end() && device->second == "host";
    });
    for (Snapshot& part : parts) {
      RankFacts rank;
      rank.rank = part.facts.rank;
      const std::string file = std::string(base_name(item.ref.ref));
      const auto device = part.facts.labels.find("device");
      if (device != part.facts.labels.end() && device->second.find_first_not_of("0123456789") == std::string::npos &&
          device->second.size() < 10)
        rank.device = std::stoll("0" + device->second);
      rank.name = rank.rank ? "rank " + std::to_string(*rank.rank) + " (" + file + ")" : file;
      if (parts.size() > 1 && rank.device) rank.name += ", device " + std::to_string(*rank.device);
      for (const Counter& counter : part.facts.counters) {
        if (counter.name == "reserved") rank.reserved = counter.value;
      }
      facts.push_back(std::move(rank));
      SnapshotRef ref = item.ref;
      ref.snapshot = std::make_shared<const Snapshot>(std::move(part));
      refs.push_back(std::move(ref));
    }
  }
  return refs;
}

}  // namespace

Result<RankReport> rank_snapshots(std::span<const SnapshotRef> refs, std::vector<RankFacts> ranks,
                                  const DiffOptions& options) {
  RankReport report;
  report.ranks = std::move(ranks);
  if (refs.size() < 2)
    return Error{ErrorCode::usage,
                 "ranks compares at least two files or devices: found " + std::to_string(refs.size())};
  Result<SeriesReport> series = diff::diff_series(refs, options);
  if (!series) return std::move(series).error();
  report.series = *std::move(series);
  const std::size_t count = refs.size();
  GrowthReport& overall = report.series.overall;
  // Of two there is no series beside the two sides.
  if (overall.series.empty()) {
    overall.series_length = count;
    for (const GrowthRow& row : overall.rows)
      overall.series.push_row(std::array{row.value.baseline, row.value.current});
  }
  std::vector<std::int64_t> totals;
  for (std::size_t i = 0; i < count; ++i) {
    report.ranks[i].total = report.series.steps[i].total;
    totals.push_back(report.ranks[i].total);
  }
  report.middle = middle_of(totals);
  std::vector<std::int64_t> scratch;
  for (std::uint32_t r = 0; r < overall.rows.size(); ++r) {
    const std::span<const std::int64_t> values = overall.series.row(r, scratch);
    RankRow row;
    row.row = r;
    row.middle = middle_of(std::vector<std::int64_t>(values.begin(), values.end()));
    row.lowest = *std::min_element(values.begin(), values.end());
    row.highest = *std::max_element(values.begin(), values.end());
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t off = distance(values[i], row.middle);
      if (off > distance(values[row.odd], row.middle)) row.odd = i;
      if (__builtin_add_overflow(report.ranks[i].off, off, &report.ranks[i].off))
        report.ranks[i].off = std::numeric_limits<std::int64_t>::max();
    }
    report.rows.push_back(row);
  }
  std::stable_sort(report.rows.begin(), report.rows.end(), [](const RankRow& a, const RankRow& b) {
    return distance(a.highest, a.lowest) > distance(b.highest, b.lowest);
  });
  if (count > 2) {
    const auto odd = std::max_element(report.ranks.begin(), report.ranks.end(),
                                      [](const RankFacts& a, const RankFacts& b) { return a.off < b.off; });
    if (odd->off > 0) report.odd = static_cast<std::size_t>(odd - report.ranks.begin());
  }
  return report;
}

Result<RankReport> rank_devices(const Loaded& loaded, const DiffOptions& options) {
  std::vector<RankFacts> ranks;
  const std::vector<SnapshotRef> refs = split(loaded, ranks);
  return rank_snapshots(refs, std::move(ranks), options);
}

}  // namespace snapdiff::session
