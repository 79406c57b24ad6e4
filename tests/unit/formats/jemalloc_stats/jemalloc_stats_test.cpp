#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& stats() { return formats::kJemallocStats; }

using Rows = std::map<std::string, std::string>;

std::string row(int size) {
  const std::string name = "size class " + std::to_string(size);
  return name + " {type=" + name + "}";
}

/// A dump of `arenas`, which is inserted as it is.
std::string json(const std::string& arenas, const std::string& allocated = "96") {
  return "{\"jemalloc\":{\"version\":\"5.3\",\"arenas\":{\"bin\":[{\"size\":8},{\"size\":16}],\"lextent\":[{\"size\":"
         "16384}]},\"stats\":{\"allocated\":" +
         allocated + ",\"active\":4096,\"mutexes\":{\"ctl\":{\"num_ops\":3}}},\"stats.arenas\":{" + arenas + "}}}\n";
}
const std::string kArena = "{\"bins\":[{\"curregs\":4},{\"curregs\":4}],\"lextents\":[{\"curlextents\":0}]}";

const std::string kText =
    "___ Begin jemalloc statistics ___\nVersion: \"5.3\"\nAllocated: 32864, active: 40960, metadata: 7 (n_thp 2), "
    "resident: 8, mapped: 9, retained: 10\narenas[0]:\nlarge:                         32768               2\n"
    "bins:           size ind    allocated      nmalloc (#/sec)      ndalloc (#/sec)  curregs   util\n"
    "                     ---\n                  96   6           96            1       0            0       0        "
    "1 "
    "  0.9\n                     ---\n"
    "large:          size ind    allocated  curlextents\n               16384  39        32768            2\n"
    "                     ---\n--- End jemalloc statistics ---\n";

}  // namespace

TEST_CASE("jemalloc-stats: je_series adds 1000 regions of 96 and 2 extents of 114 688 bytes a step, JSON and text") {
  for (const std::string ending : {".json", ".txt"}) {
    std::vector<Rows> steps;
    std::vector<Snapshot> series;
    for (int step = 0; step < 3; ++step) {
      const auto sample = tracker_sample("jemalloc/je-step" + std::to_string(step) + ending);
      if (!sample) return;
      series.push_back(read_one(stats(), *sample));
      CAPTURE(ending, step, describe(series.back()));
      CHECK(series.back().facts.complete);
      CHECK_FALSE(series.back().facts.partial);
      CHECK(series.back().facts.notes.empty());
      CHECK(series.back().facts.producer == "jemalloc 5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c");
      CHECK(total(series.back(), "inuse_space") == counter(series.back(), "allocated"));
      steps.push_back(rows(series.back()));
      CHECK(steps.back().at(row(96)) == std::to_string(1000 * (step + 1)) + " " + std::to_string(96'000 * (step + 1)));
      const int extents = 2 * (step + 1);
      CHECK(steps.back().at(row(114'688)) == std::to_string(extents) + " " + std::to_string(extents * 114'688));
    }
    if (ending == ".json") {
      CHECK(counter(series[0], "allocated") == 547'584);
      CHECK(counter(series[1], "allocated") == 872'960);
      CHECK(counter(series[2], "allocated") == 1'198'336);
      CHECK(counter(series[0], "resident") == 3'223'552);
    }
  }
}

TEST_CASE("jemalloc-stats: dumps without arenas are counters only") {
  for (int step = 0; step < 3; ++step) {
    const auto sample = tracker_sample("jemalloc/je-step" + std::to_string(step) + "-gmab.txt");
    if (!sample) return;
    const Snapshot s = read_one(stats(), *sample);
    CHECK(s.samples.columns.empty());
    CHECK(counter(s, "allocated") == 547'584 + step * 325'376);
    CHECK(counter(s, "metadata_thp") == 0);
  }
}

TEST_CASE("jemalloc-stats: single arenas are added where there is no merged one") {
  const Rows expected{{row(8), "8 64"}, {row(16), "8 128"}};
  CHECK(rows(read_one(stats(), json("\"0\":" + kArena + ",\"3\":" + kArena, "192"))) == expected);
  const Snapshot merged =
      read_one(stats(), json("\"0\":" + kArena + ",\"merged\":" + kArena + ",\"destroyed\":" + kArena));
  CHECK(rows(merged) == Rows{{row(8), "4 32"}, {row(16), "4 64"}});
  CHECK(merged.facts.notes.empty());
}

TEST_CASE("jemalloc-stats: several dumps of one input are a series, blanks and marks do not matter") {
  CHECK(read_ok(stats(), "\xef\xbb\xbf " + json("\"0\":" + kArena) + "\n" + json("\"0\":" + kArena)).size() == 2);
  CHECK(stats().sniff("{\n\t\"jemalloc\" : {") == Match::certain);
  CHECK(read_ok(stats(), kText + "log\n" + kText).size() == 2);
}

TEST_CASE("jemalloc-stats: a table that is left out by an option is the rest of the allocated bytes") {
  const Snapshot s = read_one(stats(), json("\"0\":{\"bins\":[{\"curregs\":4}]}"));
  CHECK_FALSE(s.facts.complete);
  CHECK(rows(s) == Rows{{row(8), "4 32"}, {"[no size class recorded]", "? 64"}});
  CHECK(has_note(read_one(stats(), json("\"0\":" + kArena, "97")), "do not add up"));
}

TEST_CASE("jemalloc-stats: text is read by the names of its columns") {
  const Snapshot s = read_one(stats(), kText);
  CHECK(rows(s) == Rows{{row(96), "1 96"}, {row(16384), "2 32768"}});
  CHECK(counter(s, "metadata_thp") == 2);
  CHECK(s.facts.notes.empty());
}

TEST_CASE("jemalloc-stats: malformed JSON is refused with its place") {
  const Series cut = read_series(stats(), json("\"0\":" + kArena).substr(0, 200));
  REQUIRE(cut.error.has_value());
  CHECK(cut.error->text().find("truncated JSON") != std::string::npos);
  CHECK(cut.error->offset == 200);
  CHECK(read_error(stats(), "{\"jemalloc\":{,}}").find("malformed JSON: found") != std::string::npos);
  CHECK(read_error(stats(), "{\"other\":1}").find("expected an object called jemalloc") != std::string::npos);
  CHECK(read_error(stats(), json("\"0\":{\"bins\":[{\"curregs\":-1}]}")).find("found -1 live objects") !=
        std::string::npos);
  CHECK(read_error(stats(), json("\"0\":{\"bins\":[{\"curregs\":1},{\"curregs\":1},{\"curregs\":1}]}"))
            .find("size class 2 not readable") != std::string::npos);
  CHECK(read_error(stats(), json("\"0\":{\"bins\":[{\"curregs\":9223372036854775807}]}")).find("beyond 2^63-1") !=
        std::string::npos);
  std::string deep = "{\"jemalloc\":";
  for (int i = 0; i < 10'000; ++i) deep += '[';
  CHECK(read_error(stats(), deep).find("nested too deeply: expected at most 64 levels") != std::string::npos);
}

TEST_CASE("jemalloc-stats: a cut dump behind a whole one is left out and said") {
  const std::vector<Snapshot> series = read_ok(stats(), json("\"0\":" + kArena) + json("").substr(0, 30));
  REQUIRE(series.size() == 1);
  CHECK(series[0].facts.partial);
  const std::vector<Snapshot> texts = read_ok(stats(), kText + kText.substr(0, 300));
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].facts.partial);
}

TEST_CASE("jemalloc-stats: rows that cannot be read are counted, a text without a dump is refused") {
  std::string text = kText;
  text.replace(text.find("96   6"), 6, "9x   6");
  const Snapshot s = read_one(stats(), text);
  CHECK(s.facts.partial);
  CHECK(has_note(s, "could not be read"));
  CHECK(read_error(stats(), "hello\n").find("no statistics: the input ends") != std::string::npos);
}

TEST_CASE("jemalloc-stats: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_cuts(stats(), kText + kText, 1);
  check_cuts(stats(), json("\"0\":" + kArena) + json("\"0\":" + kArena), 1);
  check_disguises(stats(), kText + kText);
  for (const std::size_t window : {std::size_t{1}, std::size_t{64}}) {
    CHECK(describe(read_series(stats(), json("\"0\":" + kArena), window).snapshots) ==
          describe(read_ok(stats(), json("\"0\":" + kArena))));
  }
}
