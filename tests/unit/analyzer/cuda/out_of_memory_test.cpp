#include <catch2/catch.hpp>
#include <numeric>

#include "analyzer/base/pinning.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "unit/analyzer/cuda/maker.hpp"

using namespace snapdiff;
using namespace snapdiff::cuda;
using snapdiff::test::Maker;

namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

OutOfMemory failure_of(Maker& maker) {
  const Result<std::optional<OutOfMemory>> found = out_of_memory(maker.make(), {});
  if (!found) FAIL(found.error().text());
  REQUIRE(found->has_value());
  return **found;
}

}  // namespace

TEST_CASE("out of memory: none where no allocation failed") {
  Maker m;
  m.event(TraceAction::alloc, 0x1000, 100, 1);
  const Result<std::optional<OutOfMemory>> found = out_of_memory(m.make(), {});
  REQUIRE(found);
  CHECK_FALSE(found->has_value());
  CHECK_FALSE(out_of_memory(Snapshot{}, {})->has_value());
}

TEST_CASE("out of memory: the last of several counts, with the state before it") {
  Maker m;
  m.event(TraceAction::oom, 1, 7 * kMiB, 1);
  m.event(TraceAction::alloc, 0x100000000, 60 * kMiB, 1);
  m.event(TraceAction::oom, 3 * kMiB, 50 * kMiB, 1, 1);
  m.event(TraceAction::snapshot, 0, 0, 0);
  m.segment(0x100000000, {{60 * kMiB, 60 * kMiB, 1}, {20 * kMiB, 0, 0}});
  const OutOfMemory o = failure_of(m);
  CHECK(o.failures == 2);
  CHECK(o.event == 2);
  CHECK(o.events == 4);
  CHECK(o.after_us == 2);
  CHECK(o.asked == 50 * kMiB);
  CHECK(o.segment == 50 * kMiB);
  CHECK(o.stream == 0x55);
  CHECK(o.device_free == 3 * kMiB);
  CHECK(o.allocated == 60 * kMiB);
  CHECK(o.reserved == 80 * kMiB);
  CHECK(o.exact);
  // The free block is another stream's.
  CHECK(o.usable == FreeBytes{});
  CHECK(o.other_streams == FreeBytes{20 * kMiB, 20 * kMiB, 1});
  CHECK(o.reason == OutOfMemoryReason::exhausted);  // 60 + 50 > 80 + 3
}

TEST_CASE("out of memory: what came after the failure is undone") {
  Maker m;
  m.event(TraceAction::segment_alloc, 0x100000000, 40 * kMiB, 1);
  m.event(TraceAction::alloc, 0x100000000, 10 * kMiB, 1);
  m.event(TraceAction::alloc, 0x100000000 + 20 * kMiB, 10 * kMiB, 2);
  m.event(TraceAction::oom, 1 * kMiB, 12 * kMiB, 1);
  m.event(TraceAction::free_requested, 0x100000000, 10 * kMiB, 1);
  m.event(TraceAction::free_completed, 0x100000000, 10 * kMiB, 1);
  m.event(TraceAction::segment_alloc, 0x200000000, 20 * kMiB, 1);
  m.segment(0x100000000, {{20 * kMiB, 0, 0}, {10 * kMiB, 10 * kMiB, 2}, {10 * kMiB, 0, 0}});
  m.segment(0x200000000, {{20 * kMiB, 0, 0}});
  const OutOfMemory o = failure_of(m);
  CHECK_FALSE(o.exact);
  CHECK(o.reserved == 40 * kMiB);
  CHECK(o.allocated == 20 * kMiB);
  CHECK(o.usable == FreeBytes{20 * kMiB, 10 * kMiB, 2});
  CHECK(o.reason == OutOfMemoryReason::fragmentation);
}

TEST_CASE("out of memory: sizes of new segments follow the allocator's rules") {
  const auto [asked, expandable, segment] = GENERATE(table<std::int64_t, bool, std::int64_t>({
      {512, false, 2 * kMiB},
      {kMiB, false, 2 * kMiB},
      {kMiB + 512, false, 20 * kMiB},
      {10 * kMiB - 512, false, 20 * kMiB},
      {10 * kMiB, false, 10 * kMiB},
      {10 * kMiB + 512, false, 12 * kMiB},
      {512, true, 2 * kMiB},
      {21 * kMiB, true, 40 * kMiB},
  }));
  Maker m;
  m.setting("expandable_segments", expandable ? "True" : "False");
  m.event(TraceAction::oom, 0, asked, 1);
  CHECK(failure_of(m).segment == segment);
}

TEST_CASE("out of memory: sizes near the end of 64 bits do not overflow") {
  Maker m;
  m.event(TraceAction::oom, ~std::uint64_t{0}, std::numeric_limits<std::int64_t>::max() / 2, 1);
  m.segment(0x1000, {{std::numeric_limits<std::int64_t>::max() / 2, 1, 1}});
  const OutOfMemory o = failure_of(m);
  CHECK(o.device_free == std::numeric_limits<std::int64_t>::max());
  CHECK(o.reason != OutOfMemoryReason::exhausted);
}

TEST_CASE("pinning: shares are even, add up, and tell who is alone") {
  Maker m;
  m.segment(0x100000, {{512, 500, 1}, {1024, 0, 0}, {512, 512, 2}, {4096, 3000, 1}, {1024 + 512, 0, 0}, {512, 100, 3}});
  m.segment(0x200000, {{4096, 4096, 2}, {1000, 0, 0}});
  m.segment(0x300000, {{2048, 0, 0}});
  const Snapshot s = m.make();
  const std::vector<SegmentHolder> holders = segment_holders(*s.allocator);
  REQUIRE(holders.size() == 4);
  // 2560 bytes free, three stacks: 854 + 853 + 853
  std::vector<std::int64_t> shares;
  for (const SegmentHolder& h : holders) shares.push_back(h.pinned);
  CHECK(shares == std::vector<std::int64_t>{854, 853, 853, 1000});
  CHECK(holders[0].blocks == 2);
  CHECK(holders[0].bytes == 4608);
  CHECK_FALSE(holders[0].sole);
  CHECK(holders[3].sole);
  CHECK(holders[3].segment == 1);
}

TEST_CASE("pinning: whole free pages of expandable segments are not pinned") {
  Maker m;
  m.segment(0x40000000, {{512, 512, 1}, {5 * kMiB - 512, 0, 0}, {3 * kMiB, 3 * kMiB, 1}}, 0, 0,
            kSegmentSmall | kSegmentExpandable);
  const std::vector<SegmentHolder> holders = segment_holders(*m.make().allocator);
  REQUIRE(holders.size() == 1);
  CHECK(holders[0].pinned == 3 * kMiB - 512);  // pages 2..4 MiB go; the rest of 5 MiB stays
}

TEST_CASE("pinning at a moment: pages that were mapped and unmapped since are as they were") {
  Maker m;
  const std::uint64_t base = 0x40000000;
  m.event(TraceAction::segment_map, base, 4 * kMiB, 1);
  m.event(TraceAction::alloc, base, kMiB, 1);
  m.event(TraceAction::segment_map, base + 4 * static_cast<std::uint64_t>(kMiB), 4 * kMiB, 1);
  m.event(TraceAction::alloc, base + 4 * static_cast<std::uint64_t>(kMiB), kMiB, 2);
  m.event(TraceAction::segment_unmap, base + 6 * static_cast<std::uint64_t>(kMiB), 2 * kMiB, 1);
  m.segment(base, {{kMiB, kMiB, 1}, {3 * kMiB, 0, 0}, {kMiB, kMiB, 2}, {kMiB, 0, 0}}, 0, 0,
            kSegmentSmall | kSegmentExpandable);
  const Snapshot s = m.make();
  const auto sizes = [&](std::uint64_t events) {
    const Result<Snapshot> then = snapshot_at(s, {}, events);
    if (!then) FAIL(then.error().text());
    return then->allocator->segments.size;
  };
  CHECK(sizes(0).empty());
  CHECK(sizes(1) == std::vector<std::int64_t>{4 * kMiB});
  CHECK(sizes(2) == std::vector<std::int64_t>{4 * kMiB});
  CHECK(sizes(4) == std::vector<std::int64_t>{8 * kMiB});
  CHECK(sizes(5) == std::vector<std::int64_t>{6 * kMiB});
}
