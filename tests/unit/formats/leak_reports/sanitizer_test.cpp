#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& sanitizer() { return formats::kLeakSanitizer; }

using Rows = std::map<std::string, std::string>;

/// All that a report lists is in use and lost.
std::string in_use_and_lost(const std::string& values) { return values + " " + values; }

const std::string kHead = "==7==ERROR: LeakSanitizer: detected memory leaks\n\n";
const std::string kLeak =
    "Direct leak of 16 byte(s) in 1 object(s) allocated from:\n    #0 0x1 in malloc (/opt/a+0x2f) (BuildId: ab12)\n    "
    "#1 0x2 in f /srv/a.c:7:3\n\n";
const std::string kSanitizerSummary = "SUMMARY: LeakSanitizer: 16 byte(s) leaked in 1 allocation(s).\n";

}  // namespace

TEST_CASE("leak-sanitizer: each report is a snapshot, and they grow as the program leaks") {
  for (const std::string name :
       {"lsan-series-clang14", "asan-series-clang14", "lsan-series-gcc12-report_objects", "lsan-series-unsymbolized"}) {
    const auto sample = tracker_sample("lsan/" + name + ".txt");
    if (!sample) return;
    const std::vector<Snapshot> series = read_ok(sanitizer(), *sample);
    REQUIRE(series.size() == 5);  // four steps and the end of the program
    for (std::size_t i = 0; i < series.size(); ++i) {
      const auto n = static_cast<std::int64_t>(std::min<std::size_t>(i, 3)) + 1;
      CAPTURE(name, i, describe(series[i]));
      CHECK(series[i].facts.complete);
      CHECK_FALSE(series[i].facts.partial);
      CHECK(series[i].facts.pid.value_or(0) > 14'000);
      CHECK(total(series[i], "inuse_space") == n * 2296);
      CHECK(total(series[i], "inuse_objects") == n * 12);
      CHECK(series[i].samples.size() == (name == "lsan-series-gcc12-report_objects" ? 2 : 3));
    }
  }
}

TEST_CASE("leak-sanitizer: stacks, kinds and sizes per step") {
  const auto values = [](std::size_t n, std::size_t objects, std::size_t bytes) {
    return in_use_and_lost(std::to_string(n * objects) + " " + std::to_string(n * bytes));
  };
  const auto clang = tracker_sample("lsan/lsan-series-clang14.txt");
  const auto gcc = tracker_sample("lsan/lsan-series-gcc12-report_objects.txt");
  const auto bare = tracker_sample("lsan/lsan-series-unsymbolized.txt");
  if (!clang || !gcc || !bare) return;
  for (std::size_t n = 1; n <= 4; ++n) {
    const std::string malloc = "__interceptor_malloc < ";
    CHECK(rows(read_ok(sanitizer(), *clang)[n - 1]) ==
          Rows{{malloc + "leak_rows@/srv/app/lsan_series.c:7 {kind=direct}", values(n, 10, 1280)},
               {malloc + "leak_list@/srv/app/lsan_series.c:8 {kind=direct}", values(n, 1, 16)},
               {malloc + "leak_list@/srv/app/lsan_series.c:8 {kind=indirect}", values(n, 1, 1000)}});
    const std::string in_gcc =
        "__interceptor_malloc@../../../../src/libsanitizer/lsan/lsan_interceptors.cpp:75 < leak_";
    CHECK(rows(read_ok(sanitizer(), *gcc)[n - 1]) ==
          Rows{{in_gcc + "rows@/srv/app/lsan_series.c:7 {kind=direct}", values(n, 10, 1280)},
               {in_gcc + "list@/srv/app/lsan_series.c:8 {kind=direct}", values(n, 2, 1016)}});
    CHECK(rows(read_ok(sanitizer(), *bare)[n - 1]) ==
          Rows{{"lsan_stripped+0x30f42 < lsan_stripped+0x33699 {kind=direct}", values(n, 10, 1280)},
               {"lsan_stripped+0x30f42 < lsan_stripped+0x336ea {kind=direct}", values(n, 1, 16)},
               {"lsan_stripped+0x30f42 < lsan_stripped+0x336f8 {kind=indirect}", values(n, 1, 1000)}});
  }
}

TEST_CASE("leak-sanitizer: build ids and columns are kept") {
  const Snapshot s = read_one(sanitizer(), kHead + kLeak + kSanitizerSummary);
  const Dictionary& d = *s.dictionary;
  const auto frames = d.stacks.frames(s.samples.stack[0]);
  REQUIRE(frames.size() == 2);
  const std::size_t module = index_of(d.frames.module[index_of(frames[0])]);
  CHECK(d.strings[d.modules.name[module]] == "/opt/a");
  CHECK(d.strings[d.modules.build_id[module]] == "ab12");
  CHECK(d.frames.offset[index_of(frames[0])] == 0x2f);
  CHECK(d.frames.column[index_of(frames[1])] == 3);
}

TEST_CASE("leak-sanitizer: frames of every writer") {
  const std::string frames =
      "    #0 0x1 in operator new(unsigned long) /src/a b/new.cc:12:3\n"
      "    #1 0x2 in std::map<int, char*>::at(int const&) (/opt/c (d)/e+0x10)\n"
      "    #2 0x3 in g(int, long) ..\\rel\\a.cc:5\n"
      "    #3 0x4 in main C:\\a b\\c.cc:7:8\n"
      "    #4 0x5  (<unknown module>)\n"
      "    #5 0x6 in start ??:0\n"
      "    #6 0x7 in no_place\n";
  const Snapshot s = read_one(sanitizer(), kHead + "Indirect leak of 16 byte(s) in 1 object(s) allocated from:\n" +
                                               frames + "\n" + kSanitizerSummary);
  CHECK(rows(s) == Rows{{"operator new(unsigned long)@/src/a b/new.cc:12 < std::map<int, char*>::at(int const&) < "
                         "g(int, long)@..\\rel\\a.cc:5 < main@C:\\a b\\c.cc:7 < 0x5 < start ??:0 < no_place "
                         "{kind=indirect}",
                         in_use_and_lost("1 16")}});
}

TEST_CASE("leak-sanitizer: colours, prefixes and suppressions that were used do not matter") {
  const std::string log =
      "svc | \x1b[1m\x1b[31m==7==ERROR: LeakSanitizer: detected memory leaks\x1b[1m\x1b[0m\n\nsvc | "
      "\x1b[1m\x1b[34mDirect "
      "leak of 16 byte(s) in 1 object(s) allocated from:\x1b[1m\x1b[0m\nsvc |     #0 0x1 in f /srv/a.c:7\n\n-----\n"
      "Suppressions used:\n  count      bytes template\n      1        128 leak_x\n-----\n\nsvc | " +
      kSanitizerSummary;
  const Snapshot s = read_one(sanitizer(), log);
  CHECK(sanitizer().sniff(log) == Match::certain);
  CHECK(s.facts.pid == 7);
  CHECK(rows(s) == Rows{{"f@/srv/a.c:7 {kind=direct}", in_use_and_lost("1 16")}});
}

TEST_CASE("leak-sanitizer: leaks that the report omits are in its summary") {
  const Snapshot s = read_one(sanitizer(), kHead + "The 1 top leak(s):\n" + kLeak + "Omitting 3 more leak(s).\n\n" +
                                               "SUMMARY: AddressSanitizer: 116 byte(s) leaked in 4 allocation(s).\n");
  CHECK_FALSE(s.facts.complete);
  CHECK(rows(s).at("[below threshold]") == in_use_and_lost("3 100"));
  CHECK(total(s, "inuse_space") == 116);
}

TEST_CASE("leak-sanitizer: a summary below the records is said") {
  const Snapshot s =
      read_one(sanitizer(), kHead + kLeak + "SUMMARY: LeakSanitizer: 8 byte(s) leaked in 1 allocation(s).\n");
  CHECK(has_note(s, "the records add up to more than the summary says"));
}

TEST_CASE("leak-sanitizer: a report that is cut is left out where there are whole ones, else kept as partial") {
  const std::vector<Snapshot> series = read_ok(sanitizer(), kHead + kLeak + kSanitizerSummary + kHead + kLeak);
  REQUIRE(series.size() == 1);
  CHECK(series[0].facts.partial);
  CHECK(has_note(series[0], "inside a report, which was left out"));
  const std::vector<Snapshot> without = read_ok(sanitizer(), kHead + kLeak + kHead + kLeak);  // print_summary=0
  REQUIRE(without.size() == 2);
  CHECK(without[0].facts.partial);
  CHECK(total(without[1], "inuse_space") == 16);
}

TEST_CASE("leak-sanitizer: numbers beyond 64 bits are counted, not silently lost") {
  const Snapshot s = read_one(
      sanitizer(), kHead +
                       "Direct leak of 99999999999999999999 byte(s) in 1 object(s) allocated from:\n    #0 0x1 in f "
                       "/srv/a.c:7\n\n" +
                       kLeak + kSanitizerSummary);
  CHECK(s.facts.partial);
  CHECK(has_note(s, "leaks that could not be read"));
  CHECK(total(s, "inuse_space") == 16);
}

TEST_CASE("leak-sanitizer: a log without a report is refused") {
  CHECK(read_error(sanitizer(), "hello\n").find("no report: the input ends") != std::string::npos);
}

TEST_CASE("leak-sanitizer: every cut is refused, told, or loses nothing, disguises change nothing") {
  const std::string log = "x\n" + kHead + kLeak + kSanitizerSummary + "y\n" + kHead + kLeak + kLeak +
                          "SUMMARY: LeakSanitizer: 32 byte(s) leaked in 2 allocation(s).\n";
  check_cuts(sanitizer(), log, 1);
  check_disguises(sanitizer(), log);
}
