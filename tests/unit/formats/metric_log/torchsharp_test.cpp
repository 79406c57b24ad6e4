#include <catch2/catch.hpp>

#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Values = std::vector<std::int64_t>;

namespace {

std::string line(int live, int created, int disposed = 0, int detached = 0) {
  return "ThreadTotalLiveCount: " + std::to_string(live) +
         "; CreatedOutsideScopeCount: 0; DisposedOutsideScopeCount: 0; CreatedInScopeCount: " +
         std::to_string(created) + "; DisposedInScopeCount: " + std::to_string(disposed) +
         "; AttachedToScopeCount: 0; DetachedFromScopeCount: " + std::to_string(detached);
}

}  // namespace

TEST_CASE("torchsharp: live and detached grow by 148 an epoch") {
  const auto snapshots = read_log(sample("constructed-loop.log"));
  REQUIRE(snapshots.size() == 4);
  CHECK(series(snapshots, "live{level=total}") == Values{148, 296, 444, 592});
  CHECK(steps(snapshots, "detached{level=total}") == Values{148, 148, 148});
  CHECK(steps(snapshots, "created_in{level=total}") == Values{350, 350, 350});
  CHECK(series(snapshots, "attached{level=total}") == Values{0, 0, 0, 0});
  CHECK(counter(snapshots[0], "live{level=total}")->unit == "count");
  CHECK_FALSE(counter(snapshots[0], "live{level=total}")->cumulative);
  CHECK(counter(snapshots[0], "created_in{level=total}")->cumulative);
  CHECK(snapshots[3].facts.comments == std::vector<std::string>{"step 3"});
  CHECK(snapshots[3].facts.producer == "TorchSharp");
  CHECK(noted(snapshots, "detached from their scope") == 1);
  CHECK(noted(snapshots, "outside of any scope") == 0);
  CHECK(noted(snapshots, "resets") == 0);
}

TEST_CASE("torchsharp: the documented lines, and their levels as one snapshot") {
  const auto snapshots = read_log(sample("public-docs-lines.txt"));
  REQUIRE(snapshots.size() == 4);
  CHECK(series(snapshots, "live{level=total}") == Values{548, 748, 948, 5});
  CHECK(counter(snapshots[3], "live{level=tensor}")->value == 4);
  CHECK(counter(snapshots[3], "live{level=packed}")->value == 1);
  CHECK(counter(snapshots[3], "detached{level=tensor}")->value == 4);
  CHECK(snapshots[3].facts.counters.size() == 21);
  CHECK(noted(snapshots, "each PackedSequence") == 1);
}

TEST_CASE("torchsharp: levels in either order make one snapshot, if they add up") {
  const std::string tensor = "TensorStatistics: ", packed = "PackedSequenceStatistics: ";
  std::string parts_first, total_first;
  for (int i = 1; i <= 3; ++i) {
    const std::string parts = tensor + line(4 * i, 6 * i) + "\n" + packed + line(i, i) + "\n";
    const std::string total = line(5 * i, 7 * i) + "\n";
    parts_first += parts + total;
    total_first += total + parts;
  }
  for (const std::string& log : {parts_first, total_first}) {
    const auto snapshots = read_log(log);
    REQUIRE(snapshots.size() == 3);
    CHECK(series(snapshots, "live{level=total}") == Values{5, 10, 15});
    for (const Snapshot& snapshot : snapshots) CHECK(snapshot.facts.counters.size() == 21);
  }
  const auto apart = read_log(tensor + line(4, 6) + "\n" + packed + line(1, 1) + "\n" + line(9, 7) + "\n");
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].facts.counters.size() == 14);
  CHECK(noted(apart, "do not add up") == 1);
}

TEST_CASE("torchsharp: a thread in the prefix is a tag") {
  const auto snapshots = read_log("[thread 3] " + line(1, 1) + "\n[thread 12] " + line(5, 5) + "\n[thread 3] " +
                                  line(2, 2) + "\n[thread 12] " + line(6, 6) + "\n");
  REQUIRE(snapshots.size() == 2);
  CHECK(series(snapshots, "live{level=total,thread=3}") == Values{1, 2});
  CHECK(series(snapshots, "live{level=total,thread=12}") == Values{5, 6});
}

TEST_CASE("torchsharp: --group-by tells threads apart where the log has its own way") {
  formats::ReadRequest options;
  options.group_by = "worker<(\\w+)>";
  const auto snapshots = read_log("worker<a> " + line(1, 1) + "\nworker<b> " + line(5, 5) + "\n", options);
  REQUIRE(snapshots.size() == 1);
  CHECK(series(snapshots, "live{level=total,thread=a}") == Values{1});
  CHECK(series(snapshots, "live{level=total,thread=b}") == Values{5});
}

TEST_CASE("torchsharp: counters that go down are resets, counted once a line") {
  const auto snapshots = read_log(line(5, 100, 50) + "\n" + line(6, 200, 90) + "\n" + line(-3, 10, 5) + "\n" +
                                  line(-2, 20, 10) + "\n" + line(1, 4, 1) + "\n");
  CHECK(series(snapshots, "live{level=total}") == Values{5, 6, -3, -2, 1});
  CHECK(noted(snapshots, "resets") == 2);
}

TEST_CASE("torchsharp: counts that start anew each time are told") {
  std::string log;
  for (int i = 1; i < 6; ++i) log += line(200 * i, 200, 2, 200) + "\n";
  CHECK(noted(read_log(log), "start again with each line") == 1);
}

TEST_CASE("torchsharp: values that are no integers, or twice, cost the line") {
  const std::string good = line(1, 1) + "\n";
  std::string bad = line(7, 7);
  bad.replace(bad.find("7"), 1, "7.5");
  auto snapshots = read_log(good + bad + "\n" + good);
  CHECK(series(snapshots, "live{level=total}") == Values{1, 1});
  CHECK(noted(snapshots, "no integer") == 1);
  snapshots = read_log(good + line(7, 7) + "; ThreadTotalLiveCount: 8\n" + good);
  CHECK(series(snapshots, "live{level=total}") == Values{1, 1});
  CHECK(noted(snapshots, "twice") == 1);
}

TEST_CASE("torchsharp: single properties as people print them") {
  CHECK(counters(read_log("stats: ThreadTotalLiveCount = 12\n")[0]) == "live{level=total}=12");
  CHECK(counters(read_log("CreatedInScopeCount: 3, DisposedInScopeCount: 2\n")[0]) ==
        "created_in{level=total}=3 disposed_in{level=total}=2");
  CHECK(log_error("CreatedInScopeCount: 3\n").code == ErrorCode::malformed);
}
