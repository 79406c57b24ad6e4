#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& table() { return formats::kProcessTable; }
using Rows = std::map<std::string, std::string>;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

}  // namespace

TEST_CASE("process-table: ps aux in a loop is a series with times, a row for each command") {
  const std::vector<Snapshot> s = read_data("process_table/psaux.txt");
  REQUIRE(s.size() == 3);
  CHECK(rows(s[0]) == Rows{{"python3 leak.py 14 {type=python3 leak.py 14}", "16920576 19963904 1"}});
  CHECK(s[0].facts.default_metric == "rss");
  CHECK(total(s[2], "rss") > total(s[0], "rss") + 5'000'000);
  CHECK(s[1].facts.taken_at_ns.value_or(0) > s[0].facts.taken_at_ns.value_or(0));
  check_disguises(table(), test_data("process_table/psaux.txt"));
  check_line_cuts(table(), test_data("process_table/psaux.txt"));
}

TEST_CASE("process-table: pidstat without headings between its lines, its average is left out") {
  const std::vector<Snapshot> s = read_data("process_table/pidstat.txt");
  REQUIRE(s.size() == 5);
  CHECK(total(s[0], "rss") == 19308 * 1024);
  CHECK(total(s[0], "virtual_size") == 22428 * 1024);
}

TEST_CASE("process-table: top has the machine beside the processes") {
  const std::vector<Snapshot> s = read_data("process_table/top.txt");
  REQUIRE(s.size() == 4);
  CHECK(total(s[0], "rss") == 16524 * 1024);
  CHECK(counter(s[0], "mem.total") == 25276553626);  // 24105.6 MiB
  CHECK(total(read_one(table(),
                       "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
                       "    1 root      20   0    1.2g   512m   100 S   0.0   0.0   0:01.00 java\n"),
              "rss") == 512 * kMiB);
}

TEST_CASE("process-table: free in KiB, with suffixes, and in a unit that it does not tell") {
  const Snapshot kib = read_one(table(), test_data("process_table/free.txt"));
  CHECK(counter(kib, "mem.used") == std::int64_t{2584612} * 1024);
  CHECK(counter(kib, "swap.total") == 0);
  const Snapshot human = read_one(table(), test_data("process_table/free-h.txt"));
  CHECK(counter(human, "mem.total") == 23 * 1024 * kMiB);
  const Snapshot unknown = read_one(table(), test_data("process_table/free-m.txt"));
  CHECK(counter(unknown, "mem.used") == 2516);
  for (const Counter& one : unknown.facts.counters) CHECK(one.unit.empty());
}

TEST_CASE("process-table: psrecord, nvidia-smi, docker stats and kubectl top") {
  const std::vector<Snapshot> record = read_data("process_table/psrecord.txt");
  REQUIRE(record.size() == 12);
  CHECK(counter(record[0], "rss") == 16920871);  // 16.137 MiB
  const std::vector<Snapshot> gpu = read_data("process_table/nvidia-smi.txt");
  REQUIRE(gpu.size() == 2);
  CHECK(rows(gpu[0]) == Rows{{"python3 {type=python3}", std::to_string(1952 * kMiB) + " 1"}});
  CHECK(counter(gpu[1], "memory.used{gpu=0}") == 3873 * kMiB);
  CHECK(counter(gpu[1], "memory.total{gpu=0}") == 81559 * kMiB);
  const std::vector<Snapshot> docker = read_data("process_table/docker-stats.txt");
  REQUIRE(docker.size() == 2);
  CHECK(total(docker[1], "memory") - total(docker[0], "memory") == 256 * kMiB);
  const Snapshot pods = read_data_of("process_table/kubectl-top.txt", table());
  CHECK(rows(pods).at("shop/db-0 {type=shop/db-0}") == std::to_string(1024 * kMiB) + " 1");
}

TEST_CASE("process-table: vmstat is a series of counters, smem has its command in front of numbers") {
  const std::string heading =
      "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
      " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
  const std::string row = " 1  0      4 812345  12345 456789    0    0     1     2   50   60  1  1 98  0  0\n";
  const std::vector<Snapshot> s = read_ok(table(), heading + row + heading + row);
  REQUIRE(s.size() == 2);
  CHECK(counter(s[1], "mem.free") == 812345 * 1024);
  CHECK(counter(s[1], "mem.cache") == 456789 * 1024);
  CHECK(counter(s[1], "swap.used") == 4 * 1024);
  const std::vector<Snapshot> one =
      read_ok(table(),
              "  PID User     Command                         Swap      USS      PSS      RSS\n"
              " 1234 app      python worker.py  -n 3             8   120345   123456   130000\n");
  REQUIRE(one.size() == 1);
  CHECK(rows(one[0]).at("python worker.py  -n 3 {type=python worker.py  -n 3}").starts_with("133120000 "));
}

TEST_CASE("process-table: jstat -gc adds the spaces of a heap up, and repeats its heading") {
  const std::vector<Snapshot> s = read_data("process_table/jstat-gc.txt");
  REQUIRE(s.size() == 14);
  CHECK(counter(s[1], "heap_used") == (20480 + 51200 + 456605) * 1024 / 10);
  CHECK(counter(s[1], "heap_committed") == (2048 + 11264 + 248832) * 1024);
  CHECK(counter(s[13], "old_space_used") == 892335 * 1024 / 10);
  CHECK(counter(s[13], "metaspace_used") == 78029);  // 76.2 KiB
  CHECK(read_data("process_table/jstat-gc-t.txt").size() == 3);
  const Snapshot z =
      read_one(table(),
               "    S0C    S1C    S0U    S1U   EC     EU      OC       OU      MC     MU    YGC     YGCT\n"
               "      -      -      -      -    -      -  24576.0   2048.0  960.0  879.1      -        -\n");
  CHECK(counter(z, "heap_used") == 2048 * 1024);
  check_line_cuts(table(), test_data("process_table/jstat-gc.txt"));
}

TEST_CASE("process-table: a GPU of an older driver, two GPUs, no process") {
  const std::string text =
      "| NVIDIA-SMI 418.67       Driver Version: 410.79       CUDA Version: 10.0     |\n"
      "|   0  Tesla T4            Off  | 00000000:00:04.0 Off |                    0 |\n"
      "| N/A   60C    P8    17W /  70W |     10MiB / 15079MiB |      0%      Default |\n"
      "|   1  Tesla T4            Off  | 00000000:00:05.0 Off |                    0 |\n"
      "| N/A   60C    P8    17W /  70W |  11000MiB / 15079MiB |      0%      Default |\n"
      "|    1     12345      C   /usr/bin/python3                           10990MiB |\n";
  const Snapshot s = read_one(table(), text);
  CHECK(counter(s, "memory.used{gpu=1}") == 11000 * kMiB);
  CHECK(total(s, "memory") == 10990 * kMiB);
}

TEST_CASE("process-table: other tables are none") {
  CHECK(table().sniff("PID TTY          TIME CMD\n 1234 pts/0    00:00:00 bash\n") == Match::no);
  CHECK(table().sniff("RSS of the service grows\n1 2 3 4 5\n") == Match::no);
  CHECK(table().sniff("  PID   RSS COMMAND\n no row below it\n") == Match::no);
  CHECK(read_error(table(), "  PID   RSS COMMAND\n").find("no table") != std::string::npos);
}
