#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "analyzer/trend/share_axis.hpp"

using namespace snapdiff;

namespace {

using Times = std::vector<std::optional<std::int64_t>>;
constexpr std::optional<std::int64_t> kNone;
constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000'000;

TimedSeries series(Times times, bool ordered = true) { return {std::move(times), ordered, false}; }

}  // namespace

TEST_CASE("shared axis: a series without times lies evenly between the first and the last known time") {
  const std::vector<TimedSeries> all = {series({kNone, kNone, kNone, kNone}), series({100, 250}), series({130, 400})};
  const SharedAxis axis = trend::share_axis(all);
  CHECK(axis.first_ns == 100);
  CHECK(axis.last_ns == 400);
  CHECK(axis.series[0].estimated_ns == Times{100, 200, 300, 400});
  CHECK(axis.series[0].count == 4);
  CHECK(axis.series[0].why_not.empty());
  CHECK(axis.series[1].estimated_ns == Times{kNone, kNone});
  CHECK(axis.series[1].count == 0);
}

TEST_CASE("shared axis: own known times are neighbours, the axis is where there are none") {
  const std::vector<TimedSeries> all = {series({kNone, kNone, 200, kNone, kNone, 500, kNone, kNone}), series({0, 900})};
  CHECK(trend::share_axis(all).series[0].estimated_ns == Times{0, 100, kNone, 300, 400, kNone, 700, 900});
}

TEST_CASE("shared axis: nothing lies beyond the axis, and fractions are rounded down") {
  const std::vector<TimedSeries> all = {series({kNone, 10, kNone, kNone, 20, kNone})};
  const SharedAxis axis = trend::share_axis(all);
  CHECK(axis.series[0].estimated_ns == Times{kNone, kNone, 13, 16, kNone, kNone});
  CHECK(axis.series[0].count == 2);
  CHECK(axis.series[0].why_not == "no known time lies beyond its own");
}

TEST_CASE("shared axis: what has no place in an order has no estimate") {
  TimedSeries restarted = series({kNone, kNone});
  restarted.restarts = true;
  const std::vector<TimedSeries> all = {series({kNone, kNone}, false), restarted,        series({kNone}),
                                        series({kNone, 50, 20}),       series({0, 100}), series({})};
  const SharedAxis axis = trend::share_axis(all);
  CHECK(axis.series[0].why_not == "nothing but their import orders the snapshots");
  CHECK(axis.series[1].why_not == "its process seems to have restarted in between");
  CHECK(axis.series[2].why_not == "a single snapshot has no place in an order");
  CHECK(axis.series[3].why_not == "the times it holds run against its order");
  CHECK(axis.series[5].why_not.empty());
  for (const EstimatedTimes& times : axis.series) CHECK(times.count == 0);
}

TEST_CASE("shared axis: times of several occasions are no axis, but a series keeps its own neighbours") {
  const std::vector<TimedSeries> all = {series({kNone, kNone}), series({0, kNone, kHour}),
                                        series({26 * kHour, 27 * kHour})};
  const SharedAxis axis = trend::share_axis(all);
  CHECK_FALSE(axis.first_ns);
  CHECK(axis.series[0].why_not == "the known times are of 2 occasions, more than a day apart");
  CHECK(axis.series[1].estimated_ns == Times{kNone, kHour / 2, kNone});
  // A day between them is one occasion, and so is less than the longest of them.
  CHECK(trend::share_axis(std::vector{series({0}), series({24 * kHour})}).last_ns == 24 * kHour);
  CHECK(trend::share_axis(std::vector{series({0, 100 * kHour}), series({200 * kHour})}).last_ns == 200 * kHour);
  CHECK_FALSE(trend::share_axis(std::vector{series({0, 100 * kHour}), series({201 * kHour})}).last_ns);
}

TEST_CASE("shared axis: one known time, none, and both ends of the range") {
  CHECK(trend::share_axis(std::vector{series({kNone, kNone}), series({7})}).series[0].why_not ==
        "a single time is known");
  CHECK(trend::share_axis(std::vector{series({kNone, kNone})}).series[0].why_not == "no series holds a time");
  CHECK(trend::share_axis({}).series.empty());
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const SharedAxis axis = trend::share_axis(std::vector{series({kNone, kNone, kNone}), series({kLeast, kMost})});
  CHECK(axis.series[0].estimated_ns == Times{kLeast, -1, kMost});
}
