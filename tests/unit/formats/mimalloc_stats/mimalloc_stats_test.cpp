#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& stats() { return formats::kMimallocStats; }

std::string sample(const std::string& name) { return test_data("mimalloc_stats/" + name); }

/// Bytes of a size class and how far they may lie above that.
std::pair<std::int64_t, std::int64_t> size_class(const Snapshot& snapshot, const std::string& size) {
  const auto found = rows(snapshot);
  const auto row = found.find("size class " + size + " {type=size class " + size + "}");
  if (row == found.end()) return {-1, -1};
  std::istringstream values(row->second);
  std::pair<std::int64_t, std::int64_t> out;
  values >> out.first >> out.second;
  return out;
}

/// Whether a printed amount is of `bytes`: cut to a step, never rounded up.
bool is_of(std::pair<std::int64_t, std::int64_t> printed, std::int64_t bytes) {
  return printed.first <= bytes && bytes < printed.first + printed.second;
}

std::pair<std::int64_t, std::int64_t> printed(const Snapshot& snapshot, std::string_view name) {
  for (const Counter& one : snapshot.facts.counters) {
    if (one.name == name) return {one.value, one.half_unit};
  }
  return {-1, -1};
}

const std::string kHead = "heap stats:    peak      total      freed    current       unit      count   \n";
const std::string kEnd = "   process: user: 0.000 s, system: 0.002 s, faults: 3, rss: 2.5 MiB, commit: 32.0 MiB\n";
const std::string kText = kHead +
                          "normal  24: 1003.9 KiB 1003.9 KiB      0     1003.9 KiB    1.0 KiB    1.0 K    ok\n" +
                          " committed:   32.0 MiB   32.0 MiB      0       32.0 MiB      \n" + kEnd;

std::string json(const std::string& more) { return "{\"stat_version\":6,\"mimalloc_version\":30600" + more + "}\n"; }

}  // namespace

TEST_CASE("mimalloc-stats: JSON of 3.6.0, three steps of 1000 blocks and one of 40 MiB") {
  const std::vector<Snapshot> series = read_ok(stats(), sample("v3.6.0-steps.json"));
  REQUIRE(series.size() == 3);
  // Blocks of full pages, as the file has them: 819, 1827 and 2835 of 1024 bytes.
  CHECK(size_class(series[0], "1024") == std::pair<std::int64_t, std::int64_t>(838'656, 0));
  CHECK(size_class(series[1], "1024").first == 1'870'848);
  CHECK(size_class(series[2], "1024").first == 2'903'040);
  CHECK(rows(series[0]).size() == 1);
  CHECK(size_class(series[2], "huge").first == 40 * 1024 * 1024);
  CHECK(counter(series[0], "allocated") == 838'656);
  CHECK(counter(series[1], "allocated") == 43'813'888);
  CHECK(counter(series[1], "allocated_total") == 43'850'752);
  CHECK(counter(series[2], "committed") == 47'906'816);
  CHECK(counter(series[2], "rss_peak").has_value());
  CHECK_FALSE(counter(series[2], "user_msecs").has_value());
  CHECK(series[2].facts.producer == "mimalloc 3.6.0");
  CHECK(series[2].facts.format_detail == "JSON");
  CHECK(series[2].facts.notes.empty());
  CHECK(series[2].facts.complete);
}

TEST_CASE("mimalloc-stats: the text of a dump says what its JSON says, to a step") {
  const std::vector<Snapshot> exact = read_ok(stats(), sample("v3.6.0-steps.json"));
  const std::vector<Snapshot> text = read_ok(stats(), sample("v3.6.0-steps.txt"));
  REQUIRE(text.size() == 3);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CAPTURE(i, describe(text[i]));
    CHECK(is_of(size_class(text[i], "1.0 KiB"), size_class(exact[i], "1024").first));
    CHECK(is_of(printed(text[i], "allocated"), *counter(exact[i], "allocated")));
    CHECK(counter(text[i], "heaps") == 1);
    CHECK(text[i].facts.notes.empty());
  }
  CHECK(is_of(size_class(text[2], "huge"), 40 * 1024 * 1024));
  CHECK(size_class(text[0], "huge").first == -1);
}

TEST_CASE("mimalloc-stats: 2.0.9 counts every block") {
  const std::vector<Snapshot> series = read_ok(stats(), sample("v2.0.9-steps.txt"));
  REQUIRE(series.size() >= 3);
  for (int step = 0; step < 3; ++step) {
    CAPTURE(step);
    const Snapshot& s = series[static_cast<std::size_t>(step)];
    CHECK(is_of(size_class(s, "1.0 KiB"), 1024 * 1000 * (step + 1)));
    CHECK(rows(s).size() == 1);
    CHECK(is_of(printed(s, "malloc_huge"), step == 0 ? 0 : 44 * 1024 * 1024) == (step > 0));
    CHECK(s.facts.notes.empty());
  }
  CHECK(counter(series[0], "segments") == 1);
  CHECK(counter(series[1], "segments") == 2);
  CHECK(counter(series[0], "pages_extended") == 254);
}

TEST_CASE("mimalloc-stats: dumps without bins are counters only, whatever the version") {
  const Snapshot v2 = read_one(stats(), sample("v2.5.1.txt"));
  CHECK(v2.samples.columns.empty());
  CHECK(is_of(printed(v2, "committed"), std::int64_t{1} << 30));
  CHECK(counter(v2, "segments_abandoned") == 3);
  CHECK(counter(v2, "segments_abandoned_total") == 5);
  CHECK(counter(v2, "pages") == 47);
  CHECK(counter(v2, "pages_abandoned") == 30);
  CHECK(counter(v2, "threads") == 2);
  CHECK(counter(v2, "mmap_calls") == 8);
  CHECK(counter(v2, "purge_calls") == 1);
  CHECK(printed(v2, "rss_peak") == std::pair<std::int64_t, std::int64_t>(695 * 104'857, 104'857));
  CHECK_FALSE(counter(v2, "searches").has_value());

  const Snapshot v3 = read_one(stats(), sample("v3.2.7.txt"));
  CHECK(is_of(printed(v3, "reserved"), std::int64_t{1} << 30));
  CHECK(counter(v3, "heaps") == 2);
  CHECK(counter(v3, "arena_count") == 1);

  const Snapshot v1 = read_one(stats(), sample("bun-1.1.0.txt"));
  CHECK(counter(v1, "pages") == -5);
  CHECK(is_of(printed(v1, "committed"), 32 * 1024 * 1024));
  CHECK(counter(v1, "page_faults") == 15);
  CHECK(is_of(printed(v1, "committed_total"), 33 * 1024 * 1024));

  const Snapshot v21 = read_one(stats(), sample("bun-1.3.5.txt"));
  CHECK(counter(v21, "pages") == -2);
  CHECK(counter(v21, "arena_crossover_count") == 0);
  CHECK(counter(read_one(stats(), sample("v2.0.9-release.txt")), "segments") == 1);
}

TEST_CASE("mimalloc-stats: every sample is of this format and of no other") {
  for (const char* const name : {"v2.0.9-steps.txt", "v2.0.9-release.txt", "v2.5.1.txt", "v3.2.7.txt",
                                 "v3.6.0-steps.txt", "v3.6.0-steps.json", "bun-1.1.0.txt", "bun-1.3.5.txt"}) {
    CAPTURE(name);
    const Result<const formats::Format*> found = formats::detect(sample(name), true);
    REQUIRE(found);
    CHECK(*found == &stats());
  }
  const Result<const formats::Format*> in_log = formats::detect("rss: 5 MB\nrss: 6 MB\n" + kText, true);
  REQUIRE(in_log);
  CHECK(*in_log == &stats());
}

TEST_CASE("mimalloc-stats: amounts are cut by whole numbers: 1000 KiB are printed as 1003.9") {
  const Snapshot s = read_one(stats(), kText);
  CHECK(size_class(s, "1.0 KiB") == std::pair<std::int64_t, std::int64_t>(10'039 * 102, 102));
  CHECK(is_of(size_class(s, "1.0 KiB"), 1000 * 1024));
  CHECK(counter(s, "page_faults") == 3);
}

TEST_CASE("mimalloc-stats: rows that cannot be read are left out and counted") {
  for (const char* const cells :
       {"99999999999999999999", "1.0 XiB 1.0 KiB 0 1.0 KiB", "9223372036854775807.9 GiB 0 0 0", "1.25 KiB 0 0 0", "1 2",
        "1.0 1.0 0 1.0", "1 KiB 0 0 1 KiB", "- 1 2 3"}) {
    CAPTURE(cells);
    const Snapshot s = read_one(stats(), kHead + " committed: " + cells + "\n  reserved: 5 5 0 5\n" + kEnd);
    CHECK(s.facts.partial);
    CHECK(has_note(s, "rows that could not be read"));
    CHECK(counter(s, "reserved") == 5);
    CHECK_FALSE(counter(s, "committed").has_value());
  }
}

TEST_CASE("mimalloc-stats: statistics of single heaps are left out, those of the process count") {
  const std::string v3 = sample("v3.2.7.txt");
  const std::string heap = "heap 1\n" + v3.substr(v3.find('\n') + 1);
  const Snapshot s = read_one(stats(), heap + v3);
  CHECK(describe(s).find("statistics of single heaps, left out 1") != std::string::npos);
  CHECK(counter(s, "heaps") == 2);
}

TEST_CASE("mimalloc-stats: damaged JSON is refused with its place, whole dumps in front of it are kept") {
  CHECK(read_error(stats(), "{\"other\":1}").find("expected an object with stat_version") != std::string::npos);
  const std::string bin = "{\"current\":9223372036854775807,\"block_size\":16}";
  CHECK(read_error(stats(), json(",\"malloc_bins\":[" + bin + "," + bin + "]")).find("beyond 2^63-1") !=
        std::string::npos);
  std::string many = ",\"malloc_bins\":[";
  for (int i = 0; i < 5000; ++i) many += std::string(i == 0 ? "" : ",") + "{\"current\":0,\"block_size\":8}";
  CHECK(read_error(stats(), json(many + "]")).find("too many bins") != std::string::npos);
  CHECK(read_error(stats(), "{\"stat_version\":" + std::string(10'000, '[')).find("nested too deeply") !=
        std::string::npos);
  const std::vector<Snapshot> series = read_ok(stats(), json("") + json("").substr(0, 20));
  REQUIRE(series.size() == 1);
  CHECK(series[0].facts.partial);
  CHECK(series[0].facts.producer == "mimalloc 3.6.0");
  CHECK(read_one(stats(), "{\"stat_version\":1,\"mimalloc_version\":225}").facts.producer == "mimalloc 2.2.5");
}

TEST_CASE("mimalloc-stats: unknown fields are left out") {
  const Snapshot s = read_one(stats(), json(",\"committed\":{\"total\":7,\"peak\":9,\"current\":5},\"shiny\":4"));
  CHECK(describe(s).find("shiny") == std::string::npos);
  CHECK(counter(s, "committed") == 5);
  CHECK(counter(s, "committed_total") == 7);
}

TEST_CASE("mimalloc-stats: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_cuts(stats(), kText + kText, 1);
  check_cuts(stats(), sample("v3.2.7.txt"), 1);
  check_cuts(stats(), sample("v2.0.9-steps.txt"), 7);
  check_cuts(stats(), json(",\"reset\":3") + json(""), 1);
  check_disguises(stats(), kText + "log\n" + kText);
  check_disguises(stats(), sample("v3.6.0-steps.txt"));
  CHECK(read_error(stats(), "hello\n").find("no statistics: the input ends") != std::string::npos);
}
