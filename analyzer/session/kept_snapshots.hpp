#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/store/store.hpp"

/// Which snapshots of a series stay, as backups are thinned.
namespace snapdiff::session {

/// A snapshot stays where one of the rules keeps it. Spans are counted back from the newest snapshot of the series;
/// hours and days are those of UTC, and of each the newest snapshot stays.
struct Retention {
  std::optional<std::size_t> newest;  ///< at least 1
  std::optional<std::uint64_t> all_ns, hourly_ns, daily_ns;
  bool by_time() const { return all_ns || hourly_ns || daily_ns; }
};

/// The snapshots that the rules remove, in the series' order. Nothing where rules go by time and a snapshot has none.
std::optional<std::vector<SnapshotId>> surplus_of(const store::SeriesOrder& series, const Retention& kept);

}  // namespace snapdiff::session
