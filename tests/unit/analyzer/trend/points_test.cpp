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
