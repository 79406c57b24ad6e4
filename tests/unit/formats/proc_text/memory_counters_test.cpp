#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& memory() { return formats::kProcMemory; }

std::string unit_of(const Snapshot& snapshot, std::string_view name) {
  for (const Counter& one : snapshot.facts.counters) {
    if (one.name == name) return one.unit + (one.cumulative ? " +" : "");
  }
  return "";
}

}  // namespace

TEST_CASE("proc-memory: status gives its Vm and Rss lines, the process and its name") {
  const Snapshot s = read_one(memory(), test_data("proc_text/status.1"));
  CHECK(counter(s, "VmRSS") == 4140 * 1024);
  CHECK(counter(s, "RssAnon") == 1000 * 1024);
  CHECK(counter(s, "RssAnon").value() + counter(s, "RssFile").value() + counter(s, "RssShmem").value() ==
        counter(s, "VmRSS"));
  CHECK(counter(s, "Threads") == 1);
  CHECK(s.facts.pid == 4095);
  CHECK(s.facts.command_line == "glibc");
  CHECK(s.facts.format_detail == "status");
  CHECK_FALSE(counter(s, "FDSize"));
  // smaps_rollup of the same moment.
  const Snapshot rollup = read_one(formats::kProcSmaps, test_data("proc_text/smaps_rollup.1"));
  CHECK(counter(rollup, "rss") == counter(s, "VmRSS"));
  CHECK(counter(rollup, "anonymous") == counter(s, "RssAnon"));
}

TEST_CASE("proc-memory: copies of status in one text are a series") {
  const std::string text =
      test_data("proc_text/status.1") + test_data("proc_text/status.3") + test_data("proc_text/status.8");
  const std::vector<Snapshot> series = read_ok(memory(), text);
  REQUIRE(series.size() == 3);
  CHECK(counter(series[2], "VmRSS") == 5332 * 1024);
  check_disguises(memory(), text);
}

TEST_CASE("proc-memory: statm counts pages") {
  const Snapshot s = read_one(memory(), test_data("proc_text/statm.1"));
  CHECK(counter(s, "resident") == 1035);
  CHECK(unit_of(s, "resident") == "pages");
  CHECK(memory().sniff(test_data("proc_text/statm.1")) == Match::possible);
  CHECK(memory().sniff("1614 1035 785 3 0 295 1\n") == Match::no);
}

TEST_CASE("proc-memory: meminfo gives bytes, and counts of huge pages") {
  const Snapshot s = read_one(memory(), test_data("proc_text/meminfo.1"));
  CHECK(counter(s, "MemTotal") == std::int64_t{24684096} * 1024);
  CHECK(unit_of(s, "HugePages_Total") == "count");
  CHECK(counter(s, "Active(anon)").has_value());
  CHECK(s.facts.format_detail == "meminfo");
}

TEST_CASE("proc-memory: memory.stat of both versions gives levels in bytes and events that count up") {
  const Snapshot v1 = read_one(memory(), test_data("proc_text/memory.stat.v1"));
  CHECK(unit_of(v1, "total_rss") == "bytes");
  CHECK(unit_of(v1, "total_pgfault") == "count +");
  CHECK_FALSE(counter(v1, "hierarchical_memory_limit"));  // 2^63-1, cut to a page: there is none
  const Snapshot v2 =
      read_one(memory(),
               "anon 126976\nfile 4096\nkernel 8192\ninactive_anon 126976\nactive_anon 0\ninactive_file 4096\n"
               "active_file 0\nslab 5000\nworkingset_refault_anon 0\npgfault 1492758\nsome_new_line 5\n");
  CHECK(counter(v2, "anon") == 126976);
  CHECK(unit_of(v2, "pgfault") == "count +");
  CHECK_FALSE(counter(v2, "some_new_line"));
}

TEST_CASE("proc-memory: a number that may be cut is left out, text without counters is refused") {
  const Snapshot cut = read_one(memory(), "Name:\ta\nVmSize:\t  12 kB\nVmRSS:\t  1");
  CHECK(cut.facts.partial);
  CHECK_FALSE(counter(cut, "VmRSS"));
  CHECK(read_error(memory(), "nothing\n").find("VmRSS:") != std::string::npos);
  check_cuts(memory(), test_data("proc_text/status.1"), 13);
}

TEST_CASE("proc-memory: a log of VmRSS lines stays a metric log") {
  CHECK(memory().sniff("VmRSS:\t   12 kB\nVmRSS:\t   13 kB\n") == Match::no);
}

TEST_CASE("proc-memory: more moments than can be held are refused") {
  std::string text;
  for (int i = 0; i < 65'537; ++i) text += "VmRSS:\t1 kB\n";
  CHECK(read_error(memory(), text).find("more than 65536 reports") != std::string::npos);
}
