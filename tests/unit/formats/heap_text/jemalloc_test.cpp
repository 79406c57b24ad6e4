#include <catch2/catch.hpp>
#include <string>

#include "unit/formats/heap_text/helpers.hpp"

using snapdiff::Sampling;
using snapdiff::Severity;
using snapdiff::Snapshot;
using namespace snapdiff::test;
using Row = std::vector<std::int64_t>;

namespace {
const std::string kJemallocMap = "\nMAPPED_LIBRARIES:\n1000-2000 r-xp 00001000 fe:00 1 /opt/a\n";
const std::string kJemallocHead =
    "heap_v2/1\n"
    "  t*: 3: 88 [0: 0]\n"
    "  t0: 1: 80 [0: 0] main [worker]: 7\n"
    "  t1: 2: 8 [0: 0]\n";
const std::string kBlocks =
    "@ 0x1101 0x1201\n"
    "  t*: 1: 80 [0: 0]\n"
    "  t0: 1: 80 [0: 0]\n"
    "@ 0x1301\n"
    "  t*: 2: 8 [0: 0]\n"
    "  t1: 2: 8 [0: 0]\n";
}  // namespace

TEST_CASE("jemalloc: t* rows are the totals of stacks, thread rows are left out") {
  const Snapshot s = import_ok("jemalloc", kJemallocHead + kBlocks + kJemallocMap);
  CHECK(rows(s) == std::map<std::string, Row>{{"a+0x1100;a+0x1200", {1, 80}}, {"a+0x1300", {2, 8}}});
  CHECK(s.facts.sampling == Sampling::exact);
  CHECK(s.facts.period == 1);
  CHECK(s.facts.producer == "jemalloc");
  CHECK(s.facts.format_detail == "heap_v2");
  CHECK(s.facts.notes.empty());
}

TEST_CASE("jemalloc: allocated columns exist only where prof_accum filled them") {
  CHECK(import_ok("jemalloc", kJemallocHead + kBlocks + kJemallocMap).column("alloc_space") == nullptr);
  const Snapshot s = import_ok(
      "jemalloc",
      "heap_v2/1\n  t*: 1: 8 [4: 64]\n@ 0x1101\n  t*: 1: 8 [3: 32]\n@ 0x1201\n  t*: 0: 0 [1: 32]\n" + kJemallocMap);
  CHECK(rows(s) == std::map<std::string, Row>{{"a+0x1100", {1, 8, 3, 32}}, {"a+0x1200", {0, 0, 1, 32}}});
}

TEST_CASE("jemalloc: real dumps, with prof_accum and without") {
  // jeprof's totals less up to one byte per row, TRUTH.md's exactly.
  const Snapshot accum = import_ok("jemalloc", data_file("jemalloc/perl/jemalloc-run1.1.f.heap"));
  CHECK(accum.facts.period == 65536);
  CHECK(total(accum, "inuse_space") <= 11670749);
  CHECK(total(accum, "inuse_space") > 11670749 - 16);
  CHECK(total(accum, "alloc_space") <= 16185733);
  CHECK(total(accum, "alloc_space") > 16185733 - 16);
  CHECK(total(accum, "inuse_objects") <= 2795);
  CHECK(total(accum, "inuse_objects") > 2795 - 16);
  CHECK(total(accum, "alloc_objects") <= 29360);
  CHECK(total(accum, "alloc_objects") > 29360 - 16);

  const Snapshot plain = import_ok("jemalloc", data_file("jemalloc/perl/jemalloc-nounbias.0.f.heap"));
  CHECK(plain.column("alloc_space") == nullptr);
  CHECK(total(plain, "inuse_space") <= 11690159);
  CHECK(total(plain, "inuse_space") > 11690159 - 16);

  const Snapshot exact = import_ok("jemalloc", data_file("jemalloc/svc/exact.0011.heap"));
  CHECK(total(exact, "inuse_space") == 7609504);
  CHECK(total(exact, "inuse_objects") == 48276);
  CHECK(exact.facts.sampling == Sampling::exact);
  const Snapshot sampled = import_ok("jemalloc", data_file("jemalloc/svc/sampled.0011.heap"));
  CHECK(total(sampled, "inuse_space") == 7721033);
  CHECK(total(sampled, "inuse_objects") == 49101);
  CHECK(sampled.facts.sampling == Sampling::poisson);
}

TEST_CASE("jemalloc: a stack without counts at the end of the input is left out, told") {
  for (const char* end : {"@ 0x1501\n", "@ 0x1501", "@"}) {
    CAPTURE(end);
    const Snapshot s = import_ok("jemalloc", kJemallocHead + kBlocks + end);
    CHECK(s.samples.size() == 2);
    CHECK(s.facts.partial);
    CHECK(has_note(s, Severity::data_loss, "without its t*: row"));
  }
}

TEST_CASE("jemalloc: a file cut between two blocks is told") {
  const Snapshot exact = import_ok("jemalloc", kJemallocHead + "@ 0x1101 0x1201\n  t*: 1: 80 [0: 0]\n");
  CHECK(rows(exact) == std::map<std::string, Row>{{"0x1100;0x1200", {1, 80}}, {"[unattributed]", {2, 8}}});
  CHECK(exact.facts.partial);
  CHECK(has_note(exact, Severity::data_loss, "8 bytes in use (2 objects)"));

  const std::string whole = data_file("jemalloc/svc/sampled.0011.heap");
  const std::size_t third = whole.find("\n@", whole.find("\n@", whole.find("\n@") + 1) + 1);
  const Snapshot sampled = import_ok("jemalloc", whole.substr(0, third + 1));
  CHECK(sampled.facts.partial);
  CHECK(has_note(sampled, Severity::data_loss, "the file is cut"));
  // The whole rows without the map are not cut.
  const Snapshot no_map = import_ok("jemalloc", whole.substr(0, whole.find("\nMAPPED")));
  CHECK_FALSE(no_map.facts.partial);
  CHECK(has_note(no_map, Severity::warning, "no memory map"));
}

TEST_CASE("jemalloc: macOS map and addresses of broken unwinders") {
  const Snapshot s = import_ok("jemalloc",
                               "heap_v2/1\n  t*: 1: 8 [0: 0]\n@ 0x100001101 0xd08800000000000\n  t*: 1: 8 [0: 0]\n"
                               "\nMAPPED_LIBRARIES:\n0000000100000000-0000000100004000: /Users/me/my tool\n");
  CHECK(rows(s) == std::map<std::string, Row>{{"my tool+0x1100;0xd087fffffffffff", {1, 8}}});
  CHECK(has_note(s, Severity::info, "outside the memory map"));
}

TEST_CASE("jemalloc: messages of the allocator in front of the dump are skipped") {
  CHECK(total(import_ok("jemalloc", "<jemalloc>: Abnormal\n" + kJemallocHead + kBlocks + kJemallocMap),
              "inuse_space") == 88);
}

TEST_CASE("jemalloc: equal stacks are summed") {
  const Snapshot s = import_ok("jemalloc",
                               "heap_v2/1\n  t*: 3: 24 [0: 0]\n@ 0x1101\n  t*: 1: 8 [0: 0]\n@ 0x1101\n"
                               "  t*: 2: 16 [0: 0]\n" +
                                   kJemallocMap);
  CHECK(rows(s) == std::map<std::string, Row>{{"a+0x1100", {3, 24}}});
}

TEST_CASE("jemalloc: errors name the byte, what was found and what was expected") {
  const std::string head = "heap_v2/1\n  t*: 3: 24 [0: 0]\n";  // 10 + 19 bytes
  const auto [text, expected] = GENERATE_COPY(table<std::string, std::string>({
      {"heap profile: 1: 8\n",
       "malformed at byte 0: header not recognised: found \"heap profile: 1: 8\", expected \"heap_v2/\""},
      {"heap_v2/x\n",
       "malformed at byte 0: header not readable: found \"heap_v2/x\", expected heap_v2/ and the sampling rate in "
       "bytes"},
      {"heap_v2/5",
       "malformed at byte 0: header not readable: found \"heap_v2/5\", expected heap_v2/ and the sampling rate in "
       "bytes"},
      {"heap_v2/5\n", "malformed at byte 10: no totals: the input ends, expected a t*: row"},
      {head + "@ 0x1\n@ 0x2\n  t*: 1: 8 [0: 0]\n",
       "malformed at byte 29: stack without counts: found no t*: row after it, expected one"},
      {head + "@ 0x1\n\nMAPPED_LIBRARIES:\n",
       "malformed at byte 29: stack without counts: found no t*: row after it, expected one"},
      {head + "  t*: 1: 8 [0: 0]\n",
       "malformed at byte 29: counts without a stack: found \"  t*: 1: 8 [0: 0]\", expected @ and addresses before it"},
      {head + "@ 0x1\n  t*: 1: 8\n",
       "malformed at byte 35: row not readable: found \"  t*: 1: 8\", expected t*: objects: bytes [objects: bytes]"},
      {head + "@ 0x1\n  t*: 1: -8 [0: 0]\n",
       "malformed at byte 35: row not readable: found \"  t*: 1: -8 [0: 0]\", expected t*: objects: bytes [objects: "
       "bytes]"},
      {head + "@ 0x1\n  t*: 1: 9223372036854775808 [0: 0]\n",
       "malformed at byte 35: number beyond 2^63-1: found \"  t*: 1: 9223372036854775808 [0: 0]\", expected t*: "
       "objects: "
       "bytes [objects: bytes]"},
      {head + "@ 0x1 zz\n",
       "malformed at byte 35: address not readable: found \"zz\", expected 0x and hexadecimal digits"},
      {head + "what\n",
       "malformed at byte 29: row not recognised: found \"what\", expected @ and addresses, t*: counts or the memory "
       "map"},
  }));
  CHECK(import_error("jemalloc", text) == expected);
}
