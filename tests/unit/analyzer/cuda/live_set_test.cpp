#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "unit/analyzer/cuda/maker.hpp"

using namespace snapdiff;
using namespace snapdiff::cuda;
using snapdiff::test::Maker;

namespace {

std::string name_of(const Snapshot& s, const LiveRow& row) {
  if (row.unattributed) return "[before trace]";
  const auto frames = s.dictionary->stacks.frames(row.stack);
  if (frames.empty()) return "[none]";
  return std::string(
      s.dictionary
          ->strings[s.dictionary->functions.name[index_of(s.dictionary->frames.function[index_of(frames[0])])]]);
}

/// name, pending, before the trace -> blocks, requested bytes
using Picture = std::map<std::tuple<std::string, bool, bool>, std::pair<std::int64_t, std::int64_t>>;

Picture picture(const Snapshot& s, std::uint64_t events) {
  Result<LiveSet> live = live_set(s, {}, events);
  if (!live) FAIL(live.error().text());
  Picture out;
  for (const LiveRow& row : live->rows) {
    auto& cell = out[{name_of(s, row), row.pending, row.before_trace}];
    cell.first += row.blocks;
    cell.second += row.requested;
  }
  return out;
}

}  // namespace

TEST_CASE("live set: opens, waits and closes by the events of the trace") {
  Maker m;
  m.event(TraceAction::alloc, 0x1000, 100, 1);
  m.event(TraceAction::alloc, 0x2000, 200, 2);
  m.event(TraceAction::free_requested, 0x1000, 100, 9);
  m.event(TraceAction::free_completed, 0x1000, 100, 9);
  m.event(TraceAction::alloc, 0x1000, 700, 3);
  m.block(0x1000, 1024, 700, BlockState::allocated, 3);
  m.block(0x2000, 512, 200, BlockState::allocated, 2);
  const Snapshot s = m.make();
  CHECK(picture(s, 0).empty());
  CHECK(picture(s, 1) == Picture{{{"f1", false, false}, {1, 100}}});
  CHECK(picture(s, 3) == Picture{{{"f1", true, false}, {1, 100}}, {{"f2", false, false}, {1, 200}}});
  CHECK(picture(s, 4) == Picture{{{"f2", false, false}, {1, 200}}});
  CHECK(picture(s, 5) == Picture{{{"f2", false, false}, {1, 200}}, {{"f3", false, false}, {1, 700}}});
  const Result<LiveSet> live = live_set(s, {}, 5);
  CHECK(live->bytes == 1536);
  CHECK(live->requested == 900);
  CHECK(live->time_us == 1004);
  CHECK(live->lost_at_end == 0);
  CHECK(live->other_size_at_end == 0);
}

TEST_CASE("live set: memory from before the trace keeps its stack when it is still there") {
  Maker m;
  m.event(TraceAction::free_completed, 0x3000, 300, 9);  // no request: both in one
  m.event(TraceAction::free_requested, 0x4000, 400, 9);
  m.block(0x4000, 512, 400, BlockState::pending, 4);
  m.block(0x5000, 512, 500, BlockState::allocated, 5);
  m.block(0x6000, 512, 600, BlockState::pending, 6);
  m.block(0x7000, 512, 50, BlockState::inactive, 0);
  const Snapshot s = m.make();
  CHECK(picture(s, 0) == Picture{{{"[before trace]", false, true}, {1, 300}},
                                 {{"f4", false, true}, {1, 400}},
                                 {{"f5", false, true}, {1, 500}},
                                 {{"f6", true, true}, {1, 600}}});
  CHECK(picture(s, 2) ==
        Picture{{{"f4", true, true}, {1, 400}}, {{"f5", false, true}, {1, 500}}, {{"f6", true, true}, {1, 600}}});
}

TEST_CASE("live set: contradictions are counted") {
  Maker m;
  m.event(TraceAction::alloc, 0x1000, 100, 1);
  m.event(TraceAction::alloc, 0x1000, 101, 2);
  m.event(TraceAction::alloc, 0x2000, 200, 3);
  m.event(TraceAction::free_completed, 0x2000, 200, 3);
  m.event(TraceAction::free_completed, 0x2000, 200, 3);
  m.event(TraceAction::alloc, 0x3000, 300, 3);
  m.block(0x1000, 512, 99, BlockState::allocated, 2);
  const Snapshot s = m.make();
  const Result<LiveSet> live = live_set(s, {}, 6);
  CHECK(live->double_allocations == 1);
  CHECK(live->double_frees == 1);
  CHECK(live->lost_at_end == 1);
  CHECK(live->other_size_at_end == 1);
}

TEST_CASE("live set: without segments only what the trace opens is known") {
  Maker m;
  m.without_segments();
  m.event(TraceAction::alloc, 0x1000, 100, 1);
  const Snapshot s = m.make();
  const Result<LiveSet> live = live_set(s, {}, 1);
  CHECK_FALSE(live->final_state_known);
  CHECK_FALSE(live->reserved.has_value());
  CHECK(live->requested == 100);
  CHECK(live->lost_at_end == 0);
}

TEST_CASE("live set: reserved bytes follow segments and mapped ranges back") {
  Maker m;
  m.event(TraceAction::segment_alloc, 0x1000, 2048, 1);
  m.event(TraceAction::segment_map, 0x9000, 4096, 1);
  m.event(TraceAction::segment_unmap, 0x9000, 1024, 1);
  m.event(TraceAction::segment_free, 0x8000, 512, 1);
  m.block(0x1000, 5120, 0, BlockState::inactive, 0);
  const Snapshot s = m.make();
  const std::vector<std::int64_t> truth = {5120 + 512 + 1024 - 4096 - 2048, 5120 + 512 + 1024 - 4096, 5120 + 512 + 1024,
                                           5120 + 512, 5120};
  for (std::uint64_t k = 0; k <= 4; ++k) CHECK(live_set(s, {}, k)->reserved == truth[k]);
}

TEST_CASE("live set: wrong questions are errors") {
  Maker m;
  const Snapshot s = m.make();
  CHECK(live_set(s, {1, false}, 0).error().code == ErrorCode::usage);
  CHECK(live_set(s, {0, true}, 0).error().code == ErrorCode::usage);
  CHECK(live_set(s, {}, 1).error().message == "no event 1: the trace has 0 events");
  CHECK(live_set(Snapshot{}, {}, 0).error().code == ErrorCode::usage);
}

TEST_CASE("snapshot at an event: a snapshot of its own, with the same columns") {
  Maker m;
  m.event(TraceAction::alloc, 0x1000, 100, 1, 1);
  m.event(TraceAction::alloc, 0x2000, 600, 2);
  m.event(TraceAction::free_requested, 0x2000, 600, 2);
  m.event(TraceAction::free_completed, 0x2000, 600, 2);
  m.event(TraceAction::free_completed, 0x3000, 60, 2);
  m.block(0x1000, 4096, 100, BlockState::allocated, 1, 1);
  const Snapshot s = m.make();
  Result<Snapshot> then = snapshot_at(s, {}, 3);
  if (!then) FAIL(then.error().text());
  REQUIRE(then->samples.size() == 3);
  std::map<std::string, std::vector<std::int64_t>> rows;
  for (std::size_t r = 0; r < 3; ++r) {
    LiveRow row;
    row.stack = then->samples.stack[r];
    for (const Column& column : then->samples.columns) rows[name_of(*then, row)].push_back(column.value[r]);
  }
  CHECK(rows["f1"] == std::vector<std::int64_t>{1, 4096, 100, 4096, 0, 0, 4096});
  CHECK(rows["f2"] == std::vector<std::int64_t>{0, 0, 0, 1024, 1024, 0, 0});
  CHECK(rows["[before trace]"] == std::vector<std::int64_t>{1, 512, 60, 512, 0, 0, 0});
  CHECK(then->facts.taken_at_ns == 1'002'000);
}

TEST_CASE("live set: equals a brute-force walk back from the final state") {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    // A consistent history of which the first part is not recorded.
    struct Block {
      std::int64_t size = 0;
      int stack = 0;
      bool pending = false;
      bool recorded = false;
    };
    std::map<std::uint64_t, Block> live;
    struct Event {
      TraceAction action;
      std::uint64_t address;
      std::int64_t size;
      int stack;
    };
    std::vector<Event> events;
    const std::size_t hidden = random() % 40;
    const std::size_t count = hidden + random() % 120;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t address = 512 * (1 + random() % 30);
      const auto at = live.find(address);
      const int stack = 1 + static_cast<int>(random() % 5);
      if (at == live.end()) {
        live[address] = {1 + static_cast<std::int64_t>(random() % 2000), stack, false, i >= hidden};
        events.push_back({TraceAction::alloc, address, live[address].size, stack});
      } else if (at->second.pending || random() % 5 == 0) {
        events.push_back({TraceAction::free_completed, address, at->second.size, 9});
        live.erase(at);
      } else {
        at->second.pending = true;
        events.push_back({TraceAction::free_requested, address, at->second.size, 9});
      }
    }
    Maker m;
    for (std::size_t i = hidden; i < events.size(); ++i)
      m.event(events[i].action, events[i].address, events[i].size, events[i].stack);
    for (const auto& [address, block] : live)
      m.block(address, (block.size + 511) / 512 * 512, block.size,
              block.pending ? BlockState::pending : BlockState::allocated, block.stack);
    const Snapshot s = m.make();

    // Truth: play the whole history, with the knowledge of what is still there at the end.
    for (std::size_t k = 0; hidden + k <= events.size(); ++k) {
      struct Alive {
        Block block;
        bool hidden_request = false;
      };
      std::map<std::uint64_t, Alive> now;
      for (std::size_t i = 0; i < hidden + k; ++i) {
        const Event& e = events[i];
        if (e.action == TraceAction::alloc) now[e.address] = {{e.size, e.stack, false, i >= hidden}, false};
        if (e.action == TraceAction::free_requested) {
          now[e.address].block.pending = true;
          now[e.address].hidden_request = i < hidden;
        }
        if (e.action == TraceAction::free_completed) now.erase(e.address);
      }
      Picture truth;
      for (const auto& [address, alive] : now) {
        bool freed_later = false;
        for (std::size_t i = hidden + k; i < events.size(); ++i)
          freed_later =
              freed_later || (events[i].address == address && events[i].action == TraceAction::free_completed);
        const bool unknown = !alive.block.recorded && freed_later;
        const std::string name = unknown ? "[before trace]" : "f" + std::to_string(alive.block.stack);
        // Nothing tells that a block was freed before the trace when it is gone at the end.
        const bool pending = alive.block.pending && !(unknown && alive.hidden_request);
        auto& cell = truth[{name, pending, !alive.block.recorded}];
        ++cell.first;
        cell.second += alive.block.size;
      }
      const Picture found = picture(s, k);
      if (found != truth) FAIL("round " << round << ", event " << k);
    }
  }
  SUCCEED();
}
