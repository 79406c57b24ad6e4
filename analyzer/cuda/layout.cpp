#include "analyzer/cuda/live_blocks.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/cuda/trace.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

/// Reserved memory, by address.
struct Range {
  std::int64_t size = 0;
  std::uint32_t stream = 0;
  std::uint32_t pool = 0;
  std::uint8_t flags = 0;
  StackId stack{};
};
using Ranges = std::map<std::uint64_t, Range>;

std::uint64_t end_of(const Ranges::value_type& range) {
  return range.first + static_cast<std::uint64_t>(range.second.size);
}

/// Takes [address, address + size) away, where it is reserved.
void carve(Ranges& ranges, std::uint64_t address, std::int64_t size) {
  if (size <= 0) return;
  const std::uint64_t end = address + static_cast<std::uint64_t>(size);
  auto at = ranges.upper_bound(address);
  if (at == ranges.begin()) return;
  --at;
  if (end < address || end > end_of(*at)) return;
  const Range whole = at->second;
  const std::uint64_t whole_end = end_of(*at);
  if (address == at->first) {
    ranges.erase(at);
  } else {
    at->second.size = static_cast<std::int64_t>(address - at->first);
  }
  if (end < whole_end) {
    Range rest = whole;
    rest.size = static_cast<std::int64_t>(whole_end - end);
    ranges.emplace(end, rest);
  }
}

/// Gives a range back; ranges of expandable segments of one stream that touch are one. Pool and size class are taken
/// from what was there: most traces do not name the pool.
void give_back(Ranges& ranges, std::uint64_t address, Range range) {
  if (range.size <= 0 || address + static_cast<std::uint64_t>(range.size) < address) return;
  auto next = ranges.lower_bound(address);
  if (next != ranges.end() && next->first < address + static_cast<std::uint64_t>(range.size)) return;
  const auto joins = [](const Range& a, const Range& b) {
    return (a.flags & b.flags & kSegmentExpandable) != 0 && a.stream == b.stream;
  };
  if (next != ranges.begin()) {
    auto before = std::prev(next);
    if (end_of(*before) > address) return;
    if (end_of(*before) == address && joins(before->second, range)) {
      const std::int64_t added = range.size;
      range = before->second;
      if (__builtin_add_overflow(range.size, added, &range.size)) return;
      address = before->first;
      ranges.erase(before);
    }
  }
  if (next != ranges.end() && next->first == address + static_cast<std::uint64_t>(range.size) &&
      joins(next->second, range)) {
    const std::int64_t added = range.size;
    range = next->second;
    if (__builtin_add_overflow(range.size, added, &range.size)) return;
    ranges.erase(next);
  }
  ranges.emplace(address, range);
}

void undo(Ranges& ranges, const TraceEvent& event) {
  const bool expandable = event.action == TraceAction::segment_unmap;
  switch (event.action) {
    case TraceAction::segment_alloc:
    case TraceAction::segment_map: carve(ranges, event.address, event.size); return;
    case TraceAction::segment_free:
    case TraceAction::segment_unmap: {
      Range range;
      range.size = event.size;
      range.stream = event.stream;
      range.pool = event.pool;
      // Segments of the small pool are of 2 MiB, and it maps pages of 2 MiB; the large pool takes 20 MiB at least.
      if (event.size < 20 * kMiB && (expandable || event.size <= 2 * kMiB)) range.flags |= kSegmentSmall;
      if (expandable) range.flags |= kSegmentExpandable;
      give_back(ranges, event.address, range);
      return;
    }
    default: return;
  }
}

class Tables {
 public:
  explicit Tables(Layout& layout, std::uint32_t device) : layout_(layout), device_(device) {}

  void segment(std::uint64_t address, const Range& range) {
    SegmentTable& s = layout_.state.segments;
    s.device.push_back(device_);
    s.address.push_back(address);
    s.size.push_back(range.size);
    s.stated_allocated.push_back(-1);
    s.stated_active.push_back(-1);
    s.stated_requested.push_back(-1);
    s.stream.push_back(range.stream);
    s.pool.push_back(range.pool);
    s.flags.push_back(range.flags);
    s.stack.push_back(range.stack);
    s.block_begin.push_back(s.block_begin.back());
  }
  void block(std::uint64_t address, std::int64_t size, std::int64_t requested, BlockState state, StackId stack,
             bool unattributed, Role role) {
    BlockTable& b = layout_.state.blocks;
    b.segment.push_back(static_cast<std::uint32_t>(layout_.state.segments.size_rows() - 1));
    b.address.push_back(address);
    b.size.push_back(size);
    b.requested.push_back(requested);
    b.state.push_back(state);
    b.stack.push_back(stack);
    b.role.push_back(static_cast<std::uint8_t>(role));
    layout_.unattributed.push_back(unattributed);
    ++layout_.state.segments.block_begin.back();
  }

 private:
  Layout& layout_;
  std::uint32_t device_;
};

void copy_final_state(const AllocatorState& state, TraceRef trace, const std::vector<LiveBlock>& blocks,
                      Layout& layout) {
  std::unordered_map<std::uint64_t, Role, KeyedHash> roles;
  for (const LiveBlock& block : blocks) roles.emplace(block.address, block.role);
  const auto role_of = [&roles](std::uint64_t address) {
    const auto at = roles.find(address);
    return at == roles.end() ? Role::unknown : at->second;
  };
  Tables tables(layout, trace.device);
  const SegmentTable& s = state.segments;
  const BlockTable& b = state.blocks;
  for (std::size_t i = 0; i < s.size_rows(); ++i) {
    if (!is_of(state, i, trace)) continue;
    tables.segment(s.address[i], {s.size[i], s.stream[i], s.pool[i], s.flags[i], s.stack[i]});
    for (std::size_t k = s.block_begin[i]; k < s.block_begin[i + 1]; ++k)
      tables.block(b.address[k], b.size[k], b.requested[k], b.state[k], b.stack[k], false, role_of(b.address[k]));
  }
}

/// Blocks of one segment and the gaps between them; takes blocks from `next` on.
void fill_segment(const Ranges::value_type& range, const std::vector<LiveBlock>& blocks, std::size_t& next,
                  Tables& tables, Layout& layout) {
  const std::uint64_t end = end_of(range);
  // Nothing is split off a large block for less than 1 MiB, except in expandable segments.
  const std::int64_t least_split = range.second.flags == 0 ? kMiB : 0;
  std::uint64_t at = range.first;
  const auto gap = [&](std::uint64_t to) {
    if (to > at)
      tables.block(at, static_cast<std::int64_t>(to - at), 0, BlockState::inactive, StackId{}, false, Role::unknown);
  };
  for (; next < blocks.size() && blocks[next].address < end; ++next) {
    const LiveBlock& block = blocks[next];
    if (block.address < at) {
      ++layout.odd_blocks;
      continue;
    }
    gap(block.address);
    const bool followed = next + 1 < blocks.size() && blocks[next + 1].address < end;
    const std::uint64_t limit = followed ? std::max(blocks[next + 1].address, block.address) : end;
    const auto room = static_cast<std::int64_t>(limit - block.address);
    std::int64_t size = std::min(block.bytes, room);
    if (!block.size_known && block.requested > kMiB && room - size <= least_split) size = room;
    tables.block(block.address, size, std::min(block.requested, size),
                 block.pending ? BlockState::pending : BlockState::allocated, block.stack, block.unattributed,
                 block.role);
    at = block.address + static_cast<std::uint64_t>(size);
  }
  gap(end);
}

void undo_to_moment(const AllocatorState& state, TraceRef trace, std::vector<LiveBlock>& blocks,
                    std::span<const SegmentEvent> segment_events, Layout& layout) {
  Ranges ranges;
  for (std::size_t i = 0; i < state.segments.size_rows(); ++i) {
    if (!is_of(state, i, trace) || state.segments.size[i] <= 0) continue;
    give_back(ranges, state.segments.address[i],
              {state.segments.size[i], state.segments.stream[i], state.segments.pool[i], state.segments.flags[i],
               state.segments.stack[i]});
  }
  for (std::size_t i = segment_events.size(); i-- > 0 && segment_events[i].number >= layout.live.events;)
    undo(ranges, segment_events[i].event);
  std::sort(blocks.begin(), blocks.end(), [](const LiveBlock& a, const LiveBlock& b) {
    return std::pair(a.address, a.bytes) < std::pair(b.address, b.bytes);
  });
  Tables tables(layout, trace.device);
  std::size_t next = 0;
  for (const auto& range : ranges) {
    while (next < blocks.size() && blocks[next].address < range.first) {
      ++layout.odd_blocks;
      ++next;
    }
    tables.segment(range.first, range.second);
    fill_segment(range, blocks, next, tables, layout);
  }
  layout.odd_blocks += blocks.size() - next;
}

bool changes_memory(TraceAction action) { return action < TraceAction::oom; }

}  // namespace

Layout layout_of(const Snapshot& snapshot, TraceRef trace, LiveSet live, std::vector<LiveBlock> blocks,
                 std::span<const SegmentEvent> segment_events) {
  const AllocatorState& state = *snapshot.allocator;
  Layout layout;
  layout.live = std::move(live);
  layout.state.streams = state.streams;
  layout.state.pools = state.pools;
  layout.state.settings = state.settings;
  layout.state.has_segments = true;
  EventLog::Reader rest = state.trace(trace.device, trace.host)->events.read_from(layout.live.events);
  TraceEvent event;
  layout.exact = true;
  while (layout.exact && rest.next(event)) layout.exact = !changes_memory(event.action);
  if (layout.exact) {
    copy_final_state(state, trace, blocks, layout);
  } else {
    undo_to_moment(state, trace, blocks, segment_events, layout);
  }
  return layout;
}

Result<Layout> layout_at(const Snapshot& snapshot, TraceRef trace, std::uint64_t events) {
  LiveBlocks found;
  Result<std::vector<LiveSet>> live = live_sets(snapshot, trace, {&events, 1}, nullptr, nullptr, &found);
  if (!live) return std::move(live).error();
  if (!snapshot.allocator->has_segments)
    return Error{ErrorCode::usage, "no segments in this snapshot, only traces: where blocks lie is not recorded"};
  return layout_of(snapshot, trace, std::move(live->front()), std::move(found.blocks.front()), found.later_segments);
}

}  // namespace snapdiff::cuda
