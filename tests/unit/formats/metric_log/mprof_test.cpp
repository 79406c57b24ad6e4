#include <algorithm>
#include <catch2/catch.hpp>

#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Values = std::vector<std::int64_t>;

namespace {

constexpr double kMiB = 1048576.0;

bool in_order(const std::vector<Snapshot>& snapshots) {
  return std::is_sorted(snapshots.begin(), snapshots.end(),
                        [](const Snapshot& a, const Snapshot& b) { return a.facts.taken_at_ns < b.facts.taken_at_ns; });
}

}  // namespace

TEST_CASE("mprof: functions before CMDLINE stand at their time among the samples") {
  const auto snapshots = read_log(sample("plain.dat"));
  CHECK(snapshots.size() == 8 + 26 - 1);
  CHECK(in_order(snapshots));
  CHECK(snapshots.front().facts.command_line == "/usr/bin/python3 mprof_leak.py");
  CHECK(snapshots.front().facts.taken_at_ns == 1795234043248900000);
  CHECK(noted(snapshots, "bare launcher") == 1);
  CHECK(series(snapshots, "calls{function=__main__.epoch}") == Values{1, 2, 3, 4});
  // +8 MiB a call; what validate held for a while is not given back before the next call.
  const Values grown = series(snapshots, "increment{function=__main__.epoch}");
  REQUIRE(grown.size() == 4);
  CHECK(static_cast<double>(grown[0]) / kMiB == Approx(8.0).margin(0.05));
  CHECK(static_cast<double>(grown[1]) / kMiB == Approx(8.0).margin(0.05));
  const Values ends = series(snapshots, "memory_at_end{function=__main__.epoch}");
  CHECK(static_cast<double>(ends[3] - ends[2]) / kMiB == Approx(8.0).margin(0.01));
  const Values memory = series(snapshots, "memory");
  REQUIRE(memory.size() == 25);
  CHECK(memory.front() == 31236095);  // 29.789062 MiB
  CHECK(static_cast<double>(memory.back() - memory.front()) / kMiB == Approx(39.97).margin(0.01));
  CHECK(snapshots.back().facts.producer == "memory_profiler");
}

TEST_CASE("mprof: children stand beside their parent until they end") {
  const auto snapshots = read_log(sample("multiprocess.dat"));
  CHECK(in_order(snapshots));
  CHECK(series(snapshots, "memory").size() == 25 - 1);
  const Values child = series(snapshots, "memory{child=14541}");
  CHECK(child == Values(19, 15294465));  // 14.585938 MiB, rounded
  CHECK(noted(snapshots, "had ended") == 5);
}

TEST_CASE("mprof: a process that has ended holds no memory, which is no sample") {
  const auto snapshots = read_log(
      "CMDLINE ./job\nMEM 12.5 1700000000.1\nMEM 400.25 1700000000.2\nMEM 808.5 1700000000.3\n"
      "MEM 0.000000 1700000000.4\n");
  CHECK(series(snapshots, "memory") == Values{419692544, 847773696});
  CHECK(noted(snapshots, "had ended") == 1);
  CHECK(series(read_log("MEM 1.5 1700000000.1\nMEM 0.0 1700000000.2\n"), "memory") == Values{1572864});
}

TEST_CASE("mprof: a file appended to is one series for each run") {
  const auto snapshots = read_log(sample("plain.dat") + sample("include-children.dat"));
  CHECK(in_order(snapshots));
  CHECK(series(snapshots, "memory{run=1}").size() == 25);
  CHECK(series(snapshots, "memory{run=2}").size() == 24);
  CHECK(series(snapshots, "calls{function=__main__.epoch,run=1}") == Values{1, 2, 3, 4});
  CHECK(snapshots.back().facts.command_line == "/usr/bin/python3 mprof_leak.py --child");
}

TEST_CASE("mprof: empty, unknown, short and half lines") {
  const std::string log =
      "CMDLINE x\nMEM 20.000000 1795234043.1000\n\nMEM 21.000000 1795234043.2000\nNOISE 1 2\n"
      "FUNC f 1.0 1795234043.1 2.0\nMEM x 1795234043.3000\nMEM 22.000000 1795234043.4000\nMEM 23.000000 17952340";
  const auto snapshots = read_log(log);
  CHECK(series(snapshots, "memory") == Values{20971520, 22020096, 23068672});
  CHECK(noted(snapshots, "empty lines") == 1);
  CHECK(noted(snapshots, "values missing") == 2);
  CHECK(noted(snapshots, "may be cut") == 1);
  CHECK(snapshots.back().facts.partial);
}
