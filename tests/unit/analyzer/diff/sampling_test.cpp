#include <catch2/catch.hpp>

#include <cmath>

#include "analyzer/diff/side.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

TextOptions sampled(std::int64_t period) {
  TextOptions options;
  options.sampling = Sampling::poisson;
  options.period = period;
  return options;
}

}  // namespace

TEST_CASE("sampling error: the vectors of the simulation, R = 512 KiB") {
  // objects, size, formula's standard deviation in MB (measured against ground truth elsewhere)
  const auto [count, size, expected] = GENERATE(table<double, double, double>(
      {{100'000, 64, 1.83}, {2'000, 4096, 2.06}, {40, 256 * 1024, 2.06}, {10, 1024 * 1024, 1.31}}));
  const double variance = diff::sampling_variance(count * size, count, 512 * 1024, false);
  CHECK(std::sqrt(variance) / 1e6 == Approx(expected).margin(0.01));
}

TEST_CASE("sampling error: small objects cost about sqrt(bytes * period), large ones nothing") {
  CHECK(std::sqrt(diff::sampling_variance(1e6, 1e6 / 16, 524288, false)) ==
        Approx(std::sqrt(1e6 * 524288)).epsilon(1e-4));
  CHECK(diff::sampling_variance(1e9, 1, 4096, false) == Approx(0).margin(1e-6));
  CHECK(diff::sampling_variance(0, 0, 4096, false) == 0);
  // Without counts the bound.
  CHECK(diff::sampling_variance(1e6, 0, 4096, false) == Approx(1e6 * 4096));
  // Counts: that of the bytes over the size squared.
  CHECK(diff::sampling_variance(6400, 100, 4096, true) * 64 * 64 ==
        Approx(diff::sampling_variance(6400, 100, 4096, false)));
}

TEST_CASE("sampling error: a row adds the variances of both sides") {
  const GrowthReport r =
      must_diff(heap("a 6400 100\nb 10 1\n", sampled(4096)), heap("a 12800 200\nc 5 1\n", sampled(8192)));
  CHECK(r.has_error);
  CHECK_FALSE(r.exact);
  const double expected = std::sqrt(6400.0 * 64 / std::expm1(64.0 / 4096) + 12800.0 * 64 / std::expm1(64.0 / 8192));
  CHECK(row_called(r, "a").error == Approx(expected));
  const double others = 10.0 * 10 / std::expm1(10.0 / 4096) + 5.0 * 5 / std::expm1(5.0 / 8192);
  CHECK(r.total_error == Approx(std::sqrt(expected * expected + others)));
}

TEST_CASE("sampling error: each label's row counts with its own size") {
  const GrowthReport r =
      must_diff(heap("", sampled(4096)), heap("a {bytes=16} 1600 100\na {bytes=4096} 40960 10\n", sampled(4096)));
  const double expected = std::sqrt(1600.0 * 16 / std::expm1(16.0 / 4096) + 40960.0 * 4096 / std::expm1(1.0));
  CHECK(r.rows[0].error == Approx(expected));
  CHECK(must_diff(heap("", sampled(4096)), heap("a {bytes=16} 1600 100\na {bytes=4096} 40960 10\n", sampled(4096)),
                  by(GroupBy::type))
            .rows[0]
            .error == Approx(expected));
}

TEST_CASE("sampling error: exact is 0, unknown is unknown") {
  const GrowthReport exact = must_diff("a 1 1\n", "a 5 1\n");
  CHECK(exact.rows[0].error == 0);
  CHECK(exact.total_error == 0);
  TextOptions unknown;
  unknown.sampling = Sampling::unknown;
  unknown.period = 0;
  const GrowthReport r = must_diff(heap("a 1 1\n"), heap("a 5 1\n", unknown));
  CHECK(std::isnan(r.rows[0].error));
  CHECK(std::isnan(r.total_error));
  CHECK_FALSE(r.exact);
  CHECK_FALSE(r.has_error);
  CHECK(must_diff(heap("a 1 1\n", sampled(1)), heap("a 5 1\n", sampled(1))).exact);
}
