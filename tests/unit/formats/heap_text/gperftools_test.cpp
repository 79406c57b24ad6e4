#include <catch2/catch.hpp>
#include <string>
#include <tuple>

#include "unit/formats/heap_text/helpers.hpp"

using snapdiff::Sampling;
using snapdiff::Severity;
using snapdiff::Snapshot;
using namespace snapdiff::test;
using Row = std::vector<std::int64_t>;

namespace {
const std::string kMap = "\nMAPPED_LIBRARIES:\n1000-2000 r-xp 00001000 00:00 1 /opt/a\n";
}

TEST_CASE("gperftools: rows become stacks of module offsets, leaf first") {
  const Snapshot s = import_ok("gperftools",
                               "heap profile:      3:     88 [     4:    100] @ heapprofile\n"
                               "     1:       80 [     2:       92] @ 0x1101 0x1201 0x00001301\n"
                               "# a remark\n"
                               "\n"
                               "     2:        8 [     2:        8] @ 0x1201\n" +
                                   kMap);
  CHECK(rows(s) ==
        std::map<std::string, Row>{{"a+0x1100;a+0x1200;a+0x1300", {1, 80, 2, 92}}, {"a+0x1200", {2, 8, 2, 8}}});
  REQUIRE(s.samples.columns.size() == 4);
  CHECK(s.samples.columns[0].type == snapdiff::SampleType{"inuse_objects", "count"});
  CHECK(s.samples.columns[1].type == snapdiff::SampleType{"inuse_space", "bytes"});
  CHECK(s.samples.columns[2].type == snapdiff::SampleType{"alloc_objects", "count"});
  CHECK(s.samples.columns[3].type == snapdiff::SampleType{"alloc_space", "bytes"});
  CHECK(s.facts.sampling == Sampling::exact);
  CHECK(s.facts.period == 1);
  CHECK(s.facts.producer == "tcmalloc");
  CHECK(s.facts.format_detail == "heapprofile");
  CHECK_FALSE(s.facts.partial);
  CHECK(s.facts.notes.empty());
  REQUIRE(s.mappings.size() == 1);
  CHECK(s.mappings[0].start == 0x1000);
}

TEST_CASE("gperftools: without an allocated pair of its own a file has the in-use columns only") {
  const auto columns = [](const std::string& header) {
    return import_ok("gperftools", "heap profile: " + header + " @ heapprofile\n" + "2: 8 [2: 8] @ 0x1101\n" + kMap)
        .samples.columns.size();
  };
  CHECK(columns("2: 8 [2: 8]") == 2);
  CHECK(columns("2: 8 [0: 0]") == 2);
  CHECK(columns("2: 8 [3: 8]") == 4);
  CHECK(columns("2: 8 [2: 9]") == 4);
}

TEST_CASE("gperftools: snapshots before and after the first free share the in-use columns") {
  const Snapshot before = import_ok("gperftools", data_file("gperftools/cases/cases.0001.heap"));
  const Snapshot after = import_ok("gperftools", data_file("gperftools/cases/cases.0002.heap"));
  REQUIRE(before.samples.columns.size() == 2);
  REQUIRE(after.samples.columns.size() == 4);
  // heap_cases.cc: 32 x 1 MiB and 2000 x 256 B; then every second of the small blocks is freed.
  CHECK(total(before, "inuse_space") == 32 * 1048576 + 2000 * 256);
  CHECK(total(before, "inuse_objects") == 2032);
  CHECK(total(after, "inuse_space") == 32 * 1048576 + 1000 * 256);
  CHECK(total(after, "inuse_objects") == 1032);
  CHECK(total(after, "alloc_space") == 32 * 1048576 + 2000 * 256);
  CHECK(total(after, "alloc_objects") == 2032);
  // One process, so the same stacks.
  for (std::size_t row = 0; row < before.samples.size(); ++row) {
    const auto hash = before.dictionary->stacks.hash[index_of(before.samples.stack[row])];
    CHECK(hash == after.dictionary->stacks.hash[index_of(after.samples.stack[row])]);
  }
}

TEST_CASE("gperftools: growth profiles hold one row per request, equal stacks are summed") {
  const Snapshot s = import_ok("gperftools", data_file("gperftools/cases/growth.heap"));
  CHECK(s.facts.format_detail == "growth");
  CHECK(total(s, "inuse_objects") == 33);
  CHECK(total(s, "inuse_space") == 33 * 1048576);
  CHECK(s.samples.size() == 3);  // 33 rows, three distinct stacks
  CHECK(has_note(s, Severity::warning, "not what was in use"));
  CHECK_FALSE(s.facts.partial);
}

TEST_CASE("gperftools: a sampled dump is estimated row by row") {
  const Snapshot s = import_ok("gperftools", data_file("gperftools/cases/sampled.heap"));
  CHECK(s.facts.sampling == Sampling::poisson);
  CHECK(s.facts.period == 1048576);
  // 9 rows of one 1 MiB block each at R = 1 MiB: 1/(1 - 1/e) = 1.5819767 each, cut to integers.
  CHECK(total(s, "inuse_objects") == 9);
  CHECK(total(s, "inuse_space") == 9 * 1658822);
  CHECK(s.samples.columns.size() == 2);
}

TEST_CASE("gperftools: header types decide how values are read") {
  const auto read = [](const std::string& type) {
    return import_ok("gperftools", "heap profile: 2: 2048 [2: 2048]" + type + "\n2: 2048 [2: 2048] @ 0x1101\n" + kMap);
  };
  CHECK(total(read(" @ heapprofile"), "inuse_space") == 2048);
  CHECK(total(read(" @ growthz"), "inuse_space") == 2048);
  CHECK(total(read(" @ fragmentation"), "inuse_space") == 2048);
  CHECK(total(read(" @ fragmentationz"), "inuse_space") == 2048);
  CHECK(read(" @ fragmentation").facts.sampling == Sampling::exact);
  CHECK(total(read(" @ heap_v2/1"), "inuse_space") == 2048);
  CHECK(read(" @ heap_v2/1").facts.sampling == Sampling::exact);
  CHECK(total(read(" @ heapz_v2/524288"), "inuse_space") == 1049600);  // 2 samples of 1024 B: 2 R + 2048 / 2 within 1
  // The oldest sampler: 1024 B a block count as the period.
  CHECK(total(read(" @ heap"), "inuse_space") == 2 * 131072);
  CHECK(total(read(" @ heapz/262144"), "inuse_space") == 2 * 131072);
  CHECK(total(read(""), "inuse_space") == 2 * 131072);
  CHECK(has_note(read(" @ heapz/262144"), Severity::warning, "oldest sampler"));
}

TEST_CASE("gperftools: a header without type whose pairs differ is exact") {
  const Snapshot s = import_ok("gperftools", "heap profile: 2: 2048 [3: 4096]\n2: 2048 [3: 4096] @ 0x1101\n" + kMap);
  CHECK(total(s, "inuse_space") == 2048);
  CHECK(total(s, "alloc_space") == 4096);
}

TEST_CASE("gperftools: a missing sampling rate is told and nothing is scaled") {
  for (const char* type : {"heap_v2", "heap_v2/", "heap_v2/0"}) {
    CAPTURE(type);
    const Snapshot s = import_ok("gperftools", std::string("heap profile: 2: 2048 [2: 2048] @ ") + type +
                                                   "\n2: 2048 [2: 2048] @ 0x1101\n" + kMap);
    CHECK(total(s, "inuse_space") == 2048);
    CHECK(s.facts.sampling == Sampling::unknown);
    CHECK(has_note(s, Severity::warning, "sampling rate missing"));
  }
}

TEST_CASE("gperftools: dumps of old jemalloc are known by their memory map") {
  const Snapshot s = import_ok("gperftools",
                               "heap profile: 1: 8 [1: 8] @ heap_v2/1\n 1: 8 [1: 8] @ 0x1101\n\nMAPPED_LIBRARIES:\n"
                               "1000-2000 r-xp 00001000 00:00 1 /usr/lib/libjemalloc.so.1\n");
  CHECK(s.facts.producer == "jemalloc");
}

TEST_CASE("gperftools: rows without addresses and address 0") {
  const Snapshot s = import_ok("gperftools",
                               "heap profile: 3: 24 [3: 24] @ heapprofile\n"
                               "1: 8 [1: 8] @\n"
                               "1: 8 [1: 8] @ 0x0\n"
                               "1: 8 [1: 8] @ 0x1101 0x0\n" +
                                   kMap);
  CHECK(rows(s) == std::map<std::string, Row>{{"[no stack recorded]", {2, 16}}, {"a+0x1100", {1, 8}}});
  CHECK(has_note(s, Severity::info, "rows without a stack"));
}

TEST_CASE("gperftools: negative rows are kept") {
  const Snapshot s =
      import_ok("gperftools", "heap profile: -1: -8 [0: 0] @ heapprofile\n-1: -8 [0: 0] @ 0x1101\n" + kMap);
  CHECK(rows(s) == std::map<std::string, Row>{{"a+0x1100", {-1, -8}}});
  CHECK(has_note(s, Severity::warning, "negative"));
}

TEST_CASE("gperftools: bytes that the rows lack become [unattributed]") {
  const Snapshot s =
      import_ok("gperftools", "heap profile: 10: 1000 [20: 3000] @ heapprofile\n4: 400 [5: 500] @ 0x1101\n" + kMap);
  CHECK(rows(s) == std::map<std::string, Row>{{"a+0x1100", {4, 400, 5, 500}}, {"[unattributed]", {6, 600, 15, 2500}}});
  CHECK(s.facts.partial);
  CHECK(has_note(s, Severity::data_loss, "600 bytes in use (6 objects)"));
}

TEST_CASE("gperftools: rows beyond the header are told and nothing is invented") {
  const Snapshot s =
      import_ok("gperftools", "heap profile: 0: 0 [0: 0] @ heapprofile\n4: 400 [5: 500] @ 0x1101\n" + kMap);
  CHECK(rows(s) == std::map<std::string, Row>{{"a+0x1100", {4, 400}}});
  CHECK(has_note(s, Severity::warning, "more than the totals"));
  CHECK_FALSE(s.facts.partial);
}

TEST_CASE("gperftools: a dump cut at 1 MiB by its writer") {
  const Snapshot s = import_ok("gperftools", gunzip(data_file("gperftools/perl/python-truncated-1MiB.heap.gz")));
  CHECK(total(s, "inuse_objects") == 159570);
  CHECK(total(s, "inuse_space") == 11927574);
  CHECK(total(s, "alloc_objects") == 493741);
  CHECK(total(s, "alloc_space") == 50346070);
  CHECK(rows(s).at("[unattributed]") ==
        Row{159570 - 156022, 11927574 - 11730063, 493741 - 260840, 50346070 - 32545096});
  CHECK(has_note(s, Severity::data_loss, "197511 bytes in use"));
  CHECK(has_note(s, Severity::data_loss, "cut the dump at 1 MiB"));
}

TEST_CASE("gperftools: what stands in front of the header is skipped") {
  const Snapshot s = import_ok("gperftools",
                               "%warn stale binary\n<jemalloc>: hm\n--- heap\n"
                               "heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x1101\n" +
                                   kMap);
  CHECK(total(s, "inuse_space") == 8);
  CHECK(has_note(s, Severity::warning, "stale binary"));
  CHECK(has_note(s, Severity::warning, "messages of jemalloc"));
}

TEST_CASE("gperftools: without a memory map frames are bare addresses, told") {
  const Snapshot s = import_ok("gperftools", "heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x1101\n");
  CHECK(rows(s) == std::map<std::string, Row>{{"0x1100", {1, 8}}});
  CHECK(has_note(s, Severity::warning, "no memory map"));
}

TEST_CASE("gperftools: a dump without rows is an empty heap") {
  CHECK(import_ok("gperftools", "heap profile: 0: 0 [0: 0] @ heapprofile\n").samples.size() == 0);
}

TEST_CASE("gperftools: of a dump that is cut within a row the whole rows are kept") {
  const std::string text = "heap profile: 3: 24 [3: 24] @ heapprofile\n2: 16 [2: 16] @ 0x1\n1: 8 [1: 8] @ 0x12";
  for (const std::size_t lost : {0U, 1U, 4U, 12U, 16U}) {
    INFO(lost);
    const Snapshot s = import_ok("gperftools", text.substr(0, text.size() - lost));
    CHECK(s.facts.partial);
    CHECK(has_note(s, Severity::data_loss, "the last line has no end"));
    CHECK(has_note(s, Severity::data_loss, "rows are missing: they hold 8 bytes in use (1 objects) less"));
    CHECK(total(s, "inuse_space") == 24);  // what the header has beyond the rows is [unattributed]
  }
}

TEST_CASE("gperftools: errors name the byte, what was found and what was expected") {
  const std::string header = "heap profile: 1: 8 [1: 8] @ heapprofile\n";  // 40 bytes
  const std::string four = "heap profile: 1: 8 [2: 9] @ heapprofile\n";
  const auto [text, expected] = GENERATE_COPY(table<std::string, std::string>({
      {header + "garbage\n",
       "malformed at byte 40: row not recognised: found \"garbage\", expected objects: bytes [objects: bytes] @ "
       "addresses"},
      {header + "1: 8 [1: 8]\n",
       "malformed at byte 40: row not recognised: found \"1: 8 [1: 8]\", expected objects: bytes [objects: bytes] @ "
       "addresses"},
      {header + "0: 8 [1: 8] @ 0x1\n",
       "malformed at byte 40: row contradicts itself: found 0 objects with 8 bytes in use, expected none"},
      {four + "1: 8 [0: 8] @ 0x1\n",
       "malformed at byte 40: row contradicts itself: found 0 objects with 8 bytes allocated, expected none"},
      {header + "1: 99999999999999999999 [1: 8] @ 0x1\n",
       "malformed at byte 40: number beyond 2^63-1: found \"1: 99999999999999999999 [1: 8] @ 0x1\", expected it to fit "
       "in "
       "64 bits"},
      {header + "1: 8 [1: 8] @ 0x1 0x10000000000000000\n",
       "malformed at byte 58: address too big: found \"0x10000000000000000\", expected 64 bits"},
      {header + "1: 8 [1: 8] @ 0x1 0x1g\n",
       "malformed at byte 58: address not readable: found \"0x1g\", expected 0x and hexadecimal digits"},
      {"heap profile: 1: 8 [1: 8] @ nonsense\n",
       "unsupported at byte 0: unknown kind of heap profile: found \"@ nonsense\", expected heapprofile, heap_v2, "
       "heapz_v2, "
       "heap, growth or fragmentation"},
      {"heap profile: 1: 8 [1: 8] @ heap_v2/x\n",
       "malformed at byte 0: sampling rate not readable: found \"heap_v2/x\", expected a number of bytes after the "
       "slash"},
      {"heap profile: 1: 8\n",
       "malformed at byte 0: header not readable: found \"heap profile: 1: 8\", expected heap profile: objects: bytes "
       "[objects: bytes] @ type"},
      {"\n\nhello\x01\n",
       "malformed at byte 2: header not recognised: found \"hello\\x01\", expected \"heap profile:\""},
      {"", "malformed at byte 0: no dump: the input ends, expected \"heap profile:\""},
      {"heap_v2/1\n", "malformed at byte 0: header not recognised: found \"heap_v2/1\", expected \"heap profile:\""},
      {"--- contention:\n", "unsupported at byte 0: this is a contention profile, expected a heap profile"},
  }));
  CHECK(import_error("gperftools", text) == expected);
}

TEST_CASE("gperftools: sums beyond 64 bits are refused, a single 2^63-1 is not") {
  const std::string big = "1: 9223372036854775807 [0: 0] @ 0x1101\n";
  const std::string header = "heap profile: 1: 9223372036854775807 [0: 0] @ heapprofile\n";
  CHECK(total(import_ok("gperftools", header + big), "inuse_space") == 9223372036854775807);
  CHECK(import_error("gperftools", header + big + big).find("limit at byte") == 0);
  CHECK(import_error("gperftools", header + big + "1: 1 [0: 0] @ 0x1201\n").find("limit") == 0);
  CHECK(import_error("gperftools", "heap profile: 0: 0 [0: 0] @ heap_v2/524288\n1: 4611686018427387904 [0: 0] @\n" +
                                       std::string("4611686018427387904: 4611686018427387904 [0: 0] @ 0x1\n"))
            .find("limit at byte") == 0);
}
