#include "analyzer/session/kept_snapshots.hpp"

#include <algorithm>

namespace snapdiff::session {
namespace {

constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;
constexpr std::int64_t kDayNs = 24 * kHourNs;

/// One snapshot for each stretch of time, the newest; to be asked from the newest on.
class OnePer {
 public:
  OnePer(std::int64_t stretch_ns, const std::optional<std::uint64_t>& span_ns)
      : stretch_ns_(stretch_ns), span_ns_(span_ns) {}

  bool keeps(std::int64_t taken_at_ns, std::uint64_t age_ns) {
    if (!span_ns_ || age_ns > *span_ns_) return false;
    const std::int64_t rest = taken_at_ns % stretch_ns_;
    const std::int64_t stretch = taken_at_ns / stretch_ns_ - (rest < 0 ? 1 : 0);
    const bool is_next = !any_ || stretch != last_;
    any_ = true;
    last_ = stretch;
    return is_next;
  }

 private:
  std::int64_t stretch_ns_;
  std::optional<std::uint64_t> span_ns_;
  bool any_ = false;
  std::int64_t last_ = 0;
};

}  // namespace

std::optional<std::vector<SnapshotId>> surplus_of(const store::SeriesOrder& series, const Retention& kept) {
  const std::vector<std::optional<std::int64_t>>& times = series.taken_at_ns;
  if (kept.by_time() && series.order != store::Order::time) return std::nullopt;
  OnePer hourly(kHourNs, kept.hourly_ns), daily(kDayNs, kept.daily_ns);
  std::vector<SnapshotId> surplus;
  for (std::size_t rank = 0; rank < series.snapshots.size(); ++rank) {
    const std::size_t i = series.snapshots.size() - 1 - rank;
    bool stays = kept.newest && rank < *kept.newest;
    if (kept.by_time()) {
      const std::uint64_t age =
          static_cast<std::uint64_t>(*times.back()) - static_cast<std::uint64_t>(*times[i]);  // they ascend
      stays = (kept.all_ns && age <= *kept.all_ns) || stays;
      stays = hourly.keeps(*times[i], age) || stays;
      stays = daily.keeps(*times[i], age) || stays;
    }
    if (!stays) surplus.push_back(series.snapshots[i]);
  }
  std::reverse(surplus.begin(), surplus.end());
  return surplus;
}

}  // namespace snapdiff::session
