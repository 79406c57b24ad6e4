#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "unit/analyzer/store/small_snapshots.hpp"

/// Snapshots with a made-up caching allocator: whatever its state may hold.
namespace snapdiff::test {

struct AllocatorShape {
  std::size_t segments = 10;
  std::size_t blocks = 8;  ///< of a segment, at most
  std::size_t events = 300;
  std::size_t stacks = 20;
};

/// Adds a state to the builder. Equal seeds make equal segments and blocks; `changed` of them in a hundred are others.
inline void add_allocator(SnapshotBuilder& b, unsigned seed, const AllocatorShape& shape, unsigned changed = 0,
                          unsigned change_seed = 0) {
  std::mt19937_64 random(seed);
  std::mt19937_64 other(change_seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  std::vector<StackId> stacks{StackId{}};
  for (std::size_t i = 0; i < shape.stacks; ++i) stacks.push_back(folded(b, numbered("main;train;alloc", i)));
  const auto stack = [&] { return stacks[below(stacks.size())]; };
  auto state = std::make_shared<AllocatorState>();
  state->has_segments = shape.segments > 0;
  state->streams = {0, 0x7f00, random()};
  state->pools = {{0, 0}, {0, 1}, {-5, static_cast<std::int64_t>(random())}};
  state->settings = {{"expandable_segments", "False"}, {"", std::string("\0\xff", 2)}};
  for (int i = 0; i < 5; ++i) {
    const auto stage = static_cast<AnnotationStage>(below(3));
    state->annotations.push_back({b.string(numbered("ProfilerStep#", below(9))), stage,
                                  static_cast<std::uint32_t>(below(2)), i == 3 ? kNoTime : 1'700'000'000 + i});
  }
  SegmentTable& s = state->segments;
  BlockTable& t = state->blocks;
  std::uint64_t address = 0x7f0000000000;
  for (std::size_t i = 0; i < shape.segments; ++i) {
    s.device.push_back(static_cast<std::uint32_t>(below(3)));
    s.address.push_back(address);
    s.stated_allocated.push_back(below(4) == 0 ? -1 : static_cast<std::int64_t>(below(1 << 20)));
    s.stated_active.push_back(static_cast<std::int64_t>(below(1 << 20)));
    s.stated_requested.push_back(-1);
    s.stream.push_back(static_cast<std::uint32_t>(below(3)));
    s.pool.push_back(static_cast<std::uint32_t>(below(3)));
    s.flags.push_back(static_cast<std::uint8_t>(below(8)));
    s.stack.push_back(stack());
    std::uint64_t at = address;
    for (std::uint64_t n = below(shape.blocks + 1); n > 0; --n) {
      std::uint64_t size = 512 * (1 + below(4000));
      const bool is_other = other() % 100 < changed;
      const auto block_state = is_other ? BlockState::pending : static_cast<BlockState>(below(3));
      if (is_other) below(3);
      t.segment.push_back(static_cast<std::uint32_t>(i));
      t.address.push_back(at);
      t.size.push_back(static_cast<std::int64_t>(size));
      t.state.push_back(block_state);
      t.requested.push_back(block_state == BlockState::inactive ? 0 : static_cast<std::int64_t>(size - 7));
      const StackId of = stack();
      t.stack.push_back(block_state == BlockState::inactive ? StackId{} : of);
      at += size;
    }
    s.size.push_back(static_cast<std::int64_t>(at - address));
    s.block_begin.push_back(t.size_rows());
    address = at + (below(3) << 21);
  }
  for (const auto& [device, host] : {std::pair{0U, false}, {2U, false}, {0U, true}}) {
    DeviceTrace trace{device, host, {}};
    std::int64_t time = 1'700'000'000'000'000;
    TraceEvent event;
    const std::size_t events = host ? shape.events / 7 : device == 2 ? 0 : shape.events;
    for (std::size_t n = 0; n < events; ++n) {
      event.action = static_cast<TraceAction>(below(10));
      if (below(20) == 0) event.stream = static_cast<std::uint32_t>(below(3));
      if (below(20) == 0) event.pool = static_cast<std::uint32_t>(below(3));
      if (below(2) == 0) event.stack = stack();
      if (below(3) != 0) event.address = below(50) == 0 ? random() : 0x7f0000000000 + 512 * below(1 << 20);
      if (below(3) != 0)
        event.size = below(50) == 0 ? static_cast<std::int64_t>(random()) : 512 * static_cast<std::int64_t>(below(999));
      time += static_cast<std::int64_t>(below(100)) - 3;
      event.time_us = below(30) == 0 ? kNoTime : time;
      trace.events.append(event);
    }
    state->traces.push_back(std::move(trace));
  }
  b.set_allocator(std::move(state));
}

inline Snapshot with_allocator(const std::string& name, unsigned seed, const AllocatorShape& shape = {},
                               unsigned changed = 0, unsigned change_seed = 0) {
  SnapshotBuilder b;
  b.add_column({"inuse_space", "bytes"});
  const std::int64_t value = 512;
  b.add_row(folded(b, "main;train;alloc1"), LabelSetId{}, std::span(&value, 1));
  add_allocator(b, seed, shape, changed, change_seed);
  b.facts().source.name = name;
  b.facts().source.sha256 = "sha256 of " + name;
  b.facts().format = "made";
  auto made = b.finish();
  return std::move(made).value();
}

}  // namespace snapdiff::test
