#include <catch2/catch.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/waterfall/make_waterfall.hpp"

using namespace snapdiff;

namespace {

using Amounts = std::initializer_list<std::pair<const char*, std::int64_t>>;

SnapshotRef counters(const std::string& producer, Amounts amounts) {
  SnapshotBuilder builder;
  builder.facts().producer = producer;
  builder.facts().format = producer + "-file";
  for (const auto& [name, value] : amounts) builder.facts().counters.push_back({name, value, "bytes", false, 0});
  return {std::make_shared<const Snapshot>(builder.finish().value()), producer, ""};
}

/// Rows of a metric by their label `type`, beside counters.
SnapshotRef typed(const std::string& metric, Amounts types, Amounts amounts) {
  SnapshotBuilder builder;
  builder.add_column({metric, "bytes"});
  builder.add_column({"reserved", "bytes"});
  for (const auto& [type, value] : types) {
    const FrameId frame = builder.frame({.function = builder.function(type)});
    const std::int64_t values[] = {value, value};
    const Label label{builder.string("type"), builder.string(type), 0, StringId{}, false};
    builder.add_row(builder.stack(std::span(&frame, 1)), builder.labels({label}), values);
  }
  for (const auto& [name, value] : amounts) builder.facts().counters.push_back({name, value, "bytes", false, 0});
  return {std::make_shared<const Snapshot>(builder.finish().value()), metric, ""};
}

Waterfall made(std::vector<SnapshotRef> snapshots) {
  const Result<Waterfall> result = waterfall::make_waterfall(snapshots);
  REQUIRE(result);
  std::int64_t sum = 0;
  for (const WaterfallPart& part : result->parts) sum += part.bytes.after.value_or(0);
  if (result->rss.after) CHECK(sum == *result->rss.after);
  return *result;
}

WaterfallAmount amount(const Waterfall& waterfall, const std::string& name) {
  for (const WaterfallPart& part : waterfall.parts) {
    if (part.name == name) return part.bytes;
  }
  FAIL("no part " << name);
  return {};
}

}  // namespace

TEST_CASE("waterfall: Go's MemStats: idle pages that were not released are kept free") {
  const Waterfall w = made({counters("go", {{"HeapAlloc", 100},
                                            {"HeapInuse", 150},
                                            {"HeapIdle", 50},
                                            {"HeapReleased", 20},
                                            {"Sys", 260},
                                            {"HeapSys", 200}}),
                            counters("", {{"VmRSS", 300}, {"RssFile", 20}, {"RssShmem", 1}})});
  CHECK(amount(w, "in use (Go)").after == 100);
  CHECK(amount(w, "free, kept by Go").after == 80);
  CHECK(amount(w, "Go's runtime and stacks").after == 60);
  CHECK(amount(w, "mapped files").after == 20);
  CHECK(amount(w, "unexplained").after == 300 - 100 - 80 - 60 - 21);
  CHECK_FALSE(amount(w, "in use (Go)").before);
  CHECK(w.says.empty());
}

TEST_CASE("waterfall: what the JVM has of malloc is not counted again") {
  const Waterfall w =
      made({typed("committed",
                  {{"Java Heap", 1000}, {"Class", 50}, {"Metaspace", 60}, {"Other", 200}, {"Code", 90}, {"Thread", 30}},
                  {{"committed", 1430}, {"reserved", 1430}, {"thread_stacks", 25}, {"malloc", 280}}),
            counters("java", {{"heap_used", 700}, {"heap_total", 1000}}),
            counters("glibc", {{"in_use", 400}, {"free", 40}, {"system", 440}}), counters("", {{"VmRSS", 1700}})});
  CHECK(amount(w, "in use (Java heap)").after == 700);
  CHECK(amount(w, "free, kept in the Java heap").after == 300);
  CHECK(amount(w, "classes (metaspace)").after == 110);
  CHECK(amount(w, "direct buffers and other (JVM)").after == 200);
  CHECK(amount(w, "the JVM's own (code, collector, ...)").after == 95);
  CHECK(amount(w, "stacks of threads, committed").after == 25);
  CHECK(amount(w, "in use (glibc, beside the JVM's own)").after == 120);
}

TEST_CASE("waterfall: jemalloc keeps what is resident and not allocated") {
  const Waterfall w =
      made({counters("jemalloc", {{"allocated", 100}, {"active", 140}, {"metadata", 10}, {"resident", 190}}),
            counters("jemalloc", {{"allocated", 101}, {"active", 160}, {"metadata", 10}, {"resident", 290}}),
            counters("", {{"rss", 200}}), counters("", {{"rss", 300}})});
  CHECK(amount(w, "free, kept by jemalloc").growth() == 99);
  REQUIRE(w.leader);
  CHECK(w.parts[*w.leader].kind == WaterfallKind::kept_free);
  CHECK(w.share == 99);
  CHECK(w.says == "memory that is free and not returned (fragmentation or a cache), not a leak: in use +1 B");
}

TEST_CASE("waterfall: a sentence needs a part that holds half of the growth") {
  const Waterfall w = made({counters("glibc", {{"in_use", 0}, {"free", 0}, {"system", 0}}),
                            counters("glibc", {{"in_use", 40}, {"free", 35}, {"system", 75}}),
                            counters("", {{"VmRSS", 0}}), counters("", {{"VmRSS", 100}})});
  CHECK(w.says == "not sure: no part holds half of the growth of RSS");
  const Waterfall both = made({counters("glibc", {{"in_use", 0}, {"free", 0}, {"system", 0}}),
                               counters("glibc", {{"in_use", 40}, {"free", 60}, {"system", 100}}),
                               counters("", {{"VmRSS", 0}}), counters("", {{"VmRSS", 100}})});
  CHECK(both.says == "memory that is free and not returned (fragmentation or a cache); in use +40 B");
}

TEST_CASE("waterfall: mappings by kind, GPU drivers' mappings are a part") {
  const Waterfall w = made({typed("rss",
                                  {{"heap", 10},
                                   {"stack", 20},
                                   {"file", 30},
                                   {"kernel", 1},
                                   {"shared memory", 4},
                                   {"device", 500},
                                   {"anonymous", 7}},
                                  {{"rss", 572}, {"pss", 572}})});
  CHECK(amount(w, "stacks of threads").after == 20);
  CHECK(amount(w, "mapped files").after == 31);
  CHECK(amount(w, "GPU drivers' mappings").after == 500);
  CHECK(amount(w, "unexplained").after == 17);
  CHECK(w.unseen.size() == 2);
}

TEST_CASE("waterfall: amounts beyond any machine, and files without a part, are refused") {
  const std::vector<SnapshotRef> huge = {counters("", {{"VmRSS", std::int64_t{1} << 60}})};
  const auto beyond = waterfall::make_waterfall(huge);
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code == ErrorCode::limit);
  const std::vector<SnapshotRef> none = {counters("", {{"MemTotal", 5}})};
  const auto nothing = waterfall::make_waterfall(none);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == ErrorCode::usage);
}

TEST_CASE("waterfall: parts of one kind hold the growth together") {
  const auto totals = [](const char* producer, std::int64_t in_use) {
    return counters(producer, {{"in_use", in_use}, {"free", 0}, {"system", in_use}});
  };
  const Waterfall w = made({totals("glibc", 0), totals("glibc", 45), totals("cpython", 0), totals("cpython", 48),
                            counters("", {{"VmRSS", 0}}), counters("", {{"VmRSS", 100}})});
  CHECK(w.says == "the program holds more: a leak or a growing cache");
  REQUIRE(w.leader);
  CHECK(w.parts[*w.leader].name == "in use (cpython)");
  CHECK(w.share == 48);
}
