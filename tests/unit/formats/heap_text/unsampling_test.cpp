#include "formats/heap_text/raw_stacks.hpp"

#include <catch2/catch.hpp>
#include <limits>

using snapdiff::formats::heap_text::Rule;
using snapdiff::formats::heap_text::Sampler;
using snapdiff::formats::heap_text::unsample;
using snapdiff::formats::heap_text::Values;

// Expected values: google/pprof (profile/testdata/cppbench.heap.string, java.heap.string) and, for
// Go's row, its formula worked out by hand.
TEST_CASE("unsampling: rows of pprof's own test data") {
  const auto [count, bytes, period, expected_count, expected_bytes] =
      GENERATE(table<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>({
          {1, 9216, 524288, 57, 528909},
          {1, 144, 524288, 3641, 524360},
          {7, 114688, 524288, 227, 3727658},
          {1, 2162688, 524288, 1, 2198218},
          {1, 48, 524288, 10923, 524312},
          {3, 1572864, 524288, 4, 2488234},
          {1, 524288, 524288, 1, 829411},
          {1, 7048, 524288, 74, 527819},
          {9, 4752, 524288, 8941, 4720968},
          {0, 0, 524288, 0, 0},
          {5, 0, 524288, 0, 0},
          {3, 300, 1, 3, 300},
          {3, 300, 0, 3, 300},
      }));
  Values values{count, bytes, count, bytes};
  REQUIRE(unsample({Rule::v2, period}, values));
  CHECK(values == Values{expected_count, expected_bytes, expected_count, expected_bytes});
}

TEST_CASE("unsampling: the two pairs are independent") {
  Values values{1, 524288, 3, 1572864};
  REQUIRE(unsample({Rule::v2, 524288}, values));
  CHECK(values == Values{1, 829411, 4, 2488234});
}

TEST_CASE("unsampling: the oldest rule lifts small objects to the period and leaves large ones") {
  Values values{2, 2048, 1, 300000};
  REQUIRE(unsample({Rule::v1, 131072}, values));
  CHECK(values == Values{256, 262144, 1, 300000});  // 1024 B a block: 128 times too few
}

TEST_CASE("unsampling: exact values beyond 2^53 survive when objects are far larger than the period") {
  const std::int64_t big = std::numeric_limits<std::int64_t>::max();
  Values values{1, big, 1, big};
  REQUIRE(unsample({Rule::v2, 4096}, values));
  CHECK(values == Values{1, big, 1, big});
}

TEST_CASE("unsampling: an estimate beyond 64 bits is refused") {
  Values values{std::int64_t{1} << 62, std::int64_t{1} << 62, 0, 0};
  CHECK_FALSE(unsample({Rule::v2, 1 << 20}, values));
}

TEST_CASE("unsampling: negative rows scale like positive ones") {
  Values values{-1, -9216, 0, 0};
  REQUIRE(unsample({Rule::v2, 524288}, values));
  CHECK(values == Values{-57, -528909, 0, 0});
}
