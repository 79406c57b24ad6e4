#include <catch2/catch.hpp>

#include "formats/registry.hpp"
#include "support/imported.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::vector<Snapshot> read(const std::string& path) {
  Result<std::vector<Snapshot>> read = formats::read_file(path, {});
  if (!read) FAIL(read.error().text());
  return std::move(*read);
}

std::vector<Snapshot> own(const std::string& name) { return read(SNAPDIFF_TEST_DATA "/jfr/" + name + ".jfr.xz"); }

std::vector<Snapshot> with_rows(std::vector<Snapshot> all) {
  std::erase_if(all, [](const Snapshot& each) { return each.samples.columns.empty(); });
  return all;
}

/// Sum and number of a counter over the moments that have nothing else.
std::pair<std::int64_t, int> series(const std::vector<Snapshot>& all, std::string_view name) {
  std::pair<std::int64_t, int> out;
  for (const Snapshot& each : all) {
    const auto value = each.samples.columns.empty() ? counter(each, name) : std::nullopt;
    out.first += value.value_or(0);
    out.second += value ? 1 : 0;
  }
  return out;
}

/// Rows whose stack begins so, added up in this column.
std::int64_t under(const Snapshot& s, const std::string& leaf, std::size_t column) {
  std::int64_t sum = 0;
  for (const auto& [stack, values] : rows(s)) {
    if (stack.starts_with(leaf)) sum += values[column];
  }
  return sum;
}

using Sum = std::pair<std::int64_t, int>;

}  // namespace

TEST_CASE("jfr: recordings of JDK 25 equal jfr print") {
  const std::vector<Snapshot> all = own("leak-jdk25");
  const auto full = series(all, "heap_after_full_gc"), young = series(all, "heap_after_gc");
  CHECK(Sum{full.first + young.first, full.second + young.second} == Sum{37'882'608, 6});
  CHECK(full.second == 3);
  CHECK(series(all, "heap_total") == Sum{880'803'840, 6});
  CHECK(series(all, "metaspace_used") == Sum{19'074'488, 6});
  CHECK(series(all, "rss") == Sum{1'321'361'408, 16});
  CHECK(series(all, "nmt_committed") == Sum{2'484'591'597, 16});
  const std::vector<Snapshot> moments = with_rows(all);
  REQUIRE(moments.size() == 3);
  std::int64_t objects = 0, bytes = 0;
  for (const Snapshot& moment : moments) {
    objects += total(moment, "inuse_objects");
    bytes += total(moment, "inuse_space");
    REQUIRE(moment.graph != nullptr);
  }
  CHECK(objects == 73);
  CHECK(bytes == 279'184);
  CHECK(total(moments.back(), "alloc_samples") == 59);
  CHECK(total(moments.back(), "alloc_space") == 274'497'752);
  CHECK(under(moments.back(), "Leak.load:6;Leak.remember:7;Leak.main", 1) > 150'000);
}

TEST_CASE("jfr: recordings of JDK 17 equal jfr print") {
  const std::vector<Snapshot> all = own("leak-jdk17");
  const auto full = series(all, "heap_after_full_gc"), young = series(all, "heap_after_gc");
  CHECK(Sum{full.first + young.first, full.second + young.second} == Sum{65'051'760, 15});
  CHECK(series(all, "heap_total") == Sum{3'539'992'576, 15});
  CHECK(series(all, "metaspace_used") == Sum{53'743'120, 15});
  const std::vector<Snapshot> moments = with_rows(all);
  REQUIRE(moments.size() == 2);
  CHECK(total(moments[0], "inuse_objects") + total(moments[1], "inuse_objects") == 15);
  CHECK(total(moments[1], "alloc_samples") == 121);
  CHECK(total(moments[1], "alloc_space") == 1'942'750'296);
}

TEST_CASE("jfr: recordings of async-profiler equal its converter") {
  const std::vector<Snapshot> live = with_rows(own("live"));
  REQUIRE(live.size() == 1);
  CHECK(total(live[0], "inuse_objects") == 91);
  CHECK(total(live[0], "inuse_space") == 371'408);
  CHECK(total(live[0], "alloc_samples") == 3737);
  CHECK(total(live[0], "alloc_space") == 244'908'032);
  const std::vector<Snapshot> native = own("nativemem");
  REQUIRE(native.size() == 2);
  CHECK(total(native[1], "inuse_objects") == 824);
  CHECK(total(native[1], "inuse_space") == 3'407'822);
  CHECK(total(native[1], "alloc_samples") == 1406);
  CHECK(total(native[1], "alloc_space") == 4'971'770);
  CHECK(native[1].facts.producer == "async-profiler");
}

TEST_CASE("jfr: shared recordings equal their oracles") {
  struct Sample {
    std::string path;
    std::string_view metric;
    std::int64_t sum;
  };
  const Sample samples[] = {
      {"real/newformats/jdk-flight-recording/old.01.jfr", "inuse_objects", 3},
      {"real/newformats/jdk-flight-recording/old.01.jfr", "alloc_samples", 62},
      {"real/newformats/async-profiler-jfr/alloc-live.jfr", "inuse_space", 183'400},
      {"more/jfr/dump2.jfr.gz", "inuse_objects", 4},
      {"more/jfr/object-allocation-sample.jfr.gz", "alloc_samples", 10'694},
      {"more/jfr/goland-multichunk.jfr.gz", "alloc_samples", 20'816 + 1354},
      {"more/jfr/cortex-dev-01__kafka-0__cpu_lock_alloc__0.jfr.gz", "alloc_samples", 766},
      {"more/jfr/async-profiler.jfr.gz", "alloc_samples", 17},
      {"more/jfr/object-allocation-sample.jfr.gz", "alloc_space", 32'922'398'872},
      {"more/jfr/goland-multichunk.jfr.gz", "alloc_space", 2'695'187'976},
      {"more/jfr/async-profiler.jfr.gz", "alloc_space", 21'388'112},
  };
  for (const Sample& sample : samples) {
    const auto path = shared_sample(sample.path);
    if (!path) continue;
    CAPTURE(sample.path);
    CHECK(total(with_rows(read(*path)).back(), sample.metric) == sample.sum);
  }
}
