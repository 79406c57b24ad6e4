#include "analyzer/base/parallel.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace snapdiff;

TEST_CASE("parallel: each index once, with threads and without") {
  const std::size_t stacks = GENERATE(std::size_t{0}, kParallelStacks);
  std::vector<std::atomic<int>> calls(1000);
  for_each_parallel(calls.size(), stacks, [&](std::size_t i) { ++calls[i]; });
  for (const std::atomic<int>& count : calls) REQUIRE(count == 1);
  for_each_parallel(0, stacks, [](std::size_t) { FAIL(); });
}

TEST_CASE("parallel: an exception of any thread comes out after all have ended") {
  std::atomic<int> working{0};
  const auto run = [&] {
    for_each_parallel(64, kParallelStacks, [&](std::size_t i) {
      if (i == 0) throw std::runtime_error("first");
      ++working;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --working;
    });
  };
  CHECK_THROWS_WITH(run(), "first");
  CHECK(working == 0);
}
