#include <catch2/catch.hpp>
#include <string>

#include "unit/formats/heap_text/helpers.hpp"

using snapdiff::Severity;
using snapdiff::Snapshot;
using namespace snapdiff::test;
using Row = std::vector<std::int64_t>;

namespace {
const std::string kHead = "--- heapz 1 ---\nformat = java\nresolution = bytes\n";  // 49 bytes
}

TEST_CASE("java heapz: bytes come first, ids are named by the table") {
  const Snapshot s = import_ok("java-heapz", kHead +
                                                 "   7048   1 @ 0x00000003 0x4 0x5 0x6\n"
                                                 "   4752   9 @ 0x7\n"
                                                 "\n"
                                                 " 0x00000003 com.example.Cache.put (Cache.java:103)\n"
                                                 " 0x4 native_call (/usr/lib/libjvm.so)\n"
                                                 " 0x5 some generated stub/JIT code\n"
                                                 " 0x6 GC\n"
                                                 " 0x7 com.example.Native.run (Native.java:-2)\n"
                                                 " 0x99 unused (A.java:1)\n");
  // pprof's own decode of such rows: 74 / 527819 and 8941 / 4720968.
  CHECK(rows(s) == std::map<std::string, Row>{{"com.example.Cache.put:103;native_call;STUB;GC", {74, 527819}},
                                              {"com.example.Native.run", {8941, 4720968}}});
  const auto& d = *s.dictionary;
  CHECK(d.strings[d.functions.file[1]] == "Cache.java");
  CHECK(d.strings[d.functions.file[2]] == "libjvm.so");
  CHECK(d.strings[d.functions.file[5]] == "Native.java");
  CHECK(d.frames.offset[0] == snapdiff::kNoOffset);
  CHECK(s.facts.producer == "java");
  CHECK(s.facts.period == 524288);
  CHECK(s.facts.notes.empty());
}

TEST_CASE("java heapz: ids without a location stay unnamed, told") {
  const Snapshot some = import_ok("java-heapz", kHead + "1000000 1 @ 0x3 0x4\n 0x3 f (A.java:1)\n");
  CHECK(rows(some).begin()->first == "f:1;0x4");
  CHECK(has_note(some, Severity::warning, "without a location"));
  CHECK_FALSE(some.facts.partial);
  const Snapshot none = import_ok("java-heapz", kHead + "1000000 1 @ 0x3 0x4\n");
  CHECK(none.facts.partial);
  CHECK(has_note(none, Severity::data_loss, "no location lines"));
}

TEST_CASE("java heapz: errors name the byte, what was found and what was expected") {
  const auto [text, expected] = GENERATE_COPY(table<std::string, std::string>({
      {data_file("java_heapz/java/zero-count.bin"),
       "malformed at byte 16: row contradicts itself: found 0 objects in \"0 0 @ 0\", expected a count that is not "
       "zero"},
      {kHead + "12 x @ 0x1\n",
       "malformed at byte 49: row not recognised: found \"12 x @ 0x1\", expected bytes count @ ids, or 0x, an id and a "
       "location"},
      {kHead + "12 1 @ 0x1", "malformed at byte 59: no rows: the input ends, expected bytes count @ ids"},
      {kHead, "malformed at byte 49: no rows: the input ends, expected bytes count @ ids"},
      {"--- heapz 1 ---\nformat = c++\n",
       "malformed at byte 16: setting not known: found \"format = c++\", expected format = java or resolution = bytes"},
      {"--- heapz 1 ---\nheap/sampling period = 3\n",
       "malformed at byte 16: row not recognised: found \"heap/sampling period = 3\", expected bytes count @ ids, or "
       "0x, an "
       "id and a location"},
      {"--- heapz 1 ---\nformat = java\nresolution = pages\n",
       "unsupported at byte 30: unit not known: found resolution = \"pages\", expected bytes"},
      {kHead + "1 1 @ 0x3\n0xzz\n",
       "malformed at byte 59: location not readable: found \"0xzz\", expected 0x, an id and a text"},
  }));
  CHECK(import_error("java-heapz", text) == expected);
}
