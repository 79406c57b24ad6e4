#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& totals() { return formats::kMallocTotals; }

}  // namespace

TEST_CASE("malloc-totals: malloc_info's sums, in use is what is not free") {
  const Snapshot s = read_one(totals(), test_data("allocator_totals/malloc_info.002.xml"));
  CHECK(counter(s, "system") == 1073152);
  CHECK(counter(s, "free") == 28205);
  CHECK(counter(s, "in_use") == 1073152 - 28205);
  CHECK(counter(s, "mmapped") == 0);
  CHECK(counter(s, "arenas") == 1);
  CHECK(s.facts.format_detail == "malloc_info");
  CHECK(s.facts.notes.empty());
}

TEST_CASE("malloc-totals: malloc_stats and mallinfo2 of the same moments agree") {
  const std::vector<Snapshot> stats = read_ok(totals(), test_data("allocator_totals/malloc_stats.log"));
  const std::vector<Snapshot> info = read_ok(totals(), test_data("allocator_totals/mallinfo2.log"));
  REQUIRE(stats.size() == 8);
  REQUIRE(info.size() == 8);
  CHECK(counter(info[7], "in_use") == 2034752);
  CHECK(counter(info[7], "releasable") == 25168);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(counter(stats[i], "system") == counter(info[i], "system"));
    // malloc_stats() itself allocates on its first call.
    if (i > 0) CHECK(counter(stats[i], "in_use") == counter(info[i], "in_use"));
    CHECK(stats[i].facts.notes.empty());
    CHECK(info[i].facts.notes.empty());
  }
}

TEST_CASE("malloc-totals: mmapped blocks are in use, and no part of an arena") {
  const std::string stats =
      "Arena 0:\nsystem bytes     =     135168\nin use bytes     =       1136\nArena 1:\nsystem bytes     =     "
      "135168\n"
      "in use bytes     =       3136\nTotal (incl. mmap):\nsystem bytes     =    1319936\nin use bytes     =    "
      "1053872\n"
      "max mmap regions =          1\nmax mmap bytes   =    1049600\n";
  const Snapshot s = read_one(totals(), stats);
  CHECK(counter(s, "mmapped") == 1049600);
  CHECK(counter(s, "arenas") == 2);
  CHECK(counter(s, "free") == 266064);
  CHECK(s.facts.notes.empty());
  const Snapshot info =
      read_one(totals(),
               "Total non-mmapped bytes (arena):       135168\nBytes in mapped regions (hblkhd):      4096\n"
               "Total allocated space (uordblks):      128\nTotal free space (fordblks):           135040\n"
               "Topmost releasable block (keepcost):   134912\n");
  CHECK(counter(info, "in_use") == 128 + 4096);
  CHECK(counter(info, "system") == 135168 + 4096);
  const Snapshot xml = read_one(
      totals(),
      "<malloc version=\"1\"><heap nr=\"0\"><total type=\"fast\" count=\"1\" size=\"10\"/><total type=\"rest\" "
      "count=\"1\" size=\"20\"/><system type=\"current\" size=\"100\"/></heap><total type=\"fast\" count=\"1\" "
      "size=\"10\"/><total type=\"rest\" count=\"1\" size=\"20\"/><total type=\"mmap\" count=\"1\" size=\"500\"/>"
      "<system type=\"current\" size=\"100\"/></malloc>");
  CHECK(counter(xml, "in_use") == 70 + 500);
  CHECK(counter(xml, "system") == 600);
  CHECK(xml.facts.notes.empty());
}

TEST_CASE("malloc-totals: tcmalloc's parts add up to the memory used") {
  const Snapshot s = read_one(totals(), test_data("allocator_totals/tcmalloc.txt"));
  CHECK(counter(s, "in_use") == 2439728);
  CHECK(counter(s, "free") == 139264 + 185288 + 381448);
  CHECK(counter(s, "page_heap_free") == 139264);
  CHECK(counter(s, "thread_cache_free") == 381448);
  CHECK(counter(s, "metadata") == 2621440);
  CHECK(counter(s, "system") == 5767168);
  CHECK(counter(s, "unmapped") == 0);
  CHECK(s.facts.producer == "tcmalloc");
  CHECK(s.facts.notes.empty());
  // The later tcmalloc, from its documentation.
  const Snapshot later = read_one(totals(),
                                  "MALLOC:    10858234672 (10355.2 MiB) Bytes in use by application\n"
                                  "MALLOC: +    827129856 (  788.8 MiB) Bytes in page heap freelist\n"
                                  "MALLOC: +    386098400 (  368.2 MiB) Bytes in central cache freelist\n"
                                  "MALLOC: +    105330688 (  100.5 MiB) Bytes in per-CPU cache freelist\n"
                                  "MALLOC: +      9095680 (    8.7 MiB) Bytes in transfer cache freelist\n"
                                  "MALLOC: +       660976 (    0.6 MiB) Bytes in thread cache freelists\n"
                                  "MALLOC: +     49333930 (   47.0 MiB) Bytes in malloc metadata\n"
                                  "MALLOC: +       629440 (    0.6 MiB) Bytes in malloc metadata Arena unallocated\n"
                                  "MALLOC: +      1599704 (    1.5 MiB) Bytes in malloc metadata Arena unavailable\n"
                                  "MALLOC:   ------------\n"
                                  "MALLOC: =  12238113346 (11671.2 MiB) Actual memory used (physical + swap)\n"
                                  "MALLOC: +    704643072 (  672.0 MiB) Bytes released to OS (aka unmapped)\n");
  CHECK(counter(later, "per_CPU_cache_free") == 105330688);
  CHECK(counter(later, "unmapped") == 704643072);
  CHECK(later.facts.notes.empty());
}

TEST_CASE("malloc-totals: what does not add up is said") {
  CHECK(has_note(read_one(totals(), "arena=100 hblkhd=0 uordblks=60 fordblks=30\n"), "do not add up to arena"));
  CHECK(has_note(read_one(totals(),
                          "MALLOC:   5 (  0.0 MiB) Bytes in use by application\n"
                          "MALLOC: = 7 (  0.0 MiB) Actual memory used (physical + swap)\n"
                          "MALLOC: + 0 (  0.0 MiB) Bytes released to OS (aka unmapped)\n"),
                 "do not add up to the memory used"));
}

TEST_CASE("malloc-totals: fields that wrapped are left out and named") {
  const std::string good = "arena=100 hblkhd=0 uordblks=60 fordblks=40\n";
  const std::vector<Snapshot> series =
      read_ok(totals(), good + "arena=-2147483000 hblkhd=0 uordblks=-2147483100 fordblks=100\n");
  REQUIRE(series.size() == 1);
  CHECK(has_note(series[0], "mallinfo2()"));
}

TEST_CASE("malloc-totals: cuts, disguises, other text") {
  for (const std::string file : {"malloc_info.002.xml", "malloc_stats.log", "mallinfo2.log", "tcmalloc.txt"}) {
    CAPTURE(file);
    const std::string text = test_data("allocator_totals/" + file);
    check_disguises(totals(), text);
    check_cuts(totals(), text, 29);
    CHECK(totals().sniff(text) == Match::certain);
  }
  CHECK(read_error(totals(), "nothing\n").find("malloc_info()") != std::string::npos);
  CHECK(read_error(totals(), "arena=9223372036854775807 hblkhd=1 uordblks=1 fordblks=9223372036854775806\n")
            .find("2^63-1") != std::string::npos);
}
