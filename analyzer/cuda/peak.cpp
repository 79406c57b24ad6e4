#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/base/pinning.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/label_rows.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/module_calls.hpp"
#include "analyzer/cuda/roles.hpp"
#include "analyzer/cuda/trace.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::size_t kFewest = 2;  // a trace of one event is what a recorder leaves that keeps the state only

template <class Row>
void put_most_first(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.bytes > b.bytes; });
}

/// Sums of parts of a live set, whose own sum is known to fit.
class PeakSums {
 public:
  explicit PeakSums(const Dictionary& dictionary) : calls_(dictionary) {}

  void add(const LiveBlock& block) {
    PeakRow& row = rows_[{block.stack, block.unattributed, block.role}];
    row.stack = block.stack;
    row.unattributed = block.unattributed;
    row.role = to_text(block.role);
    ++row.blocks;
    row.bytes += block.bytes;
    if (block.born >= 0 && block.freed) row.passing += block.bytes;
    add_role(by_role_, block);
    calls_.add(block);
  }
  /// At the end of the trace.
  void add_at_end(const LiveBlock& block) {
    if (block.born >= 0) add_role(kept_, block);
  }

  void finish(MemoryPeak& out) {
    for (const auto& [key, row] : rows_) out.rows.push_back(row);
    for (const auto& [key, role] : by_role_) out.roles.push_back(role);
    for (const auto& [key, role] : kept_) out.kept.push_back(role);
    put_most_first(out.rows);
    put_most_first(out.roles);
    put_most_first(out.kept);
    out.layers = calls_.find();
    out.modules = calls_.modules(out.bytes);
  }

 private:
  static void add_role(std::map<Role, PeakRole>& roles, const LiveBlock& block) {
    PeakRole& role = roles[block.role];
    role.role = to_text(block.role);
    ++role.blocks;
    role.bytes += block.bytes;
  }

  std::map<std::tuple<StackId, bool, Role>, PeakRow> rows_;
  std::map<Role, PeakRole> by_role_, kept_;
  ModuleCalls calls_;
};

bool has_expandable(const AllocatorState& state) {
  return std::any_of(state.segments.flags.begin(), state.segments.flags.end(),
                     [](std::uint8_t f) { return (f & kSegmentExpandable) != 0; });
}

bool has_history(const AllocatorState& state) {
  return std::any_of(state.traces.begin(), state.traces.end(),
                     [](const DeviceTrace& trace) { return !trace.host && trace.events.size() >= kFewest; });
}

/// Of a block that lies in a snapshot without a trace. Nothing is from before a trace there.
Role held_role(Roles& roles, StackId stack, std::int64_t requested) {
  const Role role = roles.of({stack, -1, RoleQuery::kNeverFreed, requested, false});
  return role == Role::before_trace ? Role::unknown : role;
}

/// The one device of a snapshot's segments and traces, where there is one only and nothing of the host.
std::optional<TraceRef> only_trace(const AllocatorState& state) {
  if (state.traces.size() != 1 || state.traces.front().host) return std::nullopt;
  const std::uint32_t device = state.traces.front().device;
  for (std::size_t s = 0; s < state.segments.size_rows(); ++s) {
    if (state.segments.device[s] != device || (state.segments.flags[s] & kSegmentHost) != 0) return std::nullopt;
  }
  return TraceRef{device, false};
}

}  // namespace

std::optional<ReservedBytes> reserved_bytes(const Snapshot& snapshot) {
  if (snapshot.allocator == nullptr || !snapshot.allocator->has_segments) return std::nullopt;
  const AllocatorState& state = *snapshot.allocator;
  ReservedBytes out;
  out.expandable = has_expandable(state);
  for (std::size_t s = 0; s < state.segments.size_rows(); ++s) {
    if ((state.segments.flags[s] & kSegmentHost) != 0) continue;
    out.reserved = wrapping_sum(out.reserved, state.segments.size[s]);
    for (std::size_t b = state.segments.block_begin[s]; b < state.segments.block_begin[s + 1]; ++b) {
      if (state.blocks.state[b] == BlockState::allocated)
        out.allocated = wrapping_sum(out.allocated, state.blocks.size[b]);
    }
  }
  out.cached = cached_of(state);
  return out;
}

CachedBytes cached_of(const AllocatorState& layout) {
  CachedBytes out;
  for (std::size_t s = 0; s < layout.segments.size_rows(); ++s) {
    if ((layout.segments.flags[s] & kSegmentHost) != 0) continue;
    const std::size_t begin = layout.segments.block_begin[s], end = layout.segments.block_begin[s + 1];
    const auto is_free = [&](std::size_t b) { return layout.blocks.state[b] == BlockState::inactive; };
    bool is_used = false;
    for (std::size_t b = begin; b < end; ++b) is_used = is_used || !is_free(b);
    FreeBytes whole;  // pages, or all of the segment
    for (std::size_t b = begin; b < end; ++b) {
      if (!is_free(b)) continue;
      const std::int64_t size = std::max<std::int64_t>(layout.blocks.size[b], 0);
      const std::int64_t pinned = is_used ? pinned_bytes(layout, s, b) : 0;
      if (pinned > 0) out.fragments.add(pinned);
      whole.add(size - pinned);
    }
    if (whole.bytes > 0) out.releasable.add(whole.bytes);
  }
  return out;
}

namespace {

/// The blocks in use after `event` events.
Result<std::optional<MemoryPeak>> memory_after(const Snapshot& snapshot, TraceRef ref, const EventLog& events,
                                               std::uint64_t event) {
  Roles roles(snapshot, events);
  MemoryPeak out;
  out.event = event;
  out.events = events.size();
  out.part = roles.part_at(out.event);
  const std::array<std::uint64_t, 3> moments = {0, out.event, out.events};
  LiveBlocks blocks;
  Result<std::vector<LiveSet>> live = live_sets(snapshot, ref, moments, nullptr, &roles, &blocks);
  if (!live) return std::move(live).error();
  out.at_start = live->at(0).bytes;
  out.bytes = live->at(1).bytes;
  out.blocks = live->at(1).blocks;
  out.reserved = live->at(1).reserved;
  out.at_end = live->at(2).bytes;
  out.expandable = has_expandable(*snapshot.allocator);
  PeakSums sums(*snapshot.dictionary);
  for (const LiveBlock& block : blocks.blocks[1]) {
    if (!block.pending) sums.add(block);
  }
  for (const LiveBlock& block : blocks.blocks[2]) {
    if (!block.pending) sums.add_at_end(block);
  }
  sums.finish(out);
  if (snapshot.allocator->has_segments)
    out.cached = cached_of(
        layout_of(snapshot, ref, std::move(live->at(1)), std::move(blocks.blocks[1]), blocks.later_segments).state);
  return std::optional(std::move(out));
}

}  // namespace

Result<std::optional<MemoryPeak>> memory_peak(const Snapshot& snapshot, TraceRef ref) {
  const DeviceTrace* const trace = find_trace(snapshot, ref);
  if (trace == nullptr || trace->events.size() < kFewest) return std::optional<MemoryPeak>();
  const Result<std::vector<std::uint64_t>> fullest = points(snapshot, ref, "peak");
  if (!fullest) return fullest.error();
  return memory_after(snapshot, ref, trace->events, fullest->front());
}

Result<std::optional<MemoryPeak>> memory_low(const Snapshot& snapshot, TraceRef ref) {
  const DeviceTrace* const trace = find_trace(snapshot, ref);
  if (trace == nullptr || trace->events.size() < kFewest) return std::optional<MemoryPeak>();
  const Result<Iterations> found = iterations(snapshot, ref);
  if (!found) return found.error();
  if (found->size() == 0) return std::optional<MemoryPeak>();
  return memory_after(snapshot, ref, trace->events, found->marks.back());
}

Result<std::optional<MemoryPeak>> memory_at_failure(const Snapshot& snapshot, TraceRef ref,
                                                    const OutOfMemory& failure) {
  const DeviceTrace* const trace = find_trace(snapshot, ref);
  if (trace == nullptr) return std::optional<MemoryPeak>();
  return memory_after(snapshot, ref, trace->events, failure.event);
}

std::optional<MemoryPeak> held_memory(const Snapshot& snapshot) {
  if (snapshot.allocator == nullptr || !snapshot.allocator->has_segments || has_history(*snapshot.allocator) ||
      has_label(snapshot, kRoleLabel))
    return std::nullopt;
  const AllocatorState& state = *snapshot.allocator;
  MemoryPeak out;
  out.has_history = false;
  out.expandable = has_expandable(state);
  Roles roles(snapshot, EventLog());
  PeakSums sums(*snapshot.dictionary);
  std::int64_t reserved = 0;
  for (std::size_t s = 0; s < state.segments.size_rows(); ++s) {
    if ((state.segments.flags[s] & kSegmentHost) != 0) continue;
    if (!checked_add(reserved, state.segments.size[s], reserved)) return std::nullopt;
    for (std::size_t b = state.segments.block_begin[s]; b < state.segments.block_begin[s + 1]; ++b) {
      if (state.blocks.state[b] != BlockState::allocated) continue;
      if (!checked_add(out.bytes, state.blocks.size[b], out.bytes)) return std::nullopt;
      LiveBlock block;
      block.bytes = state.blocks.size[b];
      block.requested = state.blocks.requested[b];
      block.stack = state.blocks.stack[b];
      block.role = held_role(roles, block.stack, block.requested);
      sums.add(block);
      ++out.blocks;
    }
  }
  out.reserved = reserved;
  out.at_start = out.at_end = out.bytes;
  sums.finish(out);
  out.cached = cached_of(state);
  return out;
}

Result<std::optional<Snapshot>> with_roles(const Snapshot& snapshot) {
  if (snapshot.allocator == nullptr || has_label(snapshot, kRoleLabel)) return std::optional<Snapshot>();
  const AllocatorState& state = *snapshot.allocator;
  if (has_history(state)) {
    const std::optional<TraceRef> trace = only_trace(state);
    if (!trace || !state.has_segments) return std::optional<Snapshot>();
    Result<Snapshot> moment = snapshot_at(snapshot, *trace, state.traces.front().events.size());
    if (!moment) return std::move(moment).error();
    return std::optional(*std::move(moment));
  }
  Roles roles(snapshot, EventLog());
  Snapshot out =
      with_label(snapshot, kRoleLabel, [&](StackId stack) { return std::string(to_text(held_role(roles, stack, 0))); });
  AllocatorState coloured = state;
  for (const StackId stack : state.blocks.stack)
    coloured.blocks.role.push_back(static_cast<std::uint8_t>(held_role(roles, stack, 0)));
  out.allocator = std::make_shared<const AllocatorState>(std::move(coloured));
  return std::optional(std::move(out));
}

}  // namespace snapdiff::cuda
