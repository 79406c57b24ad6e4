#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& dotnet() { return formats::kDotnetHeap; }

using Rows = std::map<std::string, std::string>;

const std::string kStat =
    "> dumpheap -stat\n\nStatistics:\n              MT    Count    TotalSize Class Name\n"
    "00007f6c1dc021c8       17          680 System.SByte[]\n00000000008c9db0        3          100      Free\n"
    "00007f6c1dc00f90    1,000       48,000 System.Collections.Generic.Dictionary<System.String, System.Object>\n";

/// As PrintReportHelper.cs lays it out, with groups separated by `gap`.
std::string report(const std::string& gap, const std::string& first_bytes, const std::string& heap) {
  return "          " + heap + "  GC Heap bytes\n          " + "1" + gap +
         "010  GC Heap objects\n            12  Total "
         "references\n\n   Object Bytes     Count  Type\n" +
         std::string(15 - 6, ' ') + first_bytes + "   1" + gap + "000  System.String  [System.Private.CoreLib.dll]\n" +
         "             64        10  My App.Type<A, B>\n";
}

}  // namespace

TEST_CASE("dotnet-heap: the documented list, truncated at its small end") {
  const auto sample = tracker_sample("dotnet/public-dumpheap-stat.txt");
  if (!sample) return;
  const Snapshot s = read_one(dotnet(), *sample);
  const Rows found = rows(s);
  CHECK(found.size() == 9);
  CHECK(found.at("testwebapi.Controllers.Customer {type=testwebapi.Controllers.Customer}") == "200000 4800000");
  CHECK(found.at("System.String {type=System.String}") == "206770 19494060");
  // 428 516 objects by the Total line, 413 807 in the rows, gaps included; their bytes are not told.
  CHECK(found.at("[below threshold]") == "14709 ?");
  CHECK_FALSE(s.facts.complete);
  CHECK(counter(s, "free_gaps") == 3847);
  CHECK(counter(s, "free_space") == 116'080);
}

TEST_CASE("dotnet-heap: groups of digits, blanks in names, totals with bytes") {
  const Snapshot s = read_one(dotnet(), kStat + "Total 1,020 objects, 48,780 bytes\n");
  CHECK(s.facts.complete);
  CHECK(s.facts.notes.empty());
  CHECK(rows(s).at("System.Collections.Generic.Dictionary<System.String, System.Object> "
                   "{type=System.Collections.Generic.Dictionary<System.String, System.Object>}") == "1000 48000");
  CHECK(read_one(dotnet(), kStat + "Total 1017 objects\n").facts.notes.empty());  // without the gaps
  const Snapshot more = read_one(dotnet(), kStat + "Total 1,025 objects, 49,000 bytes\n");
  CHECK(rows(more).at("[below threshold]") == "5 220");
}

TEST_CASE("dotnet-heap: without Total, with lines that are no rows, without a list") {
  const Snapshot s = read_one(dotnet(), kStat);
  CHECK_FALSE(s.facts.complete);
  CHECK(has_note(s, "no Total line"));
  const Snapshot damaged = read_one(dotnet(), kStat + "xyz 1 2 A\nTotal 1,020 objects\n");
  CHECK(damaged.facts.partial);
  CHECK(has_note(damaged, "no rows, left out"));
  CHECK(read_error(dotnet(), "hello\n").find("no types: the input ends") != std::string::npos);
}

TEST_CASE("dotnet-heap: gcdump report in every culture") {
  for (const std::string gap : {",", ".", "\xc2\xa0", "\xe2\x80\xaf", "'"}) {
    CAPTURE(gap);
    const Snapshot s = read_one(dotnet(), report(gap, "48" + gap + "000", "48" + gap + "064"));
    CHECK(s.facts.complete);
    CHECK(rows(s) == Rows{{"System.String {type=System.String}", "1000 48000"},
                          {"My App.Type<A, B> {type=My App.Type<A, B>}", "10 64"}});
    CHECK(counter(s, "gc_heap") == 48'064);
    CHECK(counter(s, "references") == 12);
  }
}

TEST_CASE("dotnet-heap: Object Bytes of single objects are multiplied, others that do not add up are dropped") {
  const Snapshot each = read_one(dotnet(), report(",", "    48", "48,640"));
  CHECK(rows(each).at("System.String {type=System.String}") == "1000 48000");
  CHECK(rows(each).at("My App.Type<A, B> {type=My App.Type<A, B>}") == "10 640");
  const Snapshot neither = read_one(dotnet(), report(",", "    48", "99,999"));
  CHECK(neither.column("inuse_space") == nullptr);
  CHECK(rows(neither).at("System.String {type=System.String}") == "1000");
  CHECK(has_note(neither, "only counts are kept"));
}

TEST_CASE("dotnet-heap: a blank count is unknown") {
  const Snapshot s = read_one(dotnet(),
                              "  100  GC Heap bytes\n  1  GC Heap objects\n\n   Object Bytes     Count  Type\n"
                              "            100            System.String\n");
  CHECK(rows(s).at("System.String {type=System.String}") == "? 100");
  CHECK_FALSE(s.facts.complete);
}

TEST_CASE("dotnet-heap: several lists are a series") {
  const std::vector<Snapshot> series =
      read_ok(dotnet(), kStat + "Total 1,020 objects\n> dumpheap -stat\n" + kStat + "Total 1,020 objects\n" +
                            report(",", "48,000", "48,064") + "\n" + report(",", "48,000", "48,064"));
  CHECK(series.size() == 4);
}

TEST_CASE("dotnet-heap: every cut is refused, told, or loses nothing, disguises change nothing") {
  const std::string text =
      kStat + "Total 1,020 objects, 48,780 bytes\n" + kStat + "Total 1,020 objects, 48,780 bytes\n";
  check_cuts(dotnet(), text, 1);
  check_disguises(dotnet(), text);
  check_cuts(dotnet(), report(",", "48,000", "48,064"), 1);
}
