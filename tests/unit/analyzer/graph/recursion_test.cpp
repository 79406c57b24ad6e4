#include "analyzer/graph/call_loops.hpp"

#include <catch2/catch.hpp>
#include <numeric>

using namespace snapdiff::graph;

namespace {

StackRuns stacks(std::initializer_list<std::vector<std::uint32_t>> runs) {
  StackRuns out;
  for (const auto& run : runs) {
    out.node.insert(out.node.end(), run.begin(), run.end());
    out.begin.push_back(out.node.size());
  }
  return out;
}

}  // namespace

TEST_CASE("recursion: a function that calls itself stays a node of its own") {
  const Recursion r = collapse_recursion(stacks({{0, 1, 1, 1, 2}}), 3);
  CHECK(r.nodes == 3);
  CHECK(r.direct == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(r.loop[0] != r.loop[1]);
}

TEST_CASE("recursion: functions that call each other in one stack become one node") {
  const Recursion r = collapse_recursion(stacks({{0, 1, 2, 1, 2, 3}}), 4);
  CHECK(r.nodes == 3);
  CHECK(r.loop[1] == r.loop[2]);
  CHECK(r.loop[0] != r.loop[1]);
  CHECK(r.loop[3] != r.loop[1]);
}

TEST_CASE("recursion: a cycle that only the merged graph has is none") {
  const Recursion r = collapse_recursion(stacks({{0, 1, 2}, {0, 2, 1}}), 3);
  CHECK(r.nodes == 3);
}

TEST_CASE("recursion: loops that share a function join, also over several stacks") {
  const Recursion r = collapse_recursion(stacks({{0, 1, 2, 1}, {0, 2, 3, 2}}), 4);
  CHECK(r.nodes == 2);
  CHECK(r.loop[1] == r.loop[2]);
  CHECK(r.loop[2] == r.loop[3]);
}

TEST_CASE("recursion: what repeats only after collapsing is collapsed too") {
  // {1, 2} is a loop by the first stack; the second one leaves it at 1, runs 3, comes back at 2.
  const Recursion r = collapse_recursion(stacks({{0, 1, 2, 1}, {0, 1, 3, 2}}), 4);
  CHECK(r.nodes == 2);
  CHECK(r.loop[3] == r.loop[1]);
}

TEST_CASE("recursion: a stack of a million frames that never repeats, and one that always does") {
  std::vector<std::uint32_t> once(1'000'000);
  std::iota(once.begin(), once.end(), 0U);
  std::vector<std::uint32_t> again(1'000'000);
  for (std::size_t i = 0; i < again.size(); ++i) again[i] = static_cast<std::uint32_t>(i % 1000);
  CHECK(collapse_recursion(stacks({once}), 1'000'000).nodes == 1'000'000);
  CHECK(collapse_recursion(stacks({once, again}), 1'000'000).nodes == 1'000'000 - 999);
}
