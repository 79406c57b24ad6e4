#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& oom() { return formats::kKernelOom; }
using Rows = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("kernel-oom: a cgroup's report gives its tasks, the killed one and the limit") {
  const std::string text = test_data("proc_text/oom-cgroup.txt");
  const Snapshot s = read_one(oom(), text);
  CHECK(rows(s) == Rows{{"pause {type=pause}", "4096 0 991232 1"},
                        {"npm start {type=npm start}", "121253888 0 925802496 1"},
                        {"node {type=node}", "565268480 8192 22890225664 2"}});
  CHECK(s.facts.default_metric == "rss");
  CHECK(counter(s, "memory.usage") == 716800 * 1024);
  CHECK(counter(s, "memory.limit") == 716800 * 1024);
  CHECK(has_note(s, "the kernel killed node (pid 19388), 539 MiB resident"));
  CHECK(has_note(s, "the cgroup's limit is 700 MiB"));
  CHECK_FALSE(s.facts.partial);
  check_disguises(oom(), text);
}

TEST_CASE("kernel-oom: a report of the whole machine with resident bytes by kind, two reports are a series") {
  const std::string text = test_data("proc_text/oom-machine.txt");
  const Snapshot s = read_one(oom(), text);
  CHECK(total(s, "rss") == std::int64_t{288 + 153345} * 4096);
  CHECK(s.facts.taken_at_ns.has_value());
  CHECK(read_ok(oom(), text + text).size() == 2);
}

TEST_CASE("kernel-oom: the size of a page follows from the killed task") {
  const std::string text =
      "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
      "[    149]     0   149      486      288    36864        0             0 ash\n"
      "Out of memory: Killed process 149 (ash) total-vm:31104kB, anon-rss:18000kB, file-rss:432kB, shmem-rss:0kB\n";
  CHECK(total(read_one(oom(), text), "rss") == 288 * 65536);
}

TEST_CASE("kernel-oom: a report that is cut says so, one without its table is refused by name") {
  const std::string text = test_data("proc_text/oom-cgroup.txt");
  CHECK(read_one(oom(), text.substr(0, text.find("Memory cgroup out of memory"))).facts.partial);
  check_cuts(oom(), text, 11);
  const auto read = formats::read_bytes("[1.5] java invoked oom-killer: gfp_mask=0xd0, order=0\n", "dmesg", {});
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("oom_dump_tasks") != std::string::npos);
}

TEST_CASE("kernel-oom: bytes beyond 64 bits are refused") {
  const std::string heading = "[ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name\n";
  CHECK(read_error(oom(), heading + "[ 1] 0 1 9223372036854775807 1 1 0 0 a\n").find("beyond 2^63-1") !=
        std::string::npos);
}
