#include <catch2/catch.hpp>

#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

TEST_CASE("metric-log: CSV of nvidia-smi is a series of each GPU") {
  const std::vector<Snapshot> s = read_log(sample("nvidia-smi.csv"));
  REQUIRE(s.size() == 5);
  CHECK(s[0].facts.format_detail == "CSV");
  CHECK(steps(s, "memory_used{index=0}") == std::vector<std::int64_t>(4, 478 << 20));
  CHECK(counter(s[4], "memory_used{index=0}")->value == std::int64_t{3873} << 20);
  CHECK(s[1].facts.taken_at_ns.value_or(0) - s[0].facts.taken_at_ns.value_or(0) == 1'001'000'000);
}

TEST_CASE("metric-log: CSV of dotnet-counters counts MB of 10^6 bytes, rates are left out") {
  const std::vector<Snapshot> s = read_log(sample("dotnet-counters.csv"));
  REQUIRE(s.size() == 2);
  CHECK(counters(s[1]) == "Working Set=55100000 GC Heap Size=4250000");
  CHECK(s[1].facts.taken_at_ns.value_or(0) - s[0].facts.taken_at_ns.value_or(0) == 1'000'000'000);
}

TEST_CASE("metric-log: a table with a heading: units of the names, other columns are left out") {
  const std::vector<Snapshot> s = read_log(sample("own.csv"));
  REQUIRE(s.size() == 3);
  CHECK(counters(s[0]) == "rss=126353408 heap=1000000");  // 120.5 MiB
  CHECK(series(s, "heap") == std::vector<std::int64_t>{1'000'000, 2'000'000, 3'000'000});
}

TEST_CASE("metric-log: a share among the columns is left out") {
  const std::vector<Snapshot> s = read_log(
      "index, memory.used [MiB], utilization.gpu [%], utilization.memory [%]\n0, 5 MiB, 7 %, 3 %\n0, 6 MiB, 7 %, 3 "
      "%\n");
  REQUIRE(s.size() == 2);
  CHECK(counters(s[1]) == "memory_used{index=0}=6291456");
}

TEST_CASE("metric-log: sentences with commas are no heading of a table") {
  CHECK(formats::kMetricLog.sniff("memory, cpu, and disk\nmemory was fine, cpu, disk\n") == Match::no);
}
