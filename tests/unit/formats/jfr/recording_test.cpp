#include <catch2/catch.hpp>

#include "jfr_bytes.hpp"
#include "support/object_graph_text.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using namespace snapdiff::test::jfr_bytes;

namespace {

using Rows = std::map<std::string, std::vector<std::int64_t>>;

std::vector<Snapshot> snapshots_of(const std::string& bytes) {
  Imported got = read_jfr(bytes);
  if (got.error) FAIL(got.error->text());
  return std::move(got.snapshots);
}

}  // namespace

TEST_CASE("jfr: rows, counters and who holds an object") {
  const std::vector<Snapshot> all = snapshots_of(one_of_each(JfrBytes()));
  REQUIRE(all.size() == 3);
  CHECK(all[0].facts.taken_at_ns == 1'000'000'200'000);
  CHECK(counter(all[0], "heap_after_full_gc") == 3000);
  CHECK(counter(all[0], "heap_total") == 65536);
  CHECK(all[0].samples.columns.empty());
  CHECK(counter(all[1], "rss") == 100'000);
  CHECK(counter(all[1], "peak_rss") == 120'000);
  const Snapshot& last = all[2];
  CHECK(last.facts.taken_at_ns == 1'001'000'000'000);
  CHECK(counter(last, "heap_after_full_gc") == 3000);
  CHECK(rows(last) == Rows{{"app.Cache.put:7;app.Cache.main:3{type=[B}", {1, 4112, 1, 8192}},
                           {"app.Cache.put:7;app.Cache.main:3{domain=native}", {0, 0, 1, 64}},
                           {"app.Cache.main:9{domain=native}", {1, 96, 1, 96}}});
  REQUIRE(last.graph != nullptr);
  CHECK(graph_text(last) ==
        "0 primitive array [B 4112:\n"
        "1 instance java.util.HashMap 0: [4]>0\n"
        "2 class app.Cache 0 root: CACHE>1\n"
        "root 2 Java frame\n");
  CHECK(note_count(last, Severity::info, "also holds 2 moments with counters alone") == 1);
  CHECK(note_count(last, Severity::info, "stacks that the recorder cut") == 1);
}

TEST_CASE("jfr: survivors are told again with each dump, blocks of malloc stay") {
  JfrBytes j;
  const auto live = [](std::uint64_t size) { return B::event(102, n(1) + n(1) + n(2) + n(size)); };
  const auto block = [](std::uint64_t at, std::uint64_t size) { return B::event(103, n(2) + n(2) + n(at) + n(size)); };
  const std::string first = j.chunk(B::constants() + live(16) + live(16) + block(1, 100));
  const std::string second = j.chunk(B::constants() + live(16) + block(2, 50), 1001);
  const std::vector<Snapshot> all = snapshots_of(first + second);
  REQUIRE(all.size() == 2);
  CHECK(total(all[0], "inuse_space") == 132);
  CHECK(total(all[0], "inuse_objects") == 3);
  CHECK(total(all[1], "inuse_space") == 166);
  CHECK(total(all[1], "alloc_space") == 150);
  CHECK(all[1].facts.format_detail == "version 2.1, 2 chunks");
  CHECK(all[1].facts.producer == "async-profiler");
}

TEST_CASE("jfr: allocations after the last dump are in the last moment") {
  JfrBytes j;
  const std::string alloc = B::event(106, n(1) + n(1) + n(2) + n(24) + n(2048));
  const std::vector<Snapshot> all =
      snapshots_of(j.chunk(B::constants() + B::event(102, n(1) + n(1) + n(2) + n(16)) + alloc) +
                   j.chunk(B::constants() + alloc, 1001));
  REQUIRE(all.size() == 1);
  CHECK(total(all[0], "alloc_space") == 4096);
  CHECK(total(all[0], "alloc_samples") == 2);
  CHECK(total(all[0], "inuse_space") == 16);
}

TEST_CASE("jfr: samples of allocations are left out where buffers are all of them") {
  JfrBytes j;
  const std::vector<Snapshot> all = snapshots_of(j.chunk(B::constants() + B::event(105, n(1) + n(1) + n(2) + n(500)) +
                                                         B::event(106, n(1) + n(1) + n(2) + n(24) + n(2048))));
  REQUIRE(all.size() == 1);
  CHECK(total(all[0], "alloc_space") == 2048);
}

TEST_CASE("jfr: without sizes surviving objects are counted only") {
  JfrBytes j;
  for (JfrBytes::Type& type : j.types) {
    if (type.id == 101) type.fields.erase(type.fields.begin() + 2);
  }
  const std::vector<Snapshot> all = snapshots_of(
      j.chunk(B::constants() + B::event(101, n(1) + n(1) + n(0) + n(0)) + B::event(105, n(1) + n(1) + n(2) + n(500))));
  REQUIRE(all.size() == 1);
  CHECK(total(all[0], "inuse_objects") == 1);
  CHECK(all[0].column("inuse_space") == nullptr);
  CHECK(all[0].facts.default_metric == "inuse_objects");
  CHECK(all[0].graph == nullptr);
}

TEST_CASE("jfr: texts of every coding") {
  JfrBytes j;
  const std::string texts = B::checkpoint(
      3, B::pool(4, 1, n(9) + B::text("put")) +
             B::pool(10, 3, n(1) + '\4' + n(2) + n(0xe9) + n('x') + n(2) + '\2' + n(9) + n(3) + "\5" + n(1) + "\xe9") +
             B::pool(11, 1, n(2) + n(0) + n(3)));
  const std::string stack =
      B::checkpoint(2, B::pool(12, 2, n(1) + n(0) + n(1) + n(2) + n(2) + n(2)) +
                           B::pool(14, 1, n(1) + '\0' + n(2) + n(1) + n(0) + n(0) + n(2) + n(0) + n(0)));
  const std::vector<Snapshot> all = snapshots_of(j.chunk(texts + stack + B::event(105, n(1) + n(1) + n(2) + n(5))));
  CHECK(rows(all.at(0)) == Rows{{"\u00e9x;\u00e9.put{type=\u00e9}", {1, 5}}});
}

TEST_CASE("jfr: hidden classes lose the number that is another one in each run, libraries without names are modules") {
  JfrBytes j;
  for (JfrBytes::Type& type : j.types) {
    if (type.id == 13) type.fields.push_back({"type", 20, true});
  }
  const std::string names = B::checkpoint(
      5, B::pool(10, 3,
                 n(1) + B::text("app/Svc$$Lambda$3+0x00007f/8677") + n(2) + B::text("run") + n(3) +
                     B::text("/lib/libz.so.1")) +
             B::pool(11, 2, n(1) + n(0) + n(1) + n(2) + n(0) + n(0)) +
             B::pool(12, 2, n(1) + n(1) + n(2) + n(2) + n(2) + n(3)) + B::pool(20, 1, n(5) + B::text("Native")) +
             B::pool(14, 1, n(1) + '\0' + n(2) + n(2) + n(0) + n(0) + n(5) + n(1) + n(4) + n(0) + n(0)));
  const std::vector<Snapshot> all = snapshots_of(j.chunk(names + B::event(103, n(1) + n(1) + n(64) + n(8))));
  CHECK(rows(all.at(0)) == Rows{{"[libz.so.1];app.Svc$$Lambda$3+0x00007f.run:4{domain=native}", {1, 8, 1, 8}}});
}

TEST_CASE("jfr: a long series of counters is thinned evenly") {
  JfrBytes j;
  std::string events;
  for (std::uint64_t i = 0; i < 25'000; ++i) events += B::event(109, n(i) + n(i) + n(i));
  const std::vector<Snapshot> all = snapshots_of(j.chunk(events));
  CHECK(all.size() <= 10'001);
  CHECK(counter(all.front(), "rss") == 0);
  CHECK(counter(all.back(), "rss") == 24'999);
  CHECK(note_count(all.back(), Severity::info, "moments of counters left out") > 0);
}
