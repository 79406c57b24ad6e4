#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& memcheck() { return formats::kMemcheck; }

using Rows = std::map<std::string, std::string>;

const std::string kSummary =
    "==7== LEAK SUMMARY:\n==7==    definitely lost: 24 bytes in 1 blocks\n==7==    indirectly lost: 0 bytes in 0 "
    "blocks\n==7==      possibly lost: 0 bytes in 0 blocks\n==7==    still reachable: 0 bytes in 0 blocks\n==7==      "
    "   suppressed: 8 bytes in 1 blocks\n==7== \n";
const std::string kRecord =
    "==7== 24 bytes in 1 blocks are definitely lost in loss record 1 of 1\n==7==    at 0x48417B4: malloc (in "
    "/lib/vg.so)\n==7==    by 0x10924A: f(int) (a.cc:6)\n==7== \n";

/// Objects and bytes of each row. All of them are lost, unless the program still reaches them.
Rows rows_of(const Snapshot& s) {
  Rows out;
  for (const auto& [row, values] : rows(s)) {
    const std::size_t middle = values.find(' ', values.find(' ') + 1);
    const std::string all = values.substr(0, middle);
    CHECK(values.substr(middle + 1) == (row.find("still reachable") == std::string::npos ? all : "0 0"));
    out.emplace(row, all);
  }
  return out;
}

}  // namespace

TEST_CASE("memcheck: native_leak grows by 126 400 bytes a step, each stack by its own, in text and XML alike") {
  for (const std::string ending : {".txt", ".xml"}) {
    for (const std::int64_t steps : {2, 4, 6, 8}) {
      const auto sample = tracker_sample("valgrind/memcheck-steps" + std::to_string(steps) + ending);
      if (!sample) return;
      const Snapshot s = read_one(memcheck(), *sample);
      CAPTURE(ending, steps, describe(s));
      CHECK(s.facts.complete);
      CHECK_FALSE(s.facts.partial);
      CHECK(s.facts.command_line == "./native_leak " + std::to_string(steps));
      CHECK(s.facts.producer == "valgrind 3.19.0");
      CHECK(total(s, "inuse_space") == steps * 126'400);
      CHECK(total(s, "inuse_objects") == steps * 103);
      const std::string dir = ending == ".xml" ? "/srv/app/" : "";
      const std::string file = "@" + dir + "native_leak.cpp:";
      const std::string stack = "malloc < alloc_block(unsigned long)" + file + "9 < ";
      const std::string end = " < main" + file + "16 {kind=definitely lost}";
      CHECK(rows_of(s) == Rows{{stack + "leak_strings()" + file + "11" + end,
                                std::to_string(steps * 100) + " " + std::to_string(steps * 6400)},
                               {stack + "leak_cache()" + file + "10" + end,
                                std::to_string(steps * 3) + " " + std::to_string(steps * 120'000)}});
    }
  }
}

TEST_CASE("memcheck: checks of one process are a series, the numbers in parentheses are not added") {
  const auto sample = tracker_sample("valgrind/memcheck-incremental-series.txt");
  if (!sample) return;
  const std::vector<Snapshot> series = read_ok(memcheck(), *sample);
  REQUIRE(series.size() == 5);  // four steps and the end
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto step = static_cast<std::int64_t>(std::min<std::size_t>(i, 3)) + 1;
    CAPTURE(i);
    CHECK(series[i].facts.pid == 14557);
    CHECK(series[i].facts.complete);
    CHECK(total(series[i], "inuse_space") == step * 3024);
    CHECK(total(series[i], "inuse_objects") == step * 2);
    CHECK(series[i].samples.size() == 1);  // both lines of leak_step are one: same function, file and line
  }
  CHECK(counter(series[4], "in_use_at_exit") == 12'096);
  CHECK(counter(series[4], "allocs") == 8);
  CHECK(counter(series[3], "allocs") == std::nullopt);
}

TEST_CASE("memcheck: indirect bytes are counted once, in text and XML") {
  for (const std::string ending : {".txt", ".xml"}) {
    const std::vector<Snapshot> series = read_ok(memcheck(), test_data("leak_reports/memcheck-list-all" + ending));
    const std::size_t steps = ending == ".txt" ? 3 : 2;
    REQUIRE(series.size() == steps + 1);
    const std::string file = ending == ".txt" ? "@list_leak.c:" : "@/srv/app/list_leak.c:";
    for (std::size_t i = 0; i < series.size(); ++i) {
      const std::size_t n = std::min(i, steps - 1) + 1;
      const auto values = [n](std::size_t bytes) { return std::to_string(n) + " " + std::to_string(n * bytes); };
      CAPTURE(ending, i, describe(series[i]));
      CHECK(series[i].facts.complete);
      CHECK(total(series[i], "inuse_space") == static_cast<std::int64_t>(n) * 1440);
      CHECK(rows_of(series[i]) ==
            Rows{{"malloc < leak_list" + file + "14 < main" + file + "26 {kind=definitely lost}", values(16)},
                 {"malloc < make_payload" + file + "11 < leak_list" + file + "16 < main" + file +
                      "26 {kind=indirectly lost}",
                  values(1000)},
                 {"malloc < keep_middle" + file + "21 < main" + file + "28 {kind=possibly lost}", values(400)},
                 {"malloc < keep" + file + "20 < main" + file + "27 {kind=still reachable}", values(24)}});
    }
  }
}

TEST_CASE(
    "memcheck: kinds that are not printed are in the summary, indirect bytes are with the record that they are lost "
    "with") {
  const std::vector<Snapshot> series = read_ok(memcheck(), test_data("leak_reports/memcheck-list-default.txt"));
  REQUIRE(series.size() == 3);
  CHECK(series[1].facts.complete);  // of what is lost
  CHECK_FALSE(series[1].facts.partial);
  CHECK(total(series[1], "inuse_space") == 2880);
  const Rows found = rows_of(series[1]);
  CHECK(found.at("[no stack recorded] {kind=still reachable}") == "2 48");
  // Its bytes belong to the record that they are lost with; whose its blocks are the output does not say.
  CHECK(found.at("[no stack recorded] {kind=indirectly lost}") == "2 0");
  CHECK(found.at("malloc < leak_list@list_leak.c:14 < main@list_leak.c:26 {kind=indirectly lost}") == "0 2000");
  CHECK(found.size() == 5);
}

TEST_CASE("memcheck: lines of several processes between each other are told apart by pid") {
  const std::string log =
      "==7== Command: ./a\n==8== Command: ./b\n"
      "==7== 24 bytes in 1 blocks are definitely lost in loss record 1 of 1\n"
      "==8== 1,000 bytes in 2 blocks are possibly lost in loss record 1 of 1\n"
      "==7==    at 0x48417B4: malloc (in /lib/vg.so)\n==8==    at 0x1: calloc (in /lib/vg.so)\n"
      "==7==    by 0x10924A: f (a.c:6)\n==8==    by 0x2: g (b.c:7)\n==8== \n==7== \n"
      "==8== LEAK SUMMARY:\n==8==    definitely lost: 0 bytes in 0 blocks\n==8==    indirectly lost: 0 bytes in 0 "
      "blocks\n"
      "program output ==9== is no prefix of ours\n"
      "==8==      possibly lost: 1,000 bytes in 2 blocks\n==8==    still reachable: 0 bytes in 0 blocks\n==8==         "
      "suppressed: 0 bytes in 0 blocks\n==8== \n" +
      kSummary;
  const std::vector<Snapshot> series = read_ok(memcheck(), log);
  REQUIRE(series.size() == 2);
  CHECK(series[0].facts.pid == 8);
  CHECK(series[0].facts.command_line == "./b");
  CHECK(rows_of(series[0]) == Rows{{"calloc < g@b.c:7 {kind=possibly lost}", "2 1000"}});
  CHECK(series[1].facts.pid == 7);
  CHECK(rows_of(series[1]) == Rows{{"malloc < f@a.c:6 {kind=definitely lost}", "1 24"}});
  CHECK(counter(series[1], "suppressed") == 8);
}

TEST_CASE("memcheck: frames without names, prefixes of logs, valgrind's times, colours") {
  const std::string log =
      "svc-1 | \x1b[31m==00:00:00:01.234 7== 24 bytes in 1 blocks are definitely lost in loss record 1 of 1\x1b[0m\n"
      "svc-1 | ==00:00:00:01.234 7==    at 0x1234: ???\n"
      "svc-1 | ==00:00:00:01.234 7==    by 0x5678: ??? (in /opt/a b/lib.so)\n"
      "svc-1 | ==00:00:00:01.234 7==    by 0x9ABC: operator() (x) const\n"
      "svc-1 | ==00:00:00:01.234 7==    by 0x9ABC: <a::B<(int)1> as c>::d (src/a b.rs:12)\n"
      "svc-1 | ==00:00:00:01.234 7== \n" +
      kSummary;
  const Snapshot s = read_one(memcheck(), log);
  CHECK(rows_of(s) ==
        Rows{{"0x1234 < [unknown in lib.so] < operator() (x) const < <a::B<(int)1> as c>::d@src/a b.rs:12 "
              "{kind=definitely lost}",
              "1 24"}});
  CHECK(memcheck().sniff(log) == Match::certain);
}

TEST_CASE("memcheck: a heap without leaks is a snapshot without rows") {
  const std::string log =
      "==7== HEAP SUMMARY:\n==7==     in use at exit: 0 bytes in 0 blocks\n==7==   total heap usage: 2 allocs, 2 "
      "frees, "
      "1,024 bytes allocated\n==7== \n==7== All heap blocks were freed -- no leaks are possible\n==7== \n";
  const Snapshot s = read_one(memcheck(), log);
  CHECK(s.samples.size() == 0);
  CHECK(s.facts.complete);
  CHECK(counter(s, "allocated") == 1024);
}

TEST_CASE("memcheck: --leak-check=no leaves the totals of the heap") {
  const std::string log =
      "==7== HEAP SUMMARY:\n==7==     in use at exit: 72 bytes in 3 blocks\n==7== \n==7== For a detailed leak "
      "analysis\n"
      "==7== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)\n";
  const Snapshot s = read_one(memcheck(), log);
  CHECK(s.samples.size() == 0);
  CHECK_FALSE(s.facts.complete);
  CHECK(counter(s, "blocks_in_use_at_exit") == 3);
}

TEST_CASE("memcheck: a check that is cut is left out where there are whole ones, else kept as partial") {
  const std::string whole = kRecord + kSummary;
  const std::vector<Snapshot> series = read_ok(memcheck(), whole + kRecord);
  REQUIRE(series.size() == 1);
  CHECK(series[0].facts.partial);
  CHECK(has_note(series[0], "inside a leak check, which was left out"));
  CHECK(total(series[0], "inuse_space") == 24);

  const Snapshot cut = read_one(memcheck(), kRecord);
  CHECK(cut.facts.partial);
  CHECK_FALSE(cut.facts.complete);
  CHECK(total(cut, "inuse_space") == 24);
}

TEST_CASE("memcheck: a record that cannot be read is counted, not silently lost") {
  const std::string log =
      "==7== 99999999999999999999 bytes in 1 blocks are definitely lost in loss record 1 of 2\n" + kRecord + kSummary;
  const Snapshot s = read_one(memcheck(), log);
  CHECK(s.facts.partial);
  CHECK(has_note(s, "records that could not be read"));
  CHECK(total(s, "inuse_space") == 24);
}

TEST_CASE("memcheck: a log without a leak check is refused") {
  CHECK(read_error(memcheck(), "==7== Memcheck, a memory error detector\n").find("no leak check: the input ends") !=
        std::string::npos);
}

TEST_CASE("memcheck: a line of 20 MB is skipped and counted") {
  const Snapshot s = read_one(memcheck(), kRecord + std::string(20u << 20, 'x') + "\n" + kSummary);
  CHECK(has_note(s, "lines of more than 16 MiB, skipped"));
  CHECK(total(s, "inuse_space") == 24);
}

TEST_CASE("memcheck: every cut of a text is refused, told, or loses nothing") {
  check_cuts(memcheck(), test_data("leak_reports/memcheck-list-default.txt"), 1);
}

TEST_CASE("memcheck: windows, CRLF, marks and UTF-16 change nothing") {
  check_disguises(memcheck(), test_data("leak_reports/memcheck-list-default.txt"));
}

namespace {

std::string xml(const std::string& body, const std::string& version = "4") {
  return "<?xml version=\"1.0\"?>\n<valgrindoutput>\n<protocolversion>" + version +
         "</protocolversion>\n<protocoltool>memcheck</protocoltool>\n<pid>7</pid>\n" + body;
}
const std::string kError =
    "<error><kind>Leak_DefinitelyLost</kind><xwhat><text>32 (24 direct, 8 indirect) bytes in 1 blocks are definitely "
    "lost in loss record 1 of 1</text><leakedbytes>32</leakedbytes><leakedblocks>1</leakedblocks></xwhat><stack><frame>"
    "<ip>0x1</ip><obj>/lib/vg.so</obj><fn>f&lt;int&gt;</fn></frame><frame><ip>0x2</ip></frame></stack></error>\n";

}  // namespace

TEST_CASE("memcheck XML: without --show-leak-kinds=all the snapshot says that rows are left out") {
  const Snapshot s = read_one(memcheck(), xml(kError + "</valgrindoutput>\n"));
  CHECK_FALSE(s.facts.complete);
  CHECK_FALSE(s.facts.partial);
  CHECK(s.facts.pid == 7);
  CHECK(rows_of(s) ==
        Rows{{"f<int> < 0x2 {kind=definitely lost}", "1 24"}, {"f<int> < 0x2 {kind=indirectly lost}", "0 8"}});
}

TEST_CASE("memcheck XML: errors that are no leaks are left out, no leak at all is an empty snapshot") {
  const Snapshot s = read_one(
      memcheck(), xml("<error><kind>InvalidRead</kind><what>x</what><stack><frame><ip>0x1</ip></frame></stack></error>"
                      "</valgrindoutput>"));
  CHECK(s.samples.size() == 0);
}

TEST_CASE("memcheck XML: an aborted program leaves the root open, what is whole is kept") {
  const std::string cut = xml(kError + "<error><kind>Leak_Defin");
  const Snapshot s = read_one(memcheck(), cut);
  CHECK(s.facts.partial);
  CHECK(total(s, "inuse_space") == 32);  // as <leakedbytes> says
  CHECK(has_note(s, "the input ends before the root element does"));
}

TEST_CASE("memcheck XML: versions, tools, roots, document types and damage are refused by name and place") {
  CHECK(read_error(memcheck(), xml("", "3")).find("protocol version: found \"3\", expected 4") != std::string::npos);
  CHECK(read_error(memcheck(),
                   "<valgrindoutput><protocolversion>4</protocolversion><protocoltool>helgrind"
                   "</protocoltool></valgrindoutput>")
            .find("valgrind tool: found \"helgrind\", expected memcheck") != std::string::npos);
  CHECK(read_error(memcheck(), "<a><valgrindoutput></valgrindoutput></a>")
            .find("root element: found \"a\", expected valgrindoutput") != std::string::npos);
  CHECK(read_error(memcheck(), "<!DOCTYPE a [<!ENTITY b \"cc\">]>\n<valgrindoutput>&b;</valgrindoutput>")
            .find("document type: found <!DOCTYPE") != std::string::npos);
  CHECK(read_error(memcheck(), xml(kError + "<a></b></valgrindoutput>")).find("mismatched tag") != std::string::npos);
  const Series damaged = read_series(memcheck(), xml("<a></b></valgrindoutput>"));
  REQUIRE(damaged.error.has_value());
  CHECK(damaged.error->code == ErrorCode::malformed);
  CHECK(damaged.error->offset.value_or(0) > 100);
}

TEST_CASE("memcheck XML: nesting and long texts have limits") {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "<a>";
  CHECK(read_error(memcheck(), xml(deep)).find("nested too deeply") != std::string::npos);
  CHECK(read_error(memcheck(), xml("<pid>" + std::string(2u << 20, '1') + "</pid>")).find("text too long") !=
        std::string::npos);
}

TEST_CASE("memcheck XML: every cut is refused, told, or loses nothing, windows change nothing") {
  const std::string text = test_data("leak_reports/memcheck-list-all.xml");
  check_cuts(memcheck(), text, 7);
  for (const std::size_t window : {std::size_t{1}, std::size_t{100}}) {
    CHECK(describe(read_series(memcheck(), text, window).snapshots) == describe(read_ok(memcheck(), text)));
  }
}
