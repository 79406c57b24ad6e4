#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <random>

#include "analyzer/cuda/cuda.hpp"
#include "unit/analyzer/cuda/maker.hpp"

using namespace snapdiff;
using namespace snapdiff::cuda;
using snapdiff::test::Maker;

namespace {

/// Bytes by band: stack number, or -1 before the trace, -2 pending.
using Held = std::map<int, std::int64_t>;

Held held_at(const Snapshot& s, std::uint64_t events) {
  const Result<LiveSet> live = live_set(s, {}, events);
  if (!live) FAIL(live.error().text());
  Held held;
  for (const LiveRow& row : live->rows)
    held[row.pending ? -2 : row.unattributed ? -1 : static_cast<int>(index_of(row.stack))] += row.bytes;
  return held;
}

std::int64_t total(const Held& held) {
  std::int64_t sum = 0;
  for (const auto& [band, bytes] : held) sum += bytes;
  return sum;
}

Held bands_of(const MemoryTimeline& t, std::int64_t TimelineBand::*what) {
  Held held;
  for (const TimelineBand& band : t.bands) {
    if (band.*what == 0) continue;
    using Kind = TimelineBand::Kind;
    held[band.kind == Kind::pending        ? -2
         : band.kind == Kind::before_trace ? -1
         : band.kind == Kind::others       ? -3
                                           : static_cast<int>(band.group)] = band.*what;
  }
  return held;
}

Held without_zeros(Held held) {
  std::erase_if(held, [](const auto& entry) { return entry.second == 0; });
  return held;
}

MemoryTimeline timeline_of(const Snapshot& s, const TimelineOptions& options) {
  const Result<MemoryTimeline> t = timeline(
      s, {}, [](StackId stack) { return index_of(stack); }, options);
  if (!t) FAIL(t.error().text());
  return *t;
}

}  // namespace

TEST_CASE("timeline: every column is the fullest moment of its part of the trace") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Maker m;
    struct Block {
      std::int64_t size = 0;
      int stack = 0;
      bool pending = false;
    };
    std::map<std::uint64_t, Block> live;
    const std::size_t hidden = random() % 30;
    const std::size_t count = hidden + 2 + random() % 150;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t address = 4096 * (1 + random() % 25);
      const auto at = live.find(address);
      const int stack = 1 + static_cast<int>(random() % 4);
      TraceAction action = TraceAction::alloc;
      std::int64_t size = 1 + static_cast<std::int64_t>(random() % 3000);
      if (at == live.end()) {
        live[address] = {size, stack, false};
      } else if (at->second.pending || random() % 4 == 0) {
        action = TraceAction::free_completed;
        size = at->second.size;
        live.erase(at);
      } else {
        action = TraceAction::free_requested;
        size = at->second.size;
        at->second.pending = true;
      }
      if (i >= hidden) m.event(action, address, size, stack);
    }
    // Survivors take more than the rounded request, as blocks that were not split do.
    for (const auto& [address, block] : live)
      m.block(address, 4096, block.size, block.pending ? BlockState::pending : BlockState::allocated, block.stack);
    const Snapshot s = m.make();
    TimelineOptions options;
    options.columns = 1 + random() % 20;
    options.steady = options.grown = 10;
    const MemoryTimeline t = timeline_of(s, options);

    const std::uint64_t events = count - hidden;
    std::vector<Held> truth;
    for (std::uint64_t k = 0; k <= events; ++k) truth.push_back(held_at(s, k));
    // Times are 1000, 1001, ...: event i stands at i / (events - 1) of the axis.
    std::vector<std::int64_t> fullest(options.columns, -1);
    std::size_t column = 0;
    fullest[0] = total(truth[0]);
    for (std::uint64_t i = 0; i < events; ++i) {
      const double at = static_cast<double>(i) / static_cast<double>(events - 1);
      const std::size_t here =
          std::min(static_cast<std::size_t>(at * static_cast<double>(options.columns)), options.columns - 1);
      while (column < here) fullest[++column] = total(truth[i]);
      fullest[column] = std::max(fullest[column], total(truth[i + 1]));
    }
    while (column + 1 < options.columns) fullest[++column] = total(truth[events]);
    INFO("round " << round << ", events " << events << ", columns " << options.columns);
    REQUIRE(t.held == fullest);
    std::int64_t peak = 0;
    for (const Held& held : truth) peak = std::max(peak, total(held));
    CHECK(t.peak == peak);
    CHECK(total(truth[t.peak_event]) == peak);
    // Bands below a hundredth of the peak may stand among the others; with 4 stacks there are few.
    if (bands_of(t, &TimelineBand::at_peak).count(-3) == 0)
      CHECK(bands_of(t, &TimelineBand::at_peak) == without_zeros(truth[t.peak_event]));
    if (bands_of(t, &TimelineBand::at_end).count(-3) == 0)
      CHECK(bands_of(t, &TimelineBand::at_end) == without_zeros(truth[events]));
    for (std::size_t c = 0; c < t.columns; ++c) {
      std::int64_t sum = 0;
      for (const TimelineBand& band : t.bands) {
        CHECK(band.bytes[c] >= 0);
        sum += band.bytes[c];
      }
      REQUIRE(sum == t.held[c]);
    }
  }
}

TEST_CASE("timeline: what only grows is told from what only stays") {
  Maker m;
  m.event(TraceAction::segment_alloc, 0x10000000, 1 << 20, 0);
  m.event(TraceAction::alloc, 0x10000000, 100 * 512, 1);
  std::uint64_t at = 0x10000000 + 100 * 512;
  for (int i = 0; i < 60; ++i) {
    m.event(TraceAction::alloc, at, 512, 2);
    at += 512;
    m.event(TraceAction::alloc, at, 20 * 512, 3);
    m.event(TraceAction::free_requested, at, 20 * 512, 3);
    m.event(TraceAction::free_completed, at, 20 * 512, 3);
    if (i == 30) m.event(TraceAction::oom, 5, 77, 1);
  }
  m.step(1050);
  m.step(1100);
  const MemoryTimeline t = timeline_of(m.make(), {});
  std::map<std::uint32_t, bool> grew;
  for (const TimelineBand& band : t.bands) {
    if (band.kind == TimelineBand::Kind::stack) grew[band.group] = band.grew;
  }
  CHECK(grew == std::map<std::uint32_t, bool>{{1, false}, {2, true}, {3, false}});
  REQUIRE(t.bands.size() >= 2);
  CHECK(t.bands.back().kind == TimelineBand::Kind::pending);  // what grew lies on top, but for what was freed
  CHECK(t.bands[t.bands.size() - 2].group == 2);
  CHECK(t.steps.size() == 2);
  CHECK(t.failures.size() == 1);
  REQUIRE(t.failure.has_value());
  CHECK(t.failure->asked == 77);
  CHECK(t.by_time);
}

TEST_CASE("timeline: reserved bytes follow segments, the most of each column") {
  Maker m;
  m.event(TraceAction::segment_alloc, 0x1000000, 4096, 0);
  m.event(TraceAction::segment_alloc, 0x2000000, 8192, 0);
  m.event(TraceAction::segment_free, 0x2000000, 8192, 0);
  m.event(TraceAction::snapshot, 0, 0, 0);
  m.segment(0x1000000, {{4096, 0, 0}});
  TimelineOptions options;
  options.columns = 4;
  const MemoryTimeline t = timeline_of(m.make(), options);
  CHECK(t.reserved == std::vector<std::int64_t>{4096, 12288, 12288, 4096});
  CHECK(t.bands.empty());
}

TEST_CASE("timeline: without times the axis counts events, an empty trace has none") {
  Maker m;
  m.without_segments();
  CHECK(timeline(m.make(), {}, [](StackId) { return 0U; }, {}).error().code == ErrorCode::usage);
  Maker one;
  one.event(TraceAction::alloc, 0x1000, 10, 1);
  const MemoryTimeline t = timeline_of(one.make(), {});
  CHECK_FALSE(t.by_time);
  CHECK(t.reserved.empty() == false);
  CHECK(t.held.back() == 512);
  CHECK(t.peak_event == 1);
}

TEST_CASE("timeline: sizes that do not add up within 64 bits are an error") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Maker m;
  for (const std::uint64_t at : {0x1000U, 0x2000U}) m.event(TraceAction::alloc, at, kMost / 2 + 600, 1);
  for (const std::uint64_t at : {0x1000U, 0x2000U}) m.event(TraceAction::free_completed, at, kMost / 2 + 600, 1);
  m.event(TraceAction::alloc, 0x3000, kMost - 5, 1);
  m.event(TraceAction::free_completed, 0x3000, kMost - 5, 1);
  CHECK(timeline(m.make(), {}, [](StackId) { return 0U; }, {}).error().code == ErrorCode::limit);
}
