#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/registry.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const std::string kReport =
    "MEMORY LEAKS\n"
    "1.00K leaked over 10 calls from\n"
    "make(int)\n"
    "  at /srv/app/make.cpp:9\n"
    "  in /srv/app/svc\n"
    "0x7f9d1a8a57b9\n"
    "  in /lib/libbase.so\n"
    "600B leaked over 4 calls from:\n"
    "    first\n"
    "      at /srv/app/svc.cpp:1\n"
    "      in /srv/app/svc\n"
    "300B leaked over 4 calls from:\n"
    "    second\n"
    "      at /srv/app/svc.cpp:2\n"
    "  and 100B from 2 other places\n"
    "\n"
    "total runtime: 1.00s.\n"
    "total memory leaked: 1.50K\n";

const std::string kBlock = "alloc_block(unsigned long)@/srv/app/native_leak.cpp:9";

std::string in_main(const std::string& function, int line) {
  return " < " + function + "@/srv/app/native_leak.cpp:" + std::to_string(line) + " < main@/srv/app/native_leak.cpp:16";
}

const formats::Format& print() { return formats::kHeaptrackPrint; }

using Rows = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("heaptrack-print: the leaks of a printed recording, with the totals of its program") {
  const Snapshot s = read_data_of("heaptrack/native_leak-steps6-leaks.txt", print());
  CHECK(s.facts.format_detail == "printed leaks");
  CHECK(s.facts.command_line == "./native_leak 6");
  CHECK(counter(s, "peak") == 868'870);
  CHECK(rows(s) ==
        Rows{{kBlock + in_main("leak_cache()", 10), "720000 5"}, {kBlock + in_main("leak_strings()", 11), "38400 5"}});
}

TEST_CASE("heaptrack-print: without leaks the peak is read, and what is not listed has no caller") {
  const Snapshot s = read_data_of("heaptrack/native_leak-steps6-default.txt", print());
  CHECK(s.facts.format_detail == "printed, at the peak");
  const Rows found = rows(s);
  CHECK(found.at(kBlock + in_main("leak_cache()", 10)) == "720000 5");
  CHECK(found.at("[below threshold]") == "38400 10");
  // "peak heap memory consumption: 868.87K"
  CHECK(total(s, "inuse_space") == 868'870);
}

TEST_CASE("heaptrack-print: parts, what they leave over, and the rest up to the total") {
  CHECK(rows(read_one(print(), kReport)) ==
        Rows{{"make(int)@/srv/app/make.cpp:9 < [unknown in libbase.so] < first@/srv/app/svc.cpp:1", "600 0"},
             {"make(int)@/srv/app/make.cpp:9 < [unknown in libbase.so] < second@/srv/app/svc.cpp:2", "300 0"},

             {"[below threshold]", "600 15"}});
}

TEST_CASE("heaptrack-print: stacks that are not merged, without totals") {
  const std::string text =
      "PEAK MEMORY CONSUMERS\n2.5M peak memory consumed over 7 calls from\n  grow()\n    at a.cpp:3\n  main\n"
      "    at a.cpp:9\n\n";
  CHECK(rows(read_one(print(), text)) == Rows{{"grow()@a.cpp:3 < main@a.cpp:9", "2500000 50000"}});
}

TEST_CASE("heaptrack-print: known by its list of calls, however long that is") {
  std::string text = "MOST CALLS TO ALLOCATION FUNCTIONS\n";
  for (int i = 0; i < 2000; ++i) text += "9 calls to allocation functions with 1.00K peak consumption from\nf()\n\n";
  const Result<std::vector<Snapshot>> read = formats::read_bytes(text + "\n" + kReport, "input", {});
  REQUIRE(read);
  CHECK(total(read->front(), "inuse_space") == 1500);
}

TEST_CASE("heaptrack-print: units as version 1.0 wrote them") {
  const std::string text = "MEMORY LEAKS\n1.20MB leaked over 7 calls from\ngrow()\n\ntotal memory leaked: 1.20MB\n";
  CHECK(rows(read_one(print(), text)) == Rows{{"grow()", "1200000 5000"}});
}

TEST_CASE("heaptrack-print: disguises, several reports, cuts") {
  check_disguises(print(), kReport);
  CHECK(read_ok(print(), kReport + kReport).size() == 2);
  check_cuts(print(), kReport + kReport, 1);
}

TEST_CASE("heaptrack-print: differences, and sums that do not fit, are refused") {
  CHECK(contains(read_error(print(), "reading diff file \"a.zst\" - please wait\n" + kReport), "expected what"));
  std::string many = "MEMORY LEAKS\n";
  for (int i = 0; i < 2; ++i) many += "9000.00P leaked over 1 calls from\nf" + std::to_string(i) + "\n\n";
  CHECK(contains(read_error(print(), many), "2^63-1"));
}
