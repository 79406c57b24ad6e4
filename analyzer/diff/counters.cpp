#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/base/first_notes.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/diff/row_order.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::diff {
namespace {

/// Errors: limit.
Status find_growth(CounterRow& row) {
  bool fits = true;
  if (!row.cumulative) {
    fits = checked_sub(row.after(), row.before(), row.growth);
  } else {
    std::int64_t before = row.before();
    for (std::size_t i = row.first + 1; i <= row.last; ++i) {
      if (!row.values[i]) continue;
      std::int64_t step = 0;
      fits = fits && checked_sub(*row.values[i], before, step);
      if (step < 0) {
        ++row.resets;
        step = *row.values[i];
      }
      fits = fits && checked_add(row.growth, step, row.growth);
      before = *row.values[i];
    }
  }
  if (fits) return ok();
  return Error{ErrorCode::limit,
               "growth of the counter " + row.name + " is beyond 2^63-1, expected it to fit in 64 bits"};
}

using Names = std::map<std::pair<std::string_view, std::string_view>, std::size_t>;

/// How many snapshots know each counter. Those with the fewest values are left out where a table of all would be out
/// of proportion to the values that there are: many snapshots, each with counters of its own.
Names counters_kept(std::span<const SnapshotRef> snapshots, Notes& notes) {
  constexpr std::size_t kFree = std::size_t{1} << 22;
  constexpr std::size_t kPerValue = 64;
  Names known;
  std::size_t values = 0;
  for (const SnapshotRef& ref : snapshots) {
    for (const Counter& counter : ref.snapshot->facts.counters) {
      ++known[{counter.name, counter.unit}];
      ++values;
    }
  }
  const std::size_t most = (kFree + kPerValue * values) / std::max<std::size_t>(snapshots.size(), 1);
  if (known.size() <= most) return known;
  std::vector<Names::iterator> order;
  for (auto it = known.begin(); it != known.end(); ++it) order.push_back(it);
  std::stable_sort(order.begin(), order.end(), [](auto a, auto b) { return a->second > b->second; });
  for (std::size_t i = most; i < order.size(); ++i) known.erase(order[i]);
  notes.add(Severity::data_loss, "counters that few of very many snapshots have were left out", std::nullopt,
            order.size() - most);
  return known;
}

}  // namespace

bool has_counters_only(std::span<const SnapshotRef> snapshots) {
  return !snapshots.empty() && std::all_of(snapshots.begin(), snapshots.end(), [](const SnapshotRef& ref) {
    return ref.snapshot->samples.columns.empty() && !ref.snapshot->facts.counters.empty();
  });
}

Result<CounterReport> diff_counters(std::span<const SnapshotRef> snapshots) {
  CounterReport report;
  report.snapshots.assign(snapshots.begin(), snapshots.end());
  Names row_of;
  const Names kept = counters_kept(snapshots, report.notes);
  std::uint64_t twice = 0;
  for (std::size_t s = 0; s < snapshots.size(); ++s) {
    for (const Counter& counter : snapshots[s].snapshot->facts.counters) {
      if (kept.find({counter.name, counter.unit}) == kept.end()) continue;
      const auto [at, added] = row_of.try_emplace({counter.name, counter.unit}, report.rows.size());
      if (added) {
        report.rows.emplace_back();
        report.rows.back().name = counter.name;
        report.rows.back().unit = counter.unit;
        report.rows.back().values.resize(snapshots.size());
        report.rows.back().first = s;
      }
      CounterRow& row = report.rows[at->second];
      if (row.values[s]) ++twice;
      row.values[s] = counter.value;
      row.last = s;
      row.cumulative = row.cumulative || counter.cumulative;
      row.half_unit = std::max(row.half_unit, counter.half_unit);
    }
    const SnapshotFacts& facts = snapshots[s].snapshot->facts;
    if (facts.partial) report.notes.add(Severity::data_loss, "a snapshot is partial");
    for (const Note& note : facts.notes.all()) {
      if (note.text.starts_with(kOutOfMemory)) report.notes.add(note.severity, note.text);
    }
  }
  if (twice > 0)
    report.notes.add(Severity::warning, "a counter is recorded twice in one snapshot: the last one holds", std::nullopt,
                     twice);
  for (CounterRow& row : report.rows) {
    if (Status found = find_growth(row); !found) return std::move(found).error();
  }
  std::sort(report.rows.begin(), report.rows.end(), [](const CounterRow& a, const CounterRow& b) {
    const auto key = [](const CounterRow& row) {
      return std::tuple(row.cumulative, row.unit != "bytes", std::string_view(row.unit), ~magnitude(row.growth),
                        std::string_view(row.name));
    };
    return key(a) < key(b);
  });
  return report;
}

}  // namespace snapdiff::diff
