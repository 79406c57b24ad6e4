#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/trend/verdict.hpp"

using namespace snapdiff;
using Numbers = std::vector<std::int64_t>;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A series of totals, and of one row per entry of `rows` (values per snapshot); taken at `seconds`.
SeriesReport series_of(const Numbers& totals, const std::vector<Numbers>& rows = {}, const Numbers& seconds = {}) {
  SeriesReport series;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    auto snapshot = std::make_shared<Snapshot>();
    if (i < seconds.size()) snapshot->facts.taken_at_ns = seconds[i] * kSecond;
    SeriesStep step;
    step.snapshot = {snapshot, "@" + std::to_string(i + 1), ""};
    step.total = totals[i];
    step.growth = i == 0 ? 0 : totals[i] - totals[i - 1];
    series.steps.push_back(std::move(step));
  }
  GrowthReport& overall = series.overall;
  overall.unit = "bytes";
  overall.total = {totals.front(), totals.back()};
  overall.series_length = totals.size();
  for (const Numbers& values : rows) {
    GrowthRow row;
    row.value = {values.front(), values.back()};
    overall.rows.push_back(row);
    overall.series.push_row(values);
  }
  return series;
}

Numbers line(std::int64_t start, std::int64_t step, std::size_t count) {
  Numbers values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(start + static_cast<std::int64_t>(i) * step);
  return values;
}

}  // namespace

TEST_CASE("times: evenly spaced within a quarter of the median") {
  const TimeAxis axis = trend::time_axis(series_of(line(0, 1, 5), {}, {100, 110, 119, 131, 140}));
  CHECK(axis.even());
  CHECK(axis.step_seconds == Approx(10));
  CHECK(axis.seconds == std::vector<double>{0, 10, 19, 31, 40});
  CHECK(axis.note.empty());
}

TEST_CASE("times: what cannot be used is said, and steps are counted") {
  const auto note = [](const Numbers& seconds) {
    const TimeAxis axis = trend::time_axis(series_of(line(0, 1, 4), {}, seconds));
    CHECK(axis.seconds.empty());
    CHECK(axis.step_seconds == 0);
    CHECK(axis.even());
    return axis.note;
  };
  CHECK(note({}).empty());
  CHECK(note({10, 20}) == "2 of 4 snapshots hold no time: steps are counted, not timed");
  CHECK(note({10, 20, 15, 30}) == "times run backwards at snapshot 3: steps are counted, not timed");
  CHECK(note({10, 20, 20, 30}) == "two snapshots have one time at snapshot 3: steps are counted, not timed");
}

TEST_CASE("times: without a rhythm snapshots are judged by their order") {
  const Numbers totals = line(1'000'000, 1000, 10);
  const TrendReport report =
      trend::analyse(series_of(totals, {totals}, {0, 1, 9, 11, 12, 30, 31, 40, 90, 91}), std::nullopt);
  CHECK(report.axis.even());
  CHECK(report.axis.note == "snapshots were taken at uneven times: judged by their order");
  CHECK(report.axis.step_seconds == Approx(91.0 / 9));
  CHECK(report.whole.slope == Approx(1000));
}

TEST_CASE("times: the ends of the range") {
  SeriesReport series = series_of(line(0, 1, 3));
  const auto at = [&](std::size_t i, std::int64_t time) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->facts.taken_at_ns = time;
    series.steps[i].snapshot.snapshot = snapshot;
  };
  at(0, std::numeric_limits<std::int64_t>::min());
  at(1, 0);
  at(2, std::numeric_limits<std::int64_t>::max());
  CHECK(trend::time_axis(series).seconds.back() == Approx(18446744073.709551615));
}

TEST_CASE("times: a missing snapshot is uneven, and a line stays a line") {
  const Numbers seconds = {0, 10, 20, 60, 70, 80, 90, 100, 110, 120};
  Numbers totals;
  for (const std::int64_t second : seconds) totals.push_back(1'000'000 + 1000 * second);
  const TrendReport report = trend::analyse(series_of(totals, {totals}, seconds), std::nullopt);
  CHECK_FALSE(report.axis.even());
  CHECK(report.whole.word == "GROWING");
  // 120 s in 9 steps of 13.3 s: 13 333 bytes a step.
  CHECK(report.whole.slope == Approx(1000 * 120.0 / 9));
  CHECK(report.verdicts[0].slope == Approx(1000 * 120.0 / 9));
  CHECK(report.axis.step_seconds == Approx(120.0 / 9));
}

TEST_CASE("times: what the process had done stands for them where the inputs count it") {
  // A run of valgrind writes snapshots closer and closer together in instructions; each instruction leaks a byte.
  const Numbers instructions = {0, 1000, 9000, 11'000, 12'000, 30'000, 31'000, 40'000, 90'000, 91'000};
  Numbers totals;
  for (const std::int64_t done : instructions) totals.push_back(1'000'000 + done);
  const auto series = [&](const std::function<void(std::size_t, SnapshotFacts&)>& change) {
    SeriesReport made = series_of(totals, {totals});
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      auto snapshot = std::make_shared<Snapshot>();
      snapshot->facts.source.name = "massif.out.1";
      snapshot->facts.counters = {{"time", instructions[i], "instructions", true}};
      if (change) change(i, snapshot->facts);
      made.steps[i].snapshot.snapshot = snapshot;
    }
    return made;
  };
  const TrendReport report = trend::analyse(series(nullptr), std::nullopt);
  CHECK_FALSE(report.axis.even());
  CHECK(report.axis.seconds.empty());
  CHECK(report.axis.step_seconds == 0);
  CHECK(report.axis.note == "snapshots lie at uneven distances of instructions: judged by instructions");
  CHECK(report.whole.word == "GROWING");
  CHECK(report.whole.slope == Approx(91'000.0 / 9));
  CHECK(report.verdicts[0].slope == Approx(91'000.0 / 9));

  const auto even = [&](const std::function<void(std::size_t, SnapshotFacts&)>& change) {
    const TimeAxis axis = trend::time_axis(series(change));
    return axis.even() && axis.note.empty();
  };
  CHECK(
      even([](std::size_t i, SnapshotFacts& facts) { facts.counters[0].value = 1000 * static_cast<std::int64_t>(i); }));
  CHECK(even([](std::size_t i, SnapshotFacts& facts) { facts.source.name += std::to_string(i); }));  // of many runs
  CHECK(even([](std::size_t i, SnapshotFacts& facts) {
    if (i == 5) facts.counters[0].value = 0;
  }));
  CHECK(even([](std::size_t i, SnapshotFacts& facts) { facts.counters[0].cumulative = i != 4; }));
  CHECK(even([](std::size_t i, SnapshotFacts& facts) { facts.counters[0].unit = i < 4 ? "bytes" : "instructions"; }));
}

TEST_CASE("times: a step between missing snapshots stays a step") {
  // Read as straight lines over even times, this was GROWING and climbed 0 per snapshot.
  const Numbers seconds = {0, 10, 20, 60, 70, 80, 120, 130, 140, 150, 190, 200};
  const Numbers values = {2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4};
  SeriesReport series = series_of(values, {values}, seconds);
  series.overall.unit = "count";
  const TrendReport report = trend::analyse(std::move(series), std::nullopt);
  CHECK_FALSE(report.axis.even());
  CHECK(report.whole.word != "GROWING");
  CHECK(report.whole.reason.find("+0 ") == std::string::npos);
}

TEST_CASE("times: only distances near a whole multiple of the median are missing snapshots") {
  const auto even = [](const Numbers& seconds) {
    return trend::time_axis(series_of(line(0, 1, seconds.size()), {}, seconds)).even();
  };
  CHECK_FALSE(even({0, 10, 20, 38, 48, 58, 88, 98, 108}));  // 1.8 and 3 times
  CHECK(even({0, 10, 20, 35, 45, 55, 65, 75, 85}));         // 1.5 times: late, not missing
  CHECK(even({0, 10, 20, 45, 55, 65, 75, 85, 95}));         // 2.5 times
}

TEST_CASE("times: a leak is judged at the times of its snapshots") {
  // The same exact line, seen at 12 even times and at the first 12 of 20 that are left.
  const Numbers seconds = {0, 10, 20, 30, 80, 90, 100, 110, 120, 130, 180, 190};
  Numbers values;
  for (const std::int64_t second : seconds) values.push_back(1'000'000 + 1000 * second);
  const TrendReport report = trend::analyse(series_of(values, {values}, seconds), std::nullopt);
  CHECK(report.verdicts[0].word == "GROWING");
  CHECK(report.verdicts[0].slope * 11 / 190 == Approx(1000));
  CHECK(report.verdicts[0].slope_low == Approx(report.verdicts[0].slope));
  CHECK(report.verdicts[0].slope_high == Approx(report.verdicts[0].slope));
}

TEST_CASE("times: rates per hour need ten minutes of data") {
  TimeAxis axis;
  CHECK_FALSE(axis.per_hour(1));
  axis.step_seconds = 3;
  axis.seconds = {0, 3, 6};
  CHECK_FALSE(axis.per_hour(1));
  axis.step_seconds = 60;
  axis.seconds = {0, 540, 600};
  CHECK(axis.per_hour(10) == 600);
}

TEST_CASE("rows: points on interpolated lines are no evidence") {
  const auto with_unknown = [](std::initializer_list<std::size_t> steps) {
    SeriesReport out = series_of(line(0, 1, 12), {line(100, 50, 12)});
    out.overall.series.allow_unknown();
    for (const std::size_t step : steps) out.overall.series.mark_unknown(0, step);
    return out;
  };
  SeriesReport series = with_unknown({});
  CHECK(trend::judge_rows(series.overall, nullptr, 0.0)[0].word == "GROWING");
  series = with_unknown({1, 3, 5, 7, 9});
  const Verdict seven = trend::judge_rows(series.overall, nullptr, 0.0)[0];
  CHECK(seven.word == "RISING");
  CHECK(seven.slope == Approx(50));
  CHECK(seven.rise == Approx(550));
  series = with_unknown({1, 3, 5, 7});
  CHECK(trend::judge_rows(series.overall, nullptr, 0.0)[0].word == "GROWING");
  // Whatever stands where nothing is known changes nothing.
  REQUIRE(series.overall.series.add(0, 1, 1'000'000));
  CHECK(trend::judge_rows(series.overall, nullptr, 0.0)[0].slope == Approx(50));
}

/// The verdict of a profile's series in which one sample stands for `sample`.
Verdict judged_samples(const Numbers& values, std::int64_t sample) {
  SeriesReport series = series_of(values, {values});
  series.overall.has_error = true;
  GrowthRow& row = series.overall.rows[0];
  row.sample = static_cast<double>(sample);
  row.error = std::sqrt(row.sample * static_cast<double>(values.front() + values.back()));
  return trend::judge_rows(series.overall)[0];
}

TEST_CASE("rows: a sampled leak under turnover is not drowned by what its survivors share") {
  // Samples: 30 that are replaced by a third each step, and 3 more at each.
  const Numbers values{31, 36, 34, 40, 45, 44, 50, 51, 57, 58, 63, 62, 69, 70, 75, 77, 80, 82, 88, 89};
  CHECK(judged_samples(values, 1).word == "GROWING");
}

TEST_CASE("rows: what no population of constant size shows needs lower odds") {
  // A leak of 3 a step beside turnover: from 20 to 63, seven standard errors of samples that were all replaced. A walk
  // of such steps is not excluded at 95 %.
  const Numbers values{20, 24, 24, 30, 33, 39, 39, 46, 53, 57, 54, 56, 59, 65, 65, 63};
  const Verdict leak = judged_samples(values, 1);
  CHECK(leak.p < .95);
  CHECK(leak.word == "GROWING");
  // Every object recorded, the odds have to be higher.
  CHECK(trend::judge_rows(series_of(values, {values}).overall)[0].word == "RISING");
}

TEST_CASE("rows: what sampling alone may show is not GROWING, however straight") {
  // 59 to 68 samples, of which more came and went.
  const Numbers values{591, 591, 601, 621, 611, 611, 631, 631, 601, 641,
                       661, 651, 651, 631, 641, 671, 661, 681, 681, 681};
  const Verdict verdict = judged_samples(values, 10);
  CHECK(verdict.p > .95);
  CHECK(verdict.word == "RISING");
  CHECK(verdict.reason.find("no further than sampling alone may show") != std::string::npos);
  // The same values, every object recorded.
  CHECK(trend::judge_rows(series_of(values, {values}).overall)[0].word == "GROWING");
  // 100 that stay, and one more a step: nothing came and went, and the climb is sure.
  CHECK(judged_samples(line(100, 1, 16), 1).word == "GROWING");
}

TEST_CASE("order: the heaviest growth of a verdict comes first") {
  // By odds times slope, the light one that climbs steadily stood before the heavy one that jumped.
  Numbers jump = line(1'000'000, 0, 12);
  for (std::size_t i = 6; i < 12; ++i) jump[i] = 9'000'000;
  Numbers small_jump = line(1'000'000, 0, 12);
  for (std::size_t i = 1; i < 12; ++i) small_jump[i] = 2'000'000;
  const Numbers leak = line(1'000'000, 100'000, 12);
  const Numbers faster = line(1'000'000, 200'000, 12);
  const TrendReport report = trend::analyse(series_of(faster, {small_jump, leak, jump, faster}), std::nullopt);
  CHECK(report.order == std::vector<std::uint32_t>{3, 1, 2, 0});
}

TEST_CASE("restart: the last life that is long enough is judged, whatever came after") {
  SeriesReport series = series_of(line(100, 1, 36));
  CHECK(trend::lives_of(series) == std::vector<Life>{{0, 36}});
  series.steps[31].restart = "pid 10, then 11";
  series.steps[31].other_process = true;
  CHECK(trend::judged_life(trend::lives_of(series)) == Life{0, 31});
  series.steps[20].restart = "total fell";
  CHECK(trend::judged_life(trend::lives_of(series)) == Life{20, 31});
}

TEST_CASE("restart: each of many collapses ends a life, with a process id or without") {
  SeriesReport series = series_of(line(100, 1, 48));
  for (const std::size_t i : {12U, 24U, 36U}) series.steps[i].restart = "total fell";
  const std::vector<Life> lives = trend::lives_of(series);
  CHECK(lives.size() == 4);
  CHECK(trend::judged_life(lives) == Life{36, 48});
}

TEST_CASE("restart: a collector that runs every few snapshots splits nothing") {
  SeriesReport series = series_of(line(100, 1, 12));
  for (const std::size_t i : {3U, 6U, 9U}) series.steps[i].restart = "total fell";
  CHECK(trend::lives_of(series) == std::vector<Life>{{0, 12}});
}

TEST_CASE("restart: a collapse in the last two snapshots ends the series") {
  SeriesReport series = series_of(line(100, 1, 8));
  series.steps[7].restart = "total fell";
  CHECK(trend::judged_life(trend::lives_of(series)) == Life{0, 7});
  series.steps[7].restart.clear();
  series.steps[6].restart = "total fell";
  CHECK(trend::judged_life(trend::lives_of(series)) == Life{0, 6});
}

namespace {

/// A climb of `step` for each of `lengths`, from one level; of each the first row, of all a second one that comes and
/// goes.
TrendReport judged_climbs(const std::vector<std::size_t>& lengths,
                          trend::Emptied emptied = trend::Emptied::may_be_a_cache) {
  Numbers leak, totals, other;
  for (const std::size_t length : lengths) {
    for (const std::int64_t value : line(1'000'000, 100'000, length)) leak.push_back(value);
  }
  for (std::size_t i = 0; i < leak.size(); ++i) {
    other.push_back(i % 5 == 2 ? 2'000'000 : 50'000);
    totals.push_back(leak[i] + other[i]);
  }
  const SeriesReport whole = series_of(totals, {leak, other});
  std::vector<SnapshotRef> refs;
  for (const SeriesStep& step : whole.steps) refs.push_back(step.snapshot);
  const auto part_of = [](const Numbers& numbers, std::size_t first, std::size_t size) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
    return Numbers(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  const auto diff = [&](std::span<const SnapshotRef> part) -> Result<SeriesReport> {
    const auto first = static_cast<std::size_t>(part.data() - refs.data());
    return series_of(part_of(totals, first, part.size()),
                     {part_of(leak, first, part.size()), part_of(other, first, part.size())});
  };
  Result<TrendReport> report = trend::judge_in_life(refs, diff, std::nullopt, std::nullopt, emptied);
  REQUIRE(report);
  return *std::move(report);
}

}  // namespace

TEST_CASE("restart: a climb, its end and a longer climb are a process that leaks, restarts and leaks again") {
  const TrendReport report = judged_climbs({10, 14});
  CHECK(report.verdicts.front().word == "GROWING");
  CHECK(report.left_out == 10);
  CHECK(report.restart == "nearly all that had grown is gone, and it grows again");
  CHECK(judged_climbs({14, 9, 12}).left_out == 23);
}

TEST_CASE(
    "restart: what falls at one level again and again may be a cache that is emptied, unless it leaks elsewhere") {
  for (const std::vector<std::size_t>& lengths : {std::vector<std::size_t>{14, 10}, {11, 11}, {10, 10, 9}}) {
    const TrendReport report = judged_climbs(lengths);
    CHECK(report.verdicts.front().word != "GROWING");
    CHECK(report.left_out == 0);
    const TrendReport known = judged_climbs(lengths, trend::Emptied::is_a_restart);
    CHECK(known.verdicts.front().word == "GROWING");
    CHECK(known.left_out + lengths.back() == known.steps.size());
  }
}

TEST_CASE("rows: two snapshots have rows, though no verdict") {
  const TrendReport report = trend::analyse(series_of({100, 350}, {{100, 150}, {0, 200}}), std::nullopt);
  CHECK(report.order == std::vector<std::uint32_t>{1, 0});
  CHECK(report.verdicts.size() == 2);
}

namespace {

Forecast forecast_of(const std::vector<double>& climbing, const std::vector<double>& total, double limit) {
  trend::Points points;
  points.values = climbing;
  return trend::forecast(climbing, total, trend::judge(points), limit);
}

std::vector<double> drawn(std::size_t count, const std::function<double(double)>& value) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(value(static_cast<double>(i)));
  return values;
}

}  // namespace

TEST_CASE("forecast: an exact line meets the limit when it does") {
  const std::vector<double> climb = drawn(10, [](double i) { return 1000 + 100 * i; });
  const Forecast forecast = forecast_of(climb, climb, 2900);
  REQUIRE(forecast.kind == Forecast::Kind::ahead);
  CHECK(forecast.steps == Approx(10));
  CHECK(forecast.soonest == Approx(10));
  CHECK(forecast.latest == Approx(10));
}

TEST_CASE("forecast: what comes and goes beside a climb hides no date") {
  const std::vector<double> climb = drawn(20, [](double i) { return 1000 + 100 * i; });
  const std::vector<double> total = drawn(20, [](double i) { return 1500 + 100 * i + (i >= 6 && i < 10 ? 6000 : 0); });
  const Forecast forecast = forecast_of(climb, total, 5400);
  REQUIRE(forecast.kind == Forecast::Kind::ahead);
  CHECK(forecast.steps == Approx(20));
}

TEST_CASE("forecast: a climb that bends upwards goes on bending") {
  const std::vector<double> climb = drawn(20, [](double i) { return 1000 + 10 * i * i; });
  const Forecast forecast = forecast_of(climb, climb, 1000 + 10 * 39 * 39);
  REQUIRE(forecast.kind == Forecast::Kind::ahead);
  CHECK(forecast.steps == Approx(20).epsilon(0.02));
  CHECK(forecast.soonest <= 20.1);
  CHECK(forecast.latest >= 19.9);
}

TEST_CASE("forecast: reached, never, and too few to say") {
  const auto kind = [](double start, double step, std::size_t count, double limit) {
    const std::vector<double> values = drawn(count, [&](double i) { return start + step * i; });
    return forecast_of(values, values, limit).kind;
  };
  CHECK(kind(1000, 100, 10, 1900) == Forecast::Kind::reached);
  CHECK(kind(1000, -10, 10, 2000) == Forecast::Kind::never);
  CHECK(kind(1000, 100, 7, 2900) == Forecast::Kind::none);
  const std::vector<double> level = {100, 103, 98, 101, 99, 102, 97, 101, 100, 103};
  CHECK(forecast_of(level, level, 2000).kind == Forecast::Kind::never);
}

TEST_CASE("rows: of many some rise by chance, and none of these is called RISING") {
  std::vector<Verdict> verdicts(100);
  for (Verdict& verdict : verdicts) verdict.word = "NOISY";
  verdicts[7].word = verdicts[60].word = "RISING";
  verdicts[7].p = .999;
  verdicts[60].p = .7;  // three of ten such are wrong, and there are a hundred
  verdicts[50].word = "GROWING";
  verdicts[50].p = .96;
  trend::allow_for_many(verdicts);
  CHECK(verdicts[7].word == "RISING");
  CHECK(verdicts[60].word == "NOISY");
  CHECK(verdicts[50].word == "GROWING");
  std::vector<Verdict> one(1);
  one[0].word = "RISING";
  one[0].p = .7;
  trend::allow_for_many(one);
  CHECK(one[0].word == "RISING");
}

TEST_CASE("rank: GROWING before RISING before the rest, by odds times rise") {
  const Numbers flat(10, 5000), small = line(10'000, 1000, 10), large = line(10'000, 5000, 10);
  const Numbers noisy = {9000, 9500, 9100, 9600, 9000, 9500, 9200, 9400, 9100, 9300};
  Numbers totals(10, 0);
  for (const Numbers& row : {flat, small, large, noisy}) {
    for (std::size_t i = 0; i < 10; ++i) totals[i] += row[i];
  }
  const TrendReport report = trend::analyse(series_of(totals, {flat, small, large, noisy}), std::nullopt);
  REQUIRE(report.order.size() == 4);
  CHECK(report.order[0] == 2);
  CHECK(report.order[1] == 1);
  CHECK(report.verdicts[2].word == "GROWING");
  CHECK(report.verdicts[0].word == "FLAT");
}

TEST_CASE("analyse: extreme values give numbers, never NaN") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Numbers extreme = {0, kMost, 0, kMost, 0, kMost, 0, kMost, 0, kMost};
  const TrendReport report = trend::analyse(series_of(extreme, {extreme, Numbers(10, 0)}), kMost);
  for (const Verdict& verdict : {report.whole, report.verdicts[0], report.verdicts[1]}) {
    CHECK(std::isfinite(verdict.slope));
    CHECK(std::isfinite(verdict.p));
    CHECK(std::isfinite(verdict.slope_low));
    CHECK(std::isfinite(verdict.slope_high));
  }
}
