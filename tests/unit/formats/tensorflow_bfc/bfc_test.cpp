#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& bfc() { return formats::kTensorflowBfc; }

using Rows = std::map<std::string, std::string>;

std::string line(const std::string& body) {
  return "2024-02-29 23:59:59.500000: I a/bfc_allocator.cc:1] " + body + "\n";
}

const std::string kOom = line(
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.50KiB. Current allocation "
    "summary follows.");
const std::string kStats = line("Stats: ") + "Limit: 4096\nInUse: 512\nNumAllocs: 7\n\n" + line("**xx__");
const std::string kChunks = line("InUse at 9000 of size 256 by op a/b action_count 1 step 0 next 1") +
                            line("InUse at 9100 of size 256 next 2") + line("Free  at 9200 of size 1024 next 3");

/// What the table says of one row: allocator and type are labels.
std::string row(const std::string& key) { return key + " {allocator=GPU_0_bfc type=" + key + "}"; }

}  // namespace

TEST_CASE("tensorflow-bfc: 3 chunks of 2 359 296 bytes more each dump, in every generation of the log") {
  for (const std::string version : {"1.4", "2.4", "2.13"}) {
    const auto sample = tracker_sample("tensorflow/constructed-bfc-tf" + version + "-series.log");
    if (!sample) return;
    const std::vector<Snapshot> series = read_ok(bfc(), *sample);
    REQUIRE(series.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t n = 1 + 3 * i;
      CAPTURE(version, i, describe(series[i]));
      CHECK(rows(series[i]) ==
            Rows{{row("chunk size 256"), "4 1024"},
                 {row("chunk size 1280"), "1 1280"},
                 {row("chunk size 2359296"), std::to_string(n) + " " + std::to_string(n * 2'359'296)},
                 {row("chunk size 77070336"), "1 77070336"}});
      CHECK(total(series[i], "inuse_space") == counter(series[i], "in_use{allocator=GPU_0_bfc}"));
      CHECK(counter(series[i], "free_space{allocator=GPU_0_bfc}") == 69'648'384);
      CHECK(series[i].facts.complete);
      CHECK_FALSE(series[i].facts.partial);
      CHECK_FALSE(has_note(series[i], "add up"));
    }
    CHECK(*series[1].facts.taken_at_ns - *series[0].facts.taken_at_ns == 86'400'000'001'000);
  }
}

TEST_CASE("tensorflow-bfc: chunks with recorded operations are keyed by them") {
  const auto sample = tracker_sample("tensorflow/constructed-bfc-tf2.17-opnames-series.log");
  if (!sample) return;
  const std::vector<Snapshot> series = read_ok(bfc(), *sample);
  REQUIRE(series.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t n = 1 + 3 * i;
    CHECK(rows(series[i]) == Rows{{row("RandomUniform"), "4 1024"},
                                  {row("Const"), "1 1280"},
                                  {row("model/conv/Conv2D"), std::to_string(n) + " " + std::to_string(n * 2'359'296)},
                                  {row("grad/accum"), "1 77070336"}});
    CHECK(counter(series[i], "failed_request{allocator=GPU_0_bfc}") == 77'762'560);
  }
}

TEST_CASE("tensorflow-bfc: what is not recorded is keyed by size, sizes for people carry their half unit") {
  const Snapshot s = read_one(bfc(), kOom + kChunks + kStats);
  CHECK(rows(s) == Rows{{row("a/b"), "1 256"}, {row("chunk size 256"), "1 256"}});
  for (const Counter& one : s.facts.counters) {
    if (one.name == "failed_request{allocator=GPU_0_bfc}") {
      CHECK(one.value == 1536);
      CHECK(one.half_unit == 6);  // 0.005 KiB
    }
    CHECK(one.cumulative == (one.name == "num_allocs{allocator=GPU_0_bfc}"));
  }
  CHECK(s.facts.taken_at_ns == 1'709'251'199'500'000'000);  // date -u -d '2024-02-29 23:59:59.5' +%s%N
}

TEST_CASE("tensorflow-bfc: without lines of chunks the summary by size is taken") {
  const Snapshot s = read_one(bfc(), kOom + line("2 Chunks of size 256 totalling 512B") + kStats);
  CHECK(rows(s) == Rows{{row("chunk size 256"), "2 512"}});
  CHECK(counter(s, "free_space{allocator=GPU_0_bfc}") == std::nullopt);
}

TEST_CASE("tensorflow-bfc: statistics alone are counters") {
  const Snapshot s = read_one(bfc(), kOom + kStats);
  CHECK(s.samples.columns.empty());
  CHECK(counter(s, "limit{allocator=GPU_0_bfc}") == 4096);
}

TEST_CASE("tensorflow-bfc: sums that differ are said") {
  CHECK(
      has_note(read_one(bfc(), kOom + line("3 Chunks of size 256 totalling 768B") + kStats), "do not add up to InUse"));
  CHECK(has_note(read_one(bfc(), kOom + kChunks + line("Sum Total of in-use chunks: 2.0KiB") + kStats),
                 "do not add up to the recorded sum"));
}

TEST_CASE("tensorflow-bfc: a new dump closes one without end, several allocators are told") {
  const std::vector<Snapshot> series = read_ok(bfc(), kOom + line("BFCAllocator dump for GPU_0_bfc") + kChunks +
                                                          line("BFCAllocator dump for mklcpu") + kChunks + kStats);
  REQUIRE(series.size() == 2);
  CHECK(series[0].facts.partial);
  CHECK_FALSE(series[1].facts.partial);
  CHECK(series[1].facts.format_detail == "mklcpu");
  CHECK(has_note(series[1], "dumps of several allocators"));
}

TEST_CASE("tensorflow-bfc: failures without a dump are no snapshots") {
  const std::vector<Snapshot> series = read_ok(bfc(), kOom + kOom + kChunks + kStats + kOom);
  REQUIRE(series.size() == 1);
  CHECK(has_note(series[0], "without a dump"));
  CHECK(read_error(bfc(), kOom).find("no dump: the input ends") != std::string::npos);
}

TEST_CASE("tensorflow-bfc: numbers beyond 64 bits") {
  const Snapshot s = read_one(bfc(), kOom + line("Chunk at 0x1 of size 99999999999999999999") + kChunks + kStats);
  CHECK(s.facts.partial);
  CHECK(has_note(s, "chunks that could not be read"));
  const std::string big = line("Chunk at 0x1 of size 9223372036854775807");
  CHECK(read_error(bfc(), kOom + big + big).find("beyond 2^63-1") != std::string::npos);
}

TEST_CASE("tensorflow-bfc: every cut is refused, told, or loses nothing, disguises change nothing") {
  const std::string text = kOom + line("BFCAllocator dump for GPU_0_bfc") + kChunks + kStats + kOom + kChunks + kStats;
  check_cuts(bfc(), text, 1);
  check_disguises(bfc(), text);
  CHECK(rows(read_one(bfc(), "\x1b[33mros:\x1b[0m " + kOom + kChunks + kStats)).size() == 2);
}
