#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& smaps() { return formats::kProcSmaps; }

/// The resident bytes of the row with this key.
std::int64_t rss_of(const Snapshot& snapshot, const std::string& key) {
  const std::string values = rows(snapshot).at(key);
  return std::stoll(values);
}

std::string area(const std::string& addresses, const std::string& path, int rss) {
  return addresses + " rw-p 00000000 00:00 0 " + path + "\nSize:    8 kB\nRss:     " + std::to_string(rss) +
         " kB\nPrivate_Dirty:    " + std::to_string(rss) + " kB\nVmFlags: rd wr\n";
}

}  // namespace

TEST_CASE("proc-smaps: sums are those of smaps_rollup, taken at the same moment") {
  for (const std::string step : {"1", "3"}) {
    const Snapshot map = read_one(smaps(), test_data("proc_text/smaps." + step));
    const Snapshot rollup = read_one(smaps(), test_data("proc_text/smaps_rollup." + step));
    CHECK(map.facts.notes.empty());
    CHECK(map.facts.default_metric == "rss");
    for (const std::string name : {"rss", "private_dirty", "shared_clean", "anonymous", "swap"}) {
      CAPTURE(name);
      CHECK(counter(map, name) == counter(rollup, name));
      CHECK(counter(map, name) == total(map, name));
    }
    // Each mapping's share is cut to whole KiB.
    const std::int64_t cut = *counter(rollup, "pss") - *counter(map, "pss");
    CHECK(cut >= 0);
    CHECK(cut <= 39 * 1024);
    CHECK(rollup.samples.size() == 0);
    CHECK(rollup.facts.format_detail == "smaps_rollup");
  }
  CHECK(counter(read_one(smaps(), test_data("proc_text/smaps_rollup.1")), "rss") == 4140 * 1024);
}

TEST_CASE("proc-smaps: the heap grows from step 1 to step 3, mappings of one file are one row") {
  const Snapshot first = read_one(smaps(), test_data("proc_text/smaps.1"));
  const Snapshot last = read_one(smaps(), test_data("proc_text/smaps.3"));
  CHECK(rss_of(last, "[heap] {type=heap}") - rss_of(first, "[heap] {type=heap}") > 300 * 1024);
  CHECK(rss_of(first, "/srv/app/glibc/glibc {type=file}") == rss_of(last, "/srv/app/glibc/glibc {type=file}"));
  CHECK(rows(first).count("[stack] {type=stack}") == 1);
}

TEST_CASE("proc-smaps: arenas of glibc and stacks of threads are told from other anonymous memory") {
  const Snapshot map = read_one(smaps(), test_data("proc_text/smaps.threads"));
  CHECK(rss_of(map, "[glibc arena] {type=heap}") == (988 + 2956) * 1024);
  CHECK(rss_of(map, "[thread stack] {type=stack}") == (48 + 44) * 1024);
  CHECK(rss_of(map, "[anonymous] {type=anonymous}") == (8 + 20 + 4) * 1024);
}

TEST_CASE("proc-smaps: a heap that asked for its address is no arena of glibc") {
  const std::string tail = "c000400000-c004000000 ---p 00000000 00:00 0 \nSize: 61440 kB\nRss:   0 kB\n";
  const std::string stack = area("7ffeb762c000-7ffeb764d000", "[stack]", 8);
  const Snapshot go = read_one(smaps(), area("c000000000-c000400000", "", 4096) + tail + stack);
  CHECK(rss_of(go, "[anonymous] {type=anonymous}") == 4096 * 1024);
}

TEST_CASE("proc-smaps: kinds of mappings") {
  const Snapshot map = read_one(smaps(), area("1000-3000", "/dev/nvidia0", 1) + area("4000-6000", "/dev/shm/a", 2) +
                                             area("7000-9000", "/memfd:jit (deleted)", 3) +
                                             area("a000-c000", "[anon:scudo:primary]", 4) +
                                             area("d000-f000", "/usr/lib/a b.so (deleted)", 5));
  CHECK(rss_of(map, "/dev/nvidia0 {type=device}") == 1024);
  CHECK(rss_of(map, "/dev/shm/a {type=shared memory}") == 2048);
  CHECK(rss_of(map, "/memfd:jit {type=shared memory}") == 3072);
  CHECK(rss_of(map, "[anon:scudo:primary] {type=anonymous}") == 4096);
  CHECK(rss_of(map, "/usr/lib/a b.so {type=file}") == 5120);
}

TEST_CASE("proc-smaps: several maps in one text are a series, with the time between them") {
  const std::string one = area("1000-3000", "[heap]", 8);
  const std::string two = area("1000-3000", "[heap]", 16);
  const std::vector<Snapshot> series = read_ok(smaps(), "2026-11-21 10:00:00\n" + one + "2026-11-21 10:05:00\n" + two);
  REQUIRE(series.size() == 2);
  CHECK(total(series[0], "rss") == 8192);
  CHECK(total(series[1], "rss") == 16384);
  CHECK(series[0].facts.taken_at_ns == 1795255200000000000);
  CHECK_FALSE(series[1].facts.partial);
}

TEST_CASE("proc-smaps: pmap -x, twice in one text, adds up to its last line") {
  const std::string text(test_data("proc_text/pmap-x.txt"));
  const std::vector<Snapshot> both = read_ok(smaps(), text);
  REQUIRE(both.size() == 2);
  CHECK(total(both[0], "rss") == 5112 * 1024);
  CHECK(total(both[1], "rss") == 10000 * 1024);
  CHECK(counter(both[1], "virtual_size") == 19432 * 1024);
  CHECK(both[0].facts.format_detail == "pmap -x");
  CHECK(rss_of(both[0], "libc.so.6 {type=file}") == (152 + 676 + 64 + 16 + 8) * 1024);
  CHECK(rss_of(both[0], "[thread stack] {type=stack}") == 8 * 1024);
  check_line_cuts(smaps(), text);
}

TEST_CASE("proc-smaps: a map that is cut says so, fields that cannot be read are counted") {
  const std::string text = test_data("proc_text/smaps.1");
  const std::vector<Snapshot> whole = read_ok(smaps(), text);
  for (std::size_t size = text.size() - 3000; size < text.size(); size += 7) {
    const Series cut = read_series(smaps(), std::string_view(text).substr(0, size));
    REQUIRE_FALSE(cut.error);
    CHECK((cut.snapshots[0].facts.partial || text[size - 1] == '\n'));
  }
  CHECK(read_one(smaps(), "1000-3000 rw-p 00000000 00:00 0 [heap]\nRss:   8 MB\nSize:   8 kB\n").facts.partial);
  CHECK(has_note(read_one(smaps(),
                          "1000-3000 rw-p 00000000 00:00 0 \nRss:   8 kB\nShared_Clean:  0 kB\nShared_Dirty:  0 kB\n"
                          "Private_Clean:  0 kB\nPrivate_Dirty:   4 kB\n"),
                 "not the sum of its clean and dirty parts"));
}

TEST_CASE("proc-smaps: text without a mapping, and sums beyond 64 bits, are refused") {
  CHECK(read_error(smaps(), "nothing\n").find("no mapping") != std::string::npos);
  const std::string huge = "Rss:  9007199254740991 kB\n";
  CHECK(read_error(smaps(), "1000-3000 rw-p 0 00:00 0 \n" + huge + "4000-6000 rw-p 0 00:00 0 \n" + huge)
            .find("beyond 2^63-1") != std::string::npos);
  check_disguises(smaps(), test_data("proc_text/smaps_rollup.1"));
}
