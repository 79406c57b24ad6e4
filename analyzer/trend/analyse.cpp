#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/base/row_values.hpp"
#include "analyzer/trend/rule.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {
namespace {

// A collector that runs often looks like a restart each time; a process seldom restarts thrice in a few snapshots.
constexpr std::size_t kMostCollapses = 2;

/// Snapshots that a process may leave of its end: the last dump at exit, and one before it.
constexpr std::size_t kRemains = 2;

constexpr int kOthers = 2;

// Odds of being wrong that a single series may have to be called RISING: what the rule asks of it.
constexpr double kMostDoubtful = .5;

int rank(const Verdict& verdict) {
  if (verdict.word == "GROWING") return 0;
  return verdict.word == "RISING" ? 1 : kOthers;
}

/// The heaviest first among those of one rank: a table that ends early then leaves out lighter ones.
std::vector<std::uint32_t> ranked(const GrowthReport& report, const std::vector<Verdict>& verdicts) {
  std::vector<std::uint32_t> order(verdicts.size());
  std::iota(order.begin(), order.end(), 0U);
  // Ties keep the order of the rows, which is total.
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int x = rank(verdicts[a]);
    const int y = rank(verdicts[b]);
    if (x != y) return x < y;
    const std::int64_t of_a = report.rows[a].value.growth();
    const std::int64_t of_b = report.rows[b].value.growth();
    return x < kOthers ? of_a > of_b : magnitude(of_a) > magnitude(of_b);
  });
  return order;
}

/// Of the values of some rows together.
PointError error_of_rows(const GrowthReport& report, std::span<const std::uint32_t> rows) {
  PointError error;
  double weighed = 0, weights = 0;
  for (const std::uint32_t r : rows) {
    const GrowthRow& row = report.rows[r];
    if (!report.has_error || !std::isfinite(row.error)) return {};
    if (report.rounded) error.variance += row.error * row.error / 2;
    const double weight =
        std::max({1.0, static_cast<double>(row.value.baseline), static_cast<double>(row.value.current)});
    weighed += row.sample * weight;
    weights += weight;
  }
  if (!report.rounded && weights > 0) error.sample = weighed / weights;
  return error;
}

/// Whether each row is judged: of a sparse series those with the widest ranges, as many as can be looked at whole.
std::vector<bool> judged_rows(const GrowthReport& report) {
  std::vector<std::pair<double, std::uint32_t>> ranges;
  if (report.series.whole_rows() >= report.rows.size()) return std::vector<bool>(report.rows.size(), true);
  for (std::uint32_t row = 0; row < report.rows.size(); ++row) {
    const SeriesValues::Range range = report.series.range(row);
    ranges.emplace_back(static_cast<double>(range.most) - static_cast<double>(range.least), row);
  }
  keep_widest(ranges, report.series.whole_rows());
  std::vector<bool> judged(report.rows.size(), false);
  for (const auto& [range, row] : ranges) judged[row] = true;
  return judged;
}

std::vector<Life> split(const std::vector<SeriesStep>& steps, bool at_collapses) {
  std::vector<Life> lives;
  std::size_t first = 0;
  for (std::size_t i = first + 1; i < steps.size(); ++i) {
    if (steps[i].restart.empty() || !(at_collapses || steps[i].other_process)) continue;
    lives.push_back({first, i});
    first = i;
  }
  lives.push_back({first, steps.size()});
  return lives;
}

bool is_long(const Life& life) { return life.size() >= kJudgedFrom; }

std::vector<Life> lives_in(const std::vector<SeriesStep>& steps) {
  std::vector<Life> known = split(steps, false), lives = split(steps, true);
  std::size_t in_long = 0;
  for (const Life& life : lives) in_long += is_long(life) ? life.size() : 0;
  const bool collects = lives.size() > known.size() + kMostCollapses && 2 * in_long < steps.size();
  return collects ? known : lives;
}

/// Of what a rise added, what is left where the next one begins, at most: caches that a start fills again.
constexpr double kLeft = .1;

/// Whether the values of `life` are two long rises or more, each of which begins where nearly all that the one before
/// had added is gone. `starts` gains where each but the first begins.
bool is_rises(const Points& points, const Life& life, std::vector<std::size_t>& starts) {
  if (life.size() < 2 * kJudgedFrom) return false;
  const std::span<const double> values = points.values;
  std::size_t at = life.first + kJudgedFrom;
  for (std::size_t i = at; i + kJudgedFrom <= life.end; ++i) {
    if (values[i] - values[i - 1] < values[at] - values[at - 1]) at = i;
  }
  const double added = values[at - 1] - values[life.first];
  if (!(added > 0) || values[at - 1] - values[at] < (1 - kLeft) * added) return false;
  const auto rises = [&](const Life& part) {
    Points alone = points;
    alone.values = values.subspan(part.first, part.size());
    return judge(alone).word == "GROWING" || is_rises(points, part, starts);
  };
  if (!rises({life.first, at})) return false;
  starts.push_back(at);
  return rises({at, life.end});
}

/// Whether what is emptied at one level, again and again, would look the same: a cache, not a process that restarts.
bool may_be_emptied(std::span<const double> values, std::span<const std::size_t> starts) {
  double least = values[starts.front() - 1], most = least;
  for (const std::size_t start : starts) {
    least = std::min(least, values[start - 1]);
    most = std::max(most, values[start - 1]);
  }
  const double slack = kLeft * (most - values[starts.back()]);
  return most - least <= slack && values.back() <= most + slack;
}

/// A process that leaks, restarts and leaks again, where nothing but the values says that it restarted: asked where
/// nothing rises over the whole series. By the total, else by the row that grew most; in order.
std::vector<std::size_t> starts_of_rises(const TrendReport& trend, std::optional<double> wanted, Emptied emptied) {
  const GrowthReport& overall = trend.series.overall;
  const std::size_t count = trend.series.steps.size();
  const auto grows = [](const Verdict& verdict) { return verdict.word == "GROWING"; };
  if (count < 2 * kJudgedFrom || overall.series_length != count || grows(trend.whole) || overall.series.has_unknown() ||
      std::any_of(trend.verdicts.begin(), trend.verdicts.end(), grows))
    return {};
  const auto found_in = [&](std::span<const double> values, PointError error, double floor) {
    std::vector<std::size_t> found;
    const bool rises = is_rises({values, {}, {}, {}, error, floor, overall.unit}, {0, count}, found);
    if (!rises || (emptied == Emptied::may_be_a_cache && may_be_emptied(values, found))) found.clear();
    return found;
  };
  std::vector<std::size_t> starts = found_in(totals_of(trend.series), error_of_total(overall), 0);
  if (!starts.empty()) return starts;
  const double floor = wanted ? *wanted : floor_of(overall);
  std::int64_t most = 0;
  for (std::uint32_t row = 0; row < overall.rows.size(); ++row) {
    const GrowthRow& of = overall.rows[row];
    if (of.value.growth() <= most || trend.verdicts[row].minor) continue;
    std::vector<double> values(count, 0);
    overall.series.add_to(values, row);
    std::vector<std::size_t> found = found_in(values, error_of_rows(overall, {&row, 1}), floor);
    if (found.empty()) continue;
    starts = std::move(found);
    most = of.value.growth();
  }
  return starts;
}

}  // namespace

PointError error_of_total(const GrowthReport& report) {
  if (!report.has_error || !std::isfinite(report.total_error)) return {};
  // The report's error is that of a difference of two snapshots.
  return report.rounded ? PointError{report.total_error * report.total_error / 2, 0}
                        : PointError{0, report.total_sample};
}

std::vector<double> totals_of(const SeriesReport& series) {
  std::vector<double> totals;
  for (const SeriesStep& step : series.steps) totals.push_back(static_cast<double>(step.total));
  return totals;
}

double floor_of(const GrowthReport& report) {
  double most = std::max(std::abs(static_cast<double>(report.total.baseline)),
                         std::abs(static_cast<double>(report.total.current)));
  std::vector<double> totals(has_series(report) ? report.series_length : 0, 0);
  for (std::size_t row = 0; !totals.empty() && row < report.rows.size(); ++row) report.series.add_to(totals, row);
  for (const double total : totals) most = std::max(most, std::abs(total));
  return kFloorShare * most;
}

void keep_widest(std::vector<std::pair<double, std::uint32_t>>& ranges, std::size_t most) {
  if (ranges.size() <= most) return;
  const auto end = ranges.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(ranges.begin(), end, ranges.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  ranges.erase(end, ranges.end());
}

void allow_for_many(std::span<Verdict> verdicts) {
  std::vector<Verdict*> climbing;
  std::size_t judged = 0;
  for (Verdict& verdict : verdicts) {
    if (verdict.word.empty()) continue;
    ++judged;
    if (climbs(verdict)) climbing.push_back(&verdict);
  }
  // Benjamini and Hochberg: of the k surest, the least sure may be wrong with k chances in the number that was asked.
  std::stable_sort(climbing.begin(), climbing.end(), [](const Verdict* a, const Verdict* b) { return a->p > b->p; });
  std::size_t k = climbing.size();
  while (k > 0 && (1 - climbing[k - 1]->p) * static_cast<double>(judged) > kMostDoubtful * static_cast<double>(k)) --k;
  for (; k < climbing.size(); ++k) {
    Verdict& verdict = *climbing[k];
    if (verdict.word == "GROWING") continue;
    verdict.word = "NOISY";
    verdict.reason = concat("rising, but of ", judged, " one may rise so by chance; ", p_text(verdict.p));
  }
}

void add_counts(const GrowthReport& overall, std::span<const std::uint32_t> rows, std::vector<double>& counts) {
  for (const std::uint32_t row : rows) {
    if (row >= overall.object_place.size() || overall.object_place[row] == GrowthReport::kNoPlace) continue;
    overall.object_series.add_to(counts, overall.object_place[row]);
  }
}

Verdict judge_sum(const GrowthReport& overall, std::span<const std::uint32_t> rows, std::span<const double> sums,
                  double floor, const TimeAxis* axis) {
  thread_local std::vector<double> counts;
  thread_local std::vector<std::uint8_t> known;
  Points points{sums, {}, {}, {}, error_of_rows(overall, rows), floor, overall.unit, overall.metric};
  if (axis != nullptr && axis->places.size() == sums.size()) points.times = axis->places;
  if (overall.series.has_unknown()) {
    known.assign(sums.size(), 1);
    for (const std::uint32_t row : rows) overall.series.for_each_unknown(row, [&](std::size_t i) { known[i] = 0; });
    points.known = known;
  }
  if (!overall.object_place.empty()) {
    counts.assign(sums.size(), 0);
    add_counts(overall, rows, counts);
    points.counts = counts;
  }
  return judge(points);
}

Verdict judge_row(const GrowthReport& overall, std::uint32_t row, double floor, const TimeAxis* axis) {
  thread_local std::vector<double> values;
  thread_local std::vector<std::int64_t> scratch;
  const std::span<const std::int64_t> whole = overall.series.row(row, scratch);
  values.assign(whole.begin(), whole.end());
  return judge_sum(overall, {&row, 1}, values, floor, axis);
}

std::vector<Verdict> judge_rows(const GrowthReport& overall, const TimeAxis* axis, std::optional<double> wanted) {
  std::vector<Verdict> verdicts;
  if (!has_series(overall)) return verdicts;
  const double floor = wanted ? *wanted : floor_of(overall);
  verdicts.resize(overall.rows.size());
  const std::vector<bool> judged = judged_rows(overall);
  constexpr std::size_t kBlock = 1024;
  const std::size_t blocks = (verdicts.size() + kBlock - 1) / kBlock;
  for_each_parallel(blocks, verdicts.size(), [&](std::size_t block) {
    const std::size_t end = std::min(verdicts.size(), (block + 1) * kBlock);
    for (auto row = static_cast<std::uint32_t>(block * kBlock); row < end; ++row) {
      if (judged[row]) {
        verdicts[row] = judge_row(overall, row, floor, axis);
      } else {
        verdicts[row].reason = "one of many rows that are seldom there: the heaviest alone are judged";
      }
    }
  });
  return verdicts;
}

std::vector<Life> lives_of(const SeriesReport& series) { return lives_in(series.steps); }

Life judged_life(std::span<const Life> lives) {
  const auto last = [&](auto&& wanted) { return std::find_if(lives.rbegin(), lives.rend(), wanted); };
  auto life = last(is_long);
  if (life == lives.rend()) life = last([](const Life& each) { return each.size() > kRemains; });
  if (life == lives.rend()) life = last([](const Life& each) { return each.size() > 1; });
  return life == lives.rend() ? Life{lives.front().first, lives.back().end} : *life;
}

Result<TrendReport> judge_in_life(std::span<const SnapshotRef> snapshots, const DiffSeries& diff,
                                  std::optional<std::int64_t> limit, std::optional<double> floor, Emptied emptied) {
  Result<SeriesReport> series = diff(snapshots);
  if (!series) return std::move(series).error();
  std::vector<SeriesStep> steps = series->steps;
  std::vector<Life> lives = lives_of(*series);
  Life life = judged_life(lives);
  std::shared_ptr<const GrowthReport> all;
  const auto judge_life = [&]() -> Result<TrendReport> {
    if (life.size() < snapshots.size()) {
      if (all == nullptr) all = std::make_shared<GrowthReport>(std::move(series->overall));
      series = diff(snapshots.subspan(life.first, life.size()));
      if (!series) return std::move(series).error();
    }
    return analyse(*std::move(series), limit, floor);
  };
  Result<TrendReport> judged = judge_life();
  if (!judged) return judged;
  if (const std::vector<std::size_t> starts = starts_of_rises(*judged, floor, emptied); !starts.empty()) {
    for (const std::size_t start : starts)
      steps[life.first + start].restart = "nearly all that had grown is gone, and it grows again";
    lives = lives_in(steps);
    life = judged_life(lives);
    series = std::move(judged->series);
    judged = judge_life();
    if (!judged) return judged;
  }
  TrendReport& report = *judged;
  report.left_out = life.first;
  report.left_after = snapshots.size() - life.end;
  if (life.size() < snapshots.size()) report.restart = steps[report.left_after > 0 ? life.end : life.first].restart;
  report.steps = std::move(steps);
  report.lives = std::move(lives);
  report.all = std::move(all);
  return judged;
}

TrendReport analyse(SeriesReport series, std::optional<std::int64_t> limit, std::optional<double> floor) {
  TrendReport report;
  report.axis = time_axis(series);
  report.verdicts = judge_rows(series.overall, &report.axis, floor);
  // Two snapshots show growth, not a trend: their rows are there all the same.
  if (report.verdicts.empty()) report.verdicts.resize(series.overall.rows.size());
  report.order = ranked(series.overall, report.verdicts);
  report.whole = judge(
      {totals_of(series), report.axis.places, {}, {}, error_of_total(series.overall), 0, series.overall.unit, {}});
  report.limit = limit;
  report.lives = {{0, series.steps.size()}};
  report.series = std::move(series);
  return report;
}

}  // namespace snapdiff::trend
