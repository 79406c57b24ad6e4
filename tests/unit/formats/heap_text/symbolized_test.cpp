#include <catch2/catch.hpp>
#include <string>

#include "unit/formats/heap_text/helpers.hpp"

using snapdiff::Snapshot;
using namespace snapdiff::test;
using Row = std::vector<std::int64_t>;

namespace {
const std::string kDump =
    "heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x1101 0x1201 0x1301\n\nMAPPED_LIBRARIES:\n"
    "1000-2000 r-xp 00001000 00:00 1 /opt/a\n";
}

TEST_CASE("symbolized: names by adjusted address first, then by the return address") {
  const Snapshot s = import_ok("symbolized",
                               "--- symbol\n"
                               "binary=/opt/a\n"
                               "0x0000000000001101 wrong--leaf\n"
                               "0x1100 leaf\n"
                               "0x1201 outer--middle--inner\n"
                               "0x1300 0x0000000000001300\n"
                               "---\n"
                               "--- heap\n" +
                                   kDump);
  CHECK(rows(s) == std::map<std::string, Row>{{"leaf;inner;middle;outer;a+0x1300", {1, 8}}});
  const auto& frames = s.dictionary->frames;
  CHECK((frames.flags[1] & snapdiff::kFrameInlined) != 0);
  CHECK((frames.flags[2] & snapdiff::kFrameInlined) != 0);
  CHECK((frames.flags[3] & snapdiff::kFrameInlined) == 0);
  CHECK(frames.offset[1] == 0x1200);
  CHECK(frames.offset[3] == 0x1200);
  CHECK(s.facts.comments == std::vector<std::string>{"binary=/opt/a"});
}

TEST_CASE("symbolized: wraps jemalloc dumps, too") {
  const Snapshot s = import_ok(
      "symbolized", "--- symbol\n0x1100 f\n---\n--- heap\nheap_v2/1\n  t*: 1: 8 [0: 0]\n@ 0x1101\n  t*: 1: 8 [0: 0]\n");
  CHECK(rows(s) == std::map<std::string, Row>{{"f", {1, 8}}});
}

TEST_CASE("symbolized: what google-pprof and jeprof write") {
  const auto file = GENERATE(as<std::string>{}, "google-pprof.symbolized", "jeprof.symbolized");
  const Snapshot s = import_ok("symbolized", data_file("symbolized/cases/" + file));
  const auto all = rows(s);
  REQUIRE(all.size() == 2);
  // The C library was not symbolized: offsets as google-pprof --raw of the plain dump prints them.
  CHECK(all.begin()->first == "fill_cache;fill_cache;main;libc.so.6+0x27249;libc.so.6+0x27304;_start");
  CHECK(all.begin()->second == Row{1000, 256000, 2000, 512000});
  CHECK(total(s, "inuse_space") == 32 * 1048576 + 1000 * 256);
}

TEST_CASE("symbolized: errors") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"--- symbol\n0x1 f\n", "malformed at byte 17: symbol section without an end: the input ends, expected ---"},
      {"--- symbol\nrubbish\n---\n",
       "malformed at byte 11: symbol not readable: found \"rubbish\", expected 0x, an address and a name, or ---"},
      {"--- symbol\n0x1 f\n---\n",
       "malformed at byte 21: no dump: the input ends, expected \"heap profile:\" or \"heap_v2/\""},
      {"--- symbol\n0x1 f\n---\n--- contention\n",
       "unsupported at byte 21: this is a contention profile, expected a heap profile"},
      {"--- symbol\n0x1 f\n---\n--- pmuprofile\n",
       "malformed at byte 21: header not recognised: found \"--- pmuprofile\", expected \"heap profile:\" or "
       "\"heap_v2/\""},
  }));
  CHECK(import_error("symbolized", text) == expected);
}

TEST_CASE("symbolized: endless chains of inlined names are refused") {
  std::string names = "f";
  for (int i = 0; i < 255; ++i) names += "--f";
  CHECK(import_ok("symbolized", "--- symbol\n0x1100 " + names + "\n---\n" + kDump).samples.size() == 1);
  CHECK(import_error("symbolized", "--- symbol\n0x1100 " + names + "--f\n---\n" + kDump) ==
        "limit at byte 11: too many inlined functions at one address: more than 256");
}
