#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/trend/verdict.hpp"

using namespace snapdiff;
using trend::judge;
using trend::Points;
using Values = std::vector<double>;

namespace {

Values fills_up(std::size_t n, double tau, double ripple) {
  Values values;
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<double>(i);
    values.push_back(1000 + 500 * (1 - std::exp(-at / (tau * static_cast<double>(n)))) + ripple * std::cos(2.4 * at));
  }
  return values;
}

}  // namespace

TEST_CASE("points: a slow warm-up is not GROWING") {
  const auto [n, tau] = GENERATE(table<std::size_t, double>({{50, .42}, {50, .45}, {50, .5}, {50, .38}}));
  INFO("n = " << n << ", tau " << tau << " of the window");
  CHECK(judge(fills_up(n, tau, 0), 0, 0).word == "SATURATING");
  CHECK(judge(fills_up(n, tau, 2), 0, 0).word != "GROWING");
}

TEST_CASE("points: what is level in its last half is SATURATING, whatever its curvature") {
  // A season on top keeps the curvature's test silent.
  const Values values{0,   30,  55,  62,  60,  75,  110, 150, 170, 172, 165, 180,
                      215, 228, 222, 208, 205, 220, 236, 240, 228, 214, 212, 226};
  const Verdict verdict = judge(values, 0, 0);
  INFO(verdict.word << ": " << verdict.reason);
  CHECK(verdict.word != "GROWING");
  CHECK(verdict.word != "RISING");
}

TEST_CASE("points: a slope below one unit is given as a whole one in several snapshots") {
  Values values;
  for (int i = 0; i < 48; ++i) values.push_back(3 + i / 4);
  Points points;
  points.values = values;
  points.unit = "count";
  const Verdict verdict = judge(points);
  CHECK(verdict.word == "GROWING");
  CHECK(verdict.reason.find("+1 every 4 snapshots") == 0);
}

TEST_CASE("points: a table that doubles is known by its constant count") {
  const Values values{16, 32, 64, 64, 128, 128, 128, 128, 256, 256, 256, 256, 256, 256, 256, 256};
  const Values one(16, 1.0);
  Points points;
  points.values = values;
  CHECK(judge(points).doublings == 0);  // nothing says that it is one object
  points.counts = one;
  const Verdict verdict = judge(points);
  CHECK(verdict.word == "STEP");
  CHECK(verdict.doublings == 4);
  Values more = one;
  more.back() = 2;
  points.counts = more;
  CHECK(judge(points).doublings == 0);
  const Values twice{16, 32, 32, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};
  points.values = twice;
  points.counts = one;
  CHECK(judge(points).doublings == 0);
}

TEST_CASE("points: counts that climb plainly are seen beside values that scatter") {
  Values values, counts;
  for (int i = 0; i < 16; ++i) {
    counts.push_back(10 + 2 * i);
    values.push_back(100.0 * (10 + 2 * i) + 3000 * ((i * 7) % 5));
  }
  Points points;
  points.values = values;
  CHECK(judge(points).word != "GROWING");
  points.counts = counts;
  const Verdict verdict = judge(points);
  CHECK(verdict.word == "GROWING");
  CHECK(verdict.by_objects);
}

TEST_CASE("points: times that do not ascend are taken as even") {
  const Values values{100, 108, 116, 124, 132, 140, 148, 156};
  Points points;
  points.values = values;
  const Values backwards{0, 1, 2, 3, 3, 4, 5, 6};
  points.times = backwards;
  CHECK(judge(points).slope == Approx(8));
  const Values even{5, 7, 9, 11, 13, 15, 17, 19};
  points.times = even;
  CHECK(judge(points).slope == Approx(8));
  CHECK(judge(points).p == Approx(judge(values, 0, 0).p));
}

TEST_CASE("points: judging from several threads at once gives what one gives") {
  std::vector<Values> series;
  for (std::size_t n = 8; n < 40; ++n) series.push_back(fills_up(n, .3, 40));
  const auto run = [&] {
    std::string words;
    for (const Values& values : series) {
      Points points;
      points.values = values;
      Values times;
      for (std::size_t i = 0; i < values.size(); ++i) times.push_back(static_cast<double>(i + i / 3));
      points.times = times;
      words += judge(points).word + judge(values, 0, 0).word + ' ';
    }
    return words;
  };
  const std::string expected = run();
  std::atomic<int> different = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { different += run() == expected ? 0 : 1; });
  for (std::thread& thread : threads) thread.join();
  CHECK(different == 0);
}

TEST_CASE("points: a stack that appears and stays is NEW, however level it is") {
  const Verdict verdict =
      judge(std::vector<double>{0, 0, 0, 0, 805000, 805400, 804800, 805900, 805200, 806100, 805600, 806400}, 0, 1000);
  CHECK(verdict.word == "NEW");
  CHECK(verdict.reason == "not there before snapshot 5");
}

TEST_CASE("points: a climb under a daily wave is GROWING, the wave alone is not") {
  const auto hours = [](double a_day) {
    std::vector<double> values;
    std::uint32_t noise = 1;
    for (std::size_t hour = 0; hour < 168; ++hour) {
      noise = noise * 1664525 + 1013904223;
      const double day = static_cast<double>(hour) / 24;
      values.push_back(60e6 * (1 + a_day * day + .3 * std::sin(2 * 3.14159265358979 * day)) + 1e-4 * noise);
    }
    return values;
  };
  CHECK(judge(hours(.05), 0, 0).word == "GROWING");
  CHECK(judge(hours(0), 0, 0).word != "GROWING");
  CHECK(judge(hours(0), 0, 0).word != "RISING");
}

TEST_CASE("points: a long climb that falls far from value to value is GROWING, and its growth is that of its slope") {
  std::vector<double> values;
  std::uint32_t noise = 1;
  for (std::size_t i = 0; i < 1000; ++i) {
    double sum = 0;
    for (int k = 0; k < 12; ++k) sum += static_cast<double>((noise = noise * 1664525 + 1013904223)) / 4294967296.0;
    values.push_back(60e6 + 4000 * static_cast<double>(i) + 4e6 * (sum - 6));
  }
  const Verdict verdict = judge(values, 0, 0);
  CHECK(verdict.word == "GROWING");
  CHECK(verdict.rise == Approx(4e6).epsilon(.25));
}

TEST_CASE("points: what never falls has a trend") {
  // Bytes of an application: it rose in eight of nine steps, by 88 %.
  const Verdict verdict = judge(std::vector<double>{8370176, 9446392, 10240168, 11392056, 12678976, 13670232, 14647152,
                                                    15110272, 15721248, 15721248},
                                0, 0);
  CHECK((verdict.word == "RISING" || verdict.word == "SATURATING" || verdict.word == "GROWING"));
}

TEST_CASE("points: GROWING has a band above 0") {
  const std::vector<double> values = {100, 100, 101, 100, 101, 100, 100, 112, 104, 121, 113, 133, 119, 140, 128, 152};
  const Verdict verdict = judge(values, 0, 0);
  CHECK((verdict.word != "GROWING" || verdict.slope_low > 0));
}

TEST_CASE("points: the last jump is not said to be level since where nothing came after it") {
  const Verdict verdict = judge(std::vector<double>{10, 10, 10, 20, 20, 20, 30, 30, 30, 40}, 0, 0);
  CHECK(verdict.reason.find("at snapshot 10, level since") == std::string::npos);
}

TEST_CASE("points: a climb whose scatter wanders is not dated as one that becomes faster") {
  // 100 + 10 i, with errors of which each keeps four fifths of the one before.
  const Values climb{99, 114, 132, 135, 139, 159, 179, 177, 175, 177, 194, 199, 218, 229, 236, 252, 269, 281, 294, 310};
  Points points;
  points.values = climb;
  const Forecast forecast = snapdiff::trend::forecast(climb, climb, judge(points), 900);
  REQUIRE(forecast.kind == Forecast::Kind::ahead);
  const double truth = 80 - 19;
  CHECK(forecast.soonest < truth);
  CHECK(forecast.latest > truth);
}
