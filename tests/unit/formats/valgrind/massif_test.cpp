#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/input/all_formats.hpp"
#include "formats/registry.hpp"
#include "support/imported.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

using Rows = std::map<std::string, std::vector<std::int64_t>>;

namespace {

const std::string kHeader = "desc: --depth=9\ncmd: ./svc a\ntime_unit: i\n";

std::string snapshot_text(int number, int bytes, const std::string& tree) {
  return "#-----------\nsnapshot=" + std::to_string(number) + "\n#-----------\ntime=" + std::to_string(number * 10) +
         "\nmem_heap_B=" + std::to_string(bytes) + "\nmem_heap_extra_B=8\nmem_stacks_B=16\n" + tree;
}

const std::string kRoot = "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n";
const std::string kTree = "heap_tree=detailed\nn3: 100 " + kRoot +
                          " n2: 60 0x10: grow(int) (a.c:3)\n"
                          "  n0: 40 0x20: main (a.c:9)\n"
                          "  n0: 15 in 2 places, all below massif's threshold (1.00%)\n"
                          " n1: 30 0x30: ??? (in /l/libx.so)\n"
                          "  n1: 30 0x40: inner (b.h:1)\n"
                          "   n0: 30 0x40: outer (b.h:2)\n"
                          " n0: 10 in 1 place, below massif's threshold (1.00%)\n";

Imported import_massif(std::string_view text, std::size_t window = 0) {
  return import_with(
      text, [&](Input& in, SnapshotSink& out) { return formats::kMassif.read(in, out); }, window);
}

std::string massif_error(const std::string& text) {
  const Imported out = import_massif(text);
  REQUIRE(out.error.has_value());
  return out.error->text();
}

std::vector<Snapshot> read_massif(const std::string& path) {
  Result<std::vector<Snapshot>> read = formats::read_file(path, {});
  if (!read) FAIL(read.error().text());
  return std::move(*read);
}

/// Bytes of the rows whose stack begins so.
std::int64_t held_by(const Snapshot& snapshot, const std::string& start) {
  std::int64_t sum = 0;
  for (const auto& [stack, values] : rows(snapshot)) sum += stack.starts_with(start) ? values[0] : 0;
  return sum;
}

}  // namespace

TEST_CASE("massif: a tree becomes stacks from the allocation outwards, what is told in sums keeps its place") {
  const Imported in = import_massif(kHeader + snapshot_text(7, 100, kTree));
  REQUIRE_FALSE(in.error);
  REQUIRE(in.snapshots.size() == 1);
  const Snapshot& s = in.snapshots[0];
  CHECK(rows(s) == Rows{{"grow(int):3;main:9", {40}},
                        {"grow(int):3;[below threshold]", {15}},
                        {"grow(int):3", {5}},
                        {"[libx.so];inner:1~;outer:2", {30}},
                        {"[below threshold]", {10}}});
  REQUIRE(s.samples.columns.size() == 1);
  CHECK(s.samples.columns[0].type == SampleType{"inuse_space", "bytes"});
  CHECK_FALSE(s.facts.complete);
  CHECK(s.facts.command_line == "./svc a");
  CHECK(s.facts.comments == std::vector<std::string>{"--depth=9"});
  CHECK(s.facts.format_detail == "snapshot 7, detailed");
  CHECK(counter(s, "mem_heap") == 100);
  CHECK(counter(s, "mem_heap_extra") == 8);
  CHECK(counter(s, "mem_stacks") == 16);
  CHECK(counter(s, "time") == 70);
}

TEST_CASE("massif: a snapshot without a tree has counters and no column") {
  const Imported in = import_massif(kHeader + snapshot_text(0, 100, "heap_tree=empty\n"));
  REQUIRE(in.snapshots.size() == 1);
  CHECK(in.snapshots[0].samples.columns.empty());
  CHECK(counter(in.snapshots[0], "mem_heap") == 100);
  CHECK(in.snapshots[0].facts.format_detail == "snapshot 0, totals only");
}

TEST_CASE("massif: a tree without remainders is complete") {
  const std::string tree = "heap_tree=peak\nn1: 100 " + kRoot + " n0: 100 0x10: main (a.c:3)\n";
  const Imported in = import_massif(kHeader + snapshot_text(0, 100, tree));
  REQUIRE(in.snapshots.size() == 1);
  CHECK(in.snapshots[0].facts.complete);
  const Imported none = import_massif(kHeader + snapshot_text(0, 0, "heap_tree=detailed\nn0: 0 " + kRoot));
  REQUIRE(none.snapshots.size() == 1);
  CHECK(none.snapshots[0].samples.size() == 0);
  CHECK(none.snapshots[0].samples.columns.size() == 1);
}

TEST_CASE("massif: a function that calls itself is not inlined into itself") {
  const std::string tree = "heap_tree=peak\nn1: 8 " + kRoot + " n1: 8 0x10: f (a.c:3)\n  n0: 8 0x10: f (a.c:3)\n";
  const Imported in = import_massif(kHeader + snapshot_text(0, 8, tree));
  REQUIRE(in.snapshots.size() == 1);
  CHECK(rows(in.snapshots[0]) == Rows{{"f:3;f:3", {8}}});
}

TEST_CASE("massif: damage ends the reading, the snapshots in front of it stay and are partial") {
  const std::string first = kHeader + snapshot_text(0, 100, kTree);
  const auto [bad, words] = GENERATE(table<std::string, std::string>({
      {"hello\n", "bad line: found \"hello\", expected #-----------"},
      {"#-----------\nsnapshot=x\n", "bad snapshot: found \"x\", expected a number"},
      {"#-----------\nsnapshot=1\n#-----------\ntime=1\nmem_heap_extra_B=8\n",
       "missing field: found \"mem_heap_extra_B=8\", expected mem_heap_B="},
      {snapshot_text(1, 5, "heap_tree=huge\n"), "bad heap_tree: found \"huge\", expected empty, detailed or peak"},
      {snapshot_text(1, 5, "heap_tree=peak\nn2: 5 (x) y\n n0: 5 0x1: f (a.c:1)\n"),
       "the input ends early: expected the rest"},
      {snapshot_text(1, 5, "heap_tree=peak\nn2: 5 (x) y\n n0: 5 0x1: f (a.c:1)\n#-----------\n"),
       "bad tree line: found \"#"},
      {snapshot_text(1, 5, "heap_tree=peak\nn1: 5 (x) y\n  n0: 5 0x1: f (a.c:1)\n"),
       "bad tree line: found \"  n0: 5 0x1: f (a.c:1)\", expected 1 blanks, nCHILDREN: BYTES LABEL"},
      {snapshot_text(1, 5, "heap_tree=peak\nn1: 5 (x) y\n n0: 9 0x1: f (a.c:1)\n"),
       "bad heap tree: the children of a node hold 4 bytes more than it"},
      {snapshot_text(1, 5, "heap_tree=peak\nn1: 5 (x) y\n n1: 5 in 2 places, all below massif's threshold (1%)\n"),
       "bad heap tree: what is below the threshold has children"},
      {snapshot_text(1, 5, "heap_tree=peak\nn1: -5 (x) y\n"), "bad tree line"},
      {snapshot_text(1, 5, "heap_tree=peak\nn1: 99999999999999999999 (x) y\n"), "bad tree line"},
      {"#-----------\nsnapshot=1", "the input ends early: expected snapshot="},
  }));
  CAPTURE(bad);
  const Imported in = import_massif(first + bad);
  REQUIRE_FALSE(in.error);
  REQUIRE(in.snapshots.size() == 1);
  CHECK(in.snapshots[0].facts.partial);
  CHECK(note_count(in.snapshots[0], Severity::data_loss, words) == 1);
  CHECK(total(in.snapshots[0], "inuse_space") == 100);
  // Without a snapshot in front of it, it is an error.
  CHECK(massif_error(kHeader + bad).find(words) != std::string::npos);
}

TEST_CASE("massif: a file without a snapshot, or without its header, is refused") {
  CHECK(massif_error(kHeader) == "malformed at byte 42: no snapshot: the input ends, expected at least one");
  CHECK(massif_error("desc: a\ncmd: b\ntime: i\n") ==
        "malformed at byte 15: bad header: found \"time: i\", expected time_unit: and its value");
  CHECK(massif_error("desc: a\n") == "malformed at byte 8: the input ends early: expected cmd:");
}

TEST_CASE("massif: cut at every byte, whole snapshots stay") {
  const std::string one = kHeader + snapshot_text(0, 100, kTree);
  const std::string text = one + snapshot_text(1, 100, kTree);
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    const Imported cut = import_massif(std::string_view(text).substr(0, size));
    if (size < one.size()) {
      REQUIRE(cut.error.has_value());
      CHECK(cut.error->code == ErrorCode::malformed);
      continue;
    }
    REQUIRE(cut.snapshots.size() == 1);
    CHECK(cut.snapshots[0].facts.partial == (size != one.size()));
  }
  const Imported windows = import_massif(text, 13);
  REQUIRE(windows.snapshots.size() == 2);
  CHECK(rows(windows.snapshots[1]) == rows(import_massif(one).snapshots.at(0)));
}

TEST_CASE("massif: a program's own snapshots give what it holds") {
  for (const int step : {0, 3}) {
    const auto path = std::string(SNAPDIFF_TEST_DATA "/valgrind/massif-live-step") + std::to_string(step) + ".out";
    const std::vector<Snapshot> all = read_massif(path);
    REQUIRE(all.size() == 1);
    CHECK(rows(all[0]) == Rows{{"leak_step:6;main:9", {3000 * (step + 1)}}, {"[below threshold]", {24 * (step + 1)}}});
    CHECK(all[0].facts.format == "massif");
  }
}

TEST_CASE("massif: pages are a metric of their own") {
  const std::vector<Snapshot> all = read_massif(SNAPDIFF_TEST_DATA "/valgrind/massif-pages-steps4.out");
  CHECK(all.size() == 49);
  std::size_t trees = 0;
  for (const Snapshot& s : all) {
    CHECK(s.column("inuse_space") == nullptr);
    if (s.samples.columns.empty()) continue;
    ++trees;
    CHECK(s.facts.default_metric == "mapped_space");
    CHECK(total(s, "mapped_space") == counter(s, "mem_heap"));
  }
  CHECK(trees > 3);
}

TEST_CASE("massif: the shared series gives its truth") {
  for (const std::string name :
       {"massif-steps2", "massif-steps4", "massif-steps6", "massif-steps8", "massif-stacks-B-steps4"}) {
    const auto path = shared_sample("trackers/valgrind/" + name + ".out");
    if (!path) continue;
    CAPTURE(name);
    const int steps = name.back() - '0';
    const std::vector<Snapshot> all = read_massif(*path);
    // What is live at the end is told by the totals; the heaviest tree holds what leaked and what went at the end.
    if (name != "massif-stacks-B-steps4") CHECK(counter(all.back(), "mem_heap") == 126'400 * steps);
    std::int64_t most_cache = 0;
    for (const Snapshot& s : all) {
      if (s.samples.columns.empty()) continue;
      CHECK(total(s, "inuse_space") == counter(s, "mem_heap"));
      most_cache = std::max(most_cache, held_by(s, "alloc_block(unsigned long):9;leak_cache()"));
    }
    CHECK(most_cache <= 120'000 * steps);
    CHECK(most_cache >= 120'000 * (steps - 1));
  }
}
