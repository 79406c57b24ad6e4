#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& memleak() { return formats::kBccMemleak; }

using Rows = std::map<std::string, std::string>;

const std::string kReport =
    "Attaching to pid 5193, Ctrl+C to quit.\n[11:16:33] Top 2 stacks with outstanding allocations:\n"
    "\taddr = 948cd0 size = 16\n\t16 bytes in 1 allocations from stack\n\t\tsmall+0x1 [allocs]\n"
    "\t80 bytes in 5 allocations from stack\n\t\tmain+0x6d [allocs]\n\t\t__libc_start_main+0xf0 [libc-2.21.so]\n\n";

}  // namespace

TEST_CASE("bcc-memleak: the tool's own page of examples is eight reports in prose") {
  const auto sample = tracker_sample("bcc/public-memleak_example.txt");
  if (!sample) return;
  const std::vector<Snapshot> series = read_ok(memleak(), *sample);
  REQUIRE(series.size() == 8);
  const std::string stack = "main < __libc_start_main";
  const char* const values[] = {"5 80", "10 160", "4 64", "10 160", "1 16", "1 16", "2 32"};
  for (std::size_t i = 0; i < 7; ++i) {
    CAPTURE(i);
    CHECK(rows(series[i]) == Rows{{stack, values[i]}});
    CHECK_FALSE(series[i].facts.complete);
    CHECK_FALSE(series[i].facts.partial);
  }
  CHECK(series[0].facts.pid == 5193);
  CHECK(series[4].facts.pid == 2614);
  CHECK(rows(series[7]) ==
        Rows{{"zmalloc < serverCron < processTimeEvents < aeMain < main < __libc_start_call_main", "45 45"}});
  CHECK(series[7].facts.pid == 2623);
  CHECK(has_note(series[7], "rows outside a report"));
  CHECK(series[1].facts.comments == std::vector<std::string>{"time of day 11:16:34"});
}

TEST_CASE("bcc-memleak: modules are kept, offsets in functions are not") {
  const Snapshot s = read_one(memleak(), kReport);
  CHECK(rows(s) == Rows{{"small", "1 16"}, {"main < __libc_start_main", "5 80"}});
  const Dictionary& d = *s.dictionary;
  const FrameId leaf = d.stacks.frames(s.samples.stack[0])[0];
  CHECK(d.strings[d.modules.name[index_of(d.frames.module[index_of(leaf)])]] == "allocs");
}

TEST_CASE("bcc-memleak: frames of the libbpf tool, unknown and lost ones") {
  const Snapshot s = read_one(
      memleak(),
      "[1:2:3] Top 3 stacks with outstanding allocations:\n40 bytes in 2 allocations from stack\n"
      "\t0 [<000055e1b2a3f1b5>] operator new(unsigned long)+0x2d /src/a b.cc:12\n\t1 [<000055e1b2a3f1b6>] <null sym>\n"
      "\t2 [<1f>] main+0x3\n8 bytes in 1 allocations from stack\n\t\t[unknown] [libx.so]\n\t\t0x00007fdf [unknown]\n"
      "4 bytes in 1 allocations from stack\n\t\tstack information lost\n");
  CHECK(rows(s) == Rows{{"operator new(unsigned long)@/src/a b.cc:12 < 0x55e1b2a3f1b6 < main", "2 40"},
                        {"[unknown in libx.so] < 0x7fdf", "1 8"},
                        {"[no stack recorded]", "1 4"}});
}

TEST_CASE("bcc-memleak: an empty report is a snapshot") {
  const Snapshot s = read_one(memleak(), "[11:16:33] Top 10 stacks with outstanding allocations:\n");
  CHECK(s.samples.size() == 0);
  CHECK_FALSE(s.facts.complete);
}

TEST_CASE("bcc-memleak: numbers beyond 2^63-1 are left out and said") {
  const Snapshot s =
      read_one(memleak(), kReport + "\t9223372036854775808 bytes in 1 allocations from stack\n\t\tbig+0x1 [a]\n");
  CHECK(s.facts.partial);
  CHECK(has_note(s, "beyond 2^63-1"));
  CHECK(total(s, "inuse_space") == 96);
}

TEST_CASE("bcc-memleak: a log without a report is refused") {
  CHECK(read_error(memleak(), "\t80 bytes in 5 allocations from stack\n").find("no report: the input ends") !=
        std::string::npos);
}

TEST_CASE("bcc-memleak: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_cuts(memleak(), kReport + kReport, 1);
  check_disguises(memleak(), kReport + kReport);
  const std::string colours = "\x1b[32m" + kReport + "\x1b[0m";
  CHECK(describe(read_one(memleak(), colours)) == describe(read_one(memleak(), kReport)));
}
