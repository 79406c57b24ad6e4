#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& listing() { return formats::kLeakListing; }
using Rows = std::map<std::string, std::string>;

/// All that a list holds is in use and lost.
std::string twice(const std::string& values) { return values + " " + values; }

}  // namespace

TEST_CASE("leak-listing: kmemleak's objects by their stacks, an object that is listed again begins the next moment") {
  const std::string text = test_data("leak_reports/kmemleak.txt");
  const Snapshot s = read_one(listing(), text);
  CHECK(rows(s) ==
        Rows{{"kmem_cache_alloc_trace < table_init < driver_mount {kind=unreferenced}", twice("1 64")},
             {"__vmalloc_node_range@mm/vmalloc.c:2585 < __vmalloc_node@mm/vmalloc.c:2617 < vmalloc < driver_mount "
              "{kind=unreferenced}",
              twice("1 65536")}});
  CHECK(s.facts.producer == "kmemleak");
  CHECK(read_ok(listing(), text + text).size() == 2);
  check_disguises(listing(), text);
  check_line_cuts(listing(), text);
}

TEST_CASE("leak-listing: macOS leaks: each node has its own bytes, the sum is the one that the report says") {
  const std::string text = test_data("leak_reports/macos-leaks.txt");
  const Snapshot s = read_one(listing(), text);
  CHECK(rows(s) == Rows{{"_malloc_zone_malloc_instrumented_or_legacy < make_row@demo.c:5 < main@demo.c:11 < start "
                         "{kind=kept by a leak}",
                         twice("1 96")},
                        {"_malloc_zone_malloc_instrumented_or_legacy < make_row@demo.c:5 < main@demo.c:11 < start "
                         "{kind=root leak}",
                         twice("1 96")},
                        {"operator new(unsigned long) < main@demo.c:14 {kind=root leak}", twice("2 160")}});
  CHECK(s.facts.complete);
  check_cuts(listing(), text, 1);
  check_disguises(listing(), text);
  const Snapshot old = read_data_of("leak_reports/macos-leaks-2.txt", listing());
  // A pasted report has no end of its last line.
  const Snapshot pasted = read_one(listing(), text.substr(0, text.rfind(']') + 1));
  CHECK(rows(pasted) == rows(s));
  CHECK_FALSE(pasted.facts.partial);
  CHECK(rows(old) == Rows{{"main@AppDelegate.swift:12 < start {kind=root leak}", twice("1 64")},
                          {"NSObject {kind=root leak}", twice("1 32")}});
}

TEST_CASE("leak-listing: Visual Leak Detector with counted duplicates") {
  const std::string text = test_data("leak_reports/vld.txt");
  const Snapshot s = read_one(listing(), text);
  CHECK(total(s, "inuse_space") == 84);
  CHECK(total(s, "inuse_objects") == 3);
  CHECK(rows(s).at("f@d:\\test\\main.cpp:7 < RegisterWaitForInputIdle {kind=not freed}") == twice("1 4"));
  CHECK(s.facts.complete);
  check_cuts(listing(), text, 1);
  check_disguises(listing(), text);
}

TEST_CASE("leak-listing: blocks of the CRT, on one line or two, with and without a place") {
  const std::string text = test_data("leak_reports/crt.txt");
  CHECK(rows(read_one(listing(), text)) == Rows{{"leaky.cpp@c:\\leaky\\leaky.cpp:15 {kind=normal}", twice("1 4")},
                                                {"leaky.cpp@c:\\leaky\\leaky.cpp:33 {kind=normal}", twice("1 4")},
                                                {"[no stack recorded] {kind=client}", twice("1 64")}});
  check_cuts(listing(), text, 1);
  check_disguises(listing(), text);
}

TEST_CASE("leak-listing: gperftools' heap checker adds up to what it says") {
  const std::string text = test_data("leak_reports/heap-checker.txt");
  const Snapshot s = read_one(listing(), text);
  CHECK(total(s, "inuse_space") == 5568);
  CHECK(total(s, "inuse_objects") == 14);
  CHECK(s.samples.size() == 3);
  CHECK(s.facts.complete);
  check_cuts(listing(), text, 1);
  check_disguises(listing(), text);
}

TEST_CASE("leak-listing: the log of mtrace says what its report says") {
  const Snapshot log = read_data_of("leak_reports/mtrace.log.gz", listing());
  const Snapshot report = read_data_of("leak_reports/mtrace.report.txt.gz", listing());
  CHECK(total(log, "inuse_space") == total(report, "inuse_space"));
  CHECK(total(log, "inuse_objects") == total(report, "inuse_objects"));
  const std::string text =
      "= Start\n@ ./a:(f+0x1b)[0x11] + 0x10 0x8\n@ ./a:[0x12] + 0x20 0x10\n@ ./a:[0x12] - 0x20\n"
      "@ ./a:[0x13] < 0x10\n@ ./a:[0x13] > 0x30 0x40\n= End\n";
  CHECK(rows(read_one(listing(), text)) == Rows{{"a+0x13 {kind=not freed}", twice("1 64")}});
  check_line_cuts(listing(), text);
}

TEST_CASE("leak-listing: other text is none") {
  CHECK(listing().sniff("unreferenced object 0x, (size 64)\nno leaks\n") == Match::no);
  CHECK(read_error(listing(), "nothing\n").find("no report") != std::string::npos);
}

TEST_CASE("umdh: a difference is two moments, leaf first, in the base in which it agrees") {
  const std::string text = test_data("leak_reports/umdh.txt");
  const std::vector<Snapshot> both = read_ok(formats::kUmdh, text);
  REQUIRE(both.size() == 2);
  CHECK(total(both[0], "inuse_space") == 0x9df0 + 0x300);
  CHECK(total(both[1], "inuse_space") == 0xf110 + 0x100);
  CHECK(total(both[0], "inuse_objects") == 0x2a + 3);
  CHECK(total(both[1], "inuse_objects") == 0x3a + 1);
  CHECK(both[1].facts.producer == "umdh");
  CHECK_FALSE(both[1].facts.complete);
  const auto decimal = read_ok(formats::kUmdh, "+ 10 ( 19 - 9) 2 allocs BackTrace1\n\n    a!b+1\n");
  CHECK(total(decimal[1], "inuse_space") == 0x19);
  CHECK(total(read_ok(formats::kUmdh, "+ 9 ( 18 - 9) 2 allocs BackTrace1\n\n    a!b+1\n")[1], "inuse_space") == 18);
  CHECK_THAT(read_error(formats::kUmdh, "+ 7 ( 18 - 9) 2 allocs BackTrace1\n\n    a!b+1\n"),
             Catch::Contains("not the difference"));
  check_disguises(formats::kUmdh, text);
}

TEST_CASE("umdh: a log is one moment") {
  const Snapshot s = read_one(formats::kUmdh, test_data("leak_reports/umdh.log"));
  CHECK(total(s, "inuse_space") == 0x5320);
  CHECK(total(s, "inuse_objects") == 0x14);
}
