#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/trend/verdict.hpp"

using snapdiff::Verdict;
using snapdiff::trend::judge;
using Values = std::vector<double>;

// How often the rule says GROWING (or RISING) over series of known law. The expected rates are those
// of the simulations the rule was chosen by (4000 runs a cell); here fewer runs, so wide margins.
namespace {

class Source {
 public:
  explicit Source(unsigned seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_()) + .5) / 4294967296.0; }
  /// Box-Muller, so that every standard library gives the same numbers.
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }

 private:
  std::mt19937 engine_;
};

struct Rates {
  double growing = 0, rising = 0;
};

Rates rates(std::size_t n, int runs, const std::function<void(Source&, Values&)>& fill) {
  Source source(20240501);
  Rates out;
  Values values(n);
  for (int run = 0; run < runs; ++run) {
    fill(source, values);
    const Verdict verdict = judge(values, 0, 0);
    out.growing += verdict.word == "GROWING" ? 100.0 / runs : 0;
    out.rising += verdict.word == "GROWING" || verdict.word == "RISING" ? 100.0 / runs : 0;
  }
  return out;
}

void white(Source& source, Values& values) {
  for (double& value : values) value = 1000 + 30 * source.normal();
}

void walk(Source& source, Values& values) {
  double level = 1000;
  for (double& value : values) value = level += 30 * source.normal();
}

std::function<void(Source&, Values&)> leak(double step) {
  return [step](Source& source, Values& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 1000 + 30 * (step * static_cast<double>(i) + source.normal());
    }
  };
}

void warm_up(Source& source, Values& values) {
  const double tau = (.1 + .15 * source.uniform()) * static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 1000 + 500 * (1 - std::exp(-static_cast<double>(i) / tau)) + 10 * source.normal();
  }
}

void one_step(Source& source, Values& values) {
  const auto at = 1 + static_cast<std::size_t>(source.uniform() * static_cast<double>(values.size() - 1));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1000 + (i < at ? 0 : 300) + 20 * source.normal();
}

}  // namespace

TEST_CASE("verdict: harmless series are hardly ever GROWING") {
  constexpr int kRuns = 1000;
  for (const std::size_t n : {8U, 12U, 20U, 50U}) {
    INFO("n = " << n);
    CHECK(rates(n, kRuns, white).growing < .5);
    CHECK(rates(n, kRuns, walk).growing < 3);
    CHECK(rates(n, kRuns, walk).rising < 16);
    CHECK(rates(n, kRuns, warm_up).growing < 1.5);
    CHECK(rates(n, kRuns, one_step).growing < 1);
  }
  CHECK(rates(5, kRuns, leak(2)).growing == 0);  // never below 8
}

TEST_CASE("verdict: leaks are found as often as was measured") {
  constexpr int kRuns = 1000;
  const auto check = [&](std::size_t n, double step, double growing, double rising) {
    const Rates found = rates(n, kRuns, leak(step));
    INFO("n = " << n << ", step " << step << " sd: " << found.growing << " / " << found.rising);
    CHECK(found.growing == Approx(growing).margin(7));
    CHECK(found.rising == Approx(rising).margin(7));
  };
  check(8, 1, 14, 89);
  check(12, 1, 55, 97);
  check(20, 1, 98, 100);
  check(50, 1, 100, 100);
  check(8, 2, 79, 99);
  check(12, 2, 96, 100);
  check(20, .5, 69, 98);
}

TEST_CASE("verdict: the band covers the true slope about as often as it says") {
  for (const std::size_t n : {8U, 12U, 20U, 50U}) {
    Source source(7);
    Values values(n);
    int covered = 0;
    for (int run = 0; run < 500; ++run) {
      leak(1)(source, values);
      const Verdict verdict = judge(values, 0, 0);
      covered += verdict.slope_low <= 30 && 30 <= verdict.slope_high ? 1 : 0;
    }
    INFO("n = " << n << ": " << covered << " of 500");
    CHECK(covered >= 465);
  }
}

// Not run by default: trend_test "[speed]".
TEST_CASE("verdict: a hundred values are judged in microseconds", "[.][speed]") {
  Source source(3);
  std::vector<Values> series(200, Values(100));
  for (Values& values : series) leak(.2)(source, values);
  (void)judge(series[0], 0, 0);
  double sum = 0;
  double least = 1e9;  // of several rounds, in processor time: other programs run too
  for (int round = 0; round < 5; ++round) {
    const std::clock_t start = std::clock();
    for (const Values& values : series) sum += judge(values, 0, 0).p;
    least = std::min(least, 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / 200);
  }
  WARN("n = 100: " << least << " us per leaking series (sum " << sum << ")");
  CHECK(least < 50);
}
