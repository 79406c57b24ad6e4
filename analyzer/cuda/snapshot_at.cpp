#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/base/dictionary_mover.hpp"
#include "analyzer/base/pinning.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/roles.hpp"
#include "analyzer/cuda/trace.hpp"

namespace snapdiff::cuda {
namespace {

/// Blocks of all moments of a pass: some 64 MiB.
constexpr std::int64_t kBlocksAtOnce = 1 << 20;
/// Blocks of all moments together that are placed in their segments: half a gigabyte, and two seconds. A training of
/// 420 iterations has 20 000 live blocks then. Of more only the rows are known, not who keeps segments.
constexpr std::int64_t kMostPlaced = 1 << 23;

/// A builder as the target of a DictionaryMover.
struct BuilderRows {
  SnapshotBuilder& to;

  StringId string(std::string_view text) { return to.string(text); }
  ModuleId module(StringId name, StringId build_id) {
    const StringTable& strings = to.dictionary().strings;
    return to.module(strings[name], strings[build_id]);
  }
  FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line) {
    return to.function(name, system_name, file, start_line);
  }
  FrameId frame(const FrameSpec& spec, const Hash128& hash) { return to.frame_with_hash(spec, hash); }
};

std::string stream_text(std::uint64_t stream) {
  if (stream == 0) return "0";
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(stream));
  return text;
}

struct Place {
  std::uint32_t stream = 0;
  std::uint32_t pool = 0;
  bool pending = false;
  Role role = Role::unknown;
};

LabelSetId labels_of(const Place& row, const AllocatorState& state, TraceRef trace, SnapshotBuilder& builder) {
  std::vector<Label> set;
  const auto add = [&](std::string_view key, std::string_view text) {
    Label label;
    label.key = builder.string(key);
    label.text = builder.string(text);
    set.push_back(label);
  };
  const PoolId pool = state.pools[row.pool];
  add("device", trace.host ? "host" : std::to_string(trace.device));
  add("stream", stream_text(state.streams[row.stream]));
  add("pool", "(" + std::to_string(pool.first) + ", " + std::to_string(pool.second) + ")");
  if (row.pending) add("state", "pending");
  if (!trace.host) add("role", to_text(row.role));
  return builder.labels(std::move(set));
}

void add_notes(const LiveSet& live, Notes& notes) {
  notes.add(Severity::info,
            "blocks that are gone at the end of the trace count with their requested size rounded up to 512 bytes");
  if (!live.final_state_known)
    notes.add(Severity::warning,
              "no segments in this snapshot: memory from before the trace that was never freed is missing");
  const auto warn = [&notes](std::string_view text, std::uint64_t count) {
    if (count != 0) notes.add(Severity::warning, text, std::nullopt, count);
  };
  warn("allocation at an address that was still in use", live.double_allocations);
  warn("free of a block that was already freed", live.double_frees);
  warn("allocation of the trace that is neither freed nor in the final state", live.lost_at_end);
  warn("block with another requested size in the final state than in the trace", live.other_size_at_end);
}

/// Stacks of the snapshot's dictionary and of blocks whose stack is not known, as the builder calls them.
class NewStacks {
 public:
  NewStacks(const Dictionary& from, SnapshotBuilder& to) : from_(from), rows_{to}, mover_(from, rows_) {}

  StackId of(StackId stack, bool unattributed) {
    if (unattributed) return rows_.to.pseudo_stack(kBeforeTrace);
    if (stack == StackId{}) return rows_.to.pseudo_stack(kNoStackRecorded);
    const auto [at, is_new] = stacks_.try_emplace(stack);
    if (is_new) {
      frames_.clear();
      for (const FrameId frame : from_.stacks.frames(stack)) frames_.push_back(mover_.frame(frame));
      at->second = rows_.to.stack(frames_);
    }
    return at->second;
  }

 private:
  const Dictionary& from_;
  BuilderRows rows_;
  DictionaryMover<BuilderRows> mover_;
  std::unordered_map<StackId, StackId> stacks_;
  std::vector<FrameId> frames_;
};

/// Columns of a moment's snapshot, in their order.
enum Value : std::size_t {
  kObjects,
  kInUse,
  kRequested,
  kActive,
  kPending,
  kPinned,
  kSole,
  kLeftObjects,
  kLeft,
  kValues
};
constexpr std::array<std::string_view, kValues> kColumns = {"inuse_objects", "inuse_space",   "requested_space",
                                                            "active_space",  "pending_space", "pinned_space",
                                                            "sole_space",    "left_objects",  "left_space"};

/// Which columns there are, and where.
class Columns {
 public:
  Columns(bool layout, bool left) {
    for (std::size_t v = 0; v < kValues; ++v) {
      const bool there = v < kPinned || (v < kLeftObjects ? layout : left);
      if (there) used_.push_back(v);
    }
  }
  void add_to(SnapshotBuilder& builder) const {
    for (const std::size_t v : used_) {
      const bool counts = v == kObjects || v == kLeftObjects;
      builder.add_column({std::string(kColumns[v]), counts ? "count" : "bytes"});
    }
  }
  void add_row(SnapshotBuilder& builder, StackId stack, LabelSetId labels,
               const std::array<std::int64_t, kValues>& values) {
    row_.clear();
    for (const std::size_t v : used_) row_.push_back(values[v]);
    builder.add_row(stack, labels, row_);
  }

 private:
  std::vector<std::size_t> used_;
  std::vector<std::int64_t> row_;
};

using Values = std::array<std::int64_t, kValues>;

/// The role of the blocks of a stack, by stack, stream, pool and whether they are pending; the first of several.
using RolesByPlace = std::map<std::tuple<StackId, std::uint32_t, std::uint32_t, bool>, Role>;

/// Who pins and who holds segments alone; keeps the layout as the new snapshot's allocator state.
void add_layout(Layout layout, TraceRef trace, NewStacks& stacks, const RolesByPlace& roles, Columns& columns,
                SnapshotBuilder& builder) {
  AllocatorState& state = layout.state;
  for (StackId& stack : state.segments.stack) stack = stack == StackId{} ? stack : stacks.of(stack, false);
  for (std::size_t b = 0; b < state.blocks.size_rows(); ++b) {
    if (state.blocks.state[b] != BlockState::inactive)
      state.blocks.stack[b] = stacks.of(state.blocks.stack[b], layout.unattributed[b]);
    else
      state.blocks.stack[b] = StackId{};
  }
  for (const SegmentHolder& holder : segment_holders(state)) {
    if (holder.pinned == 0 && !holder.sole) continue;
    Values values{};
    values[kPinned] = holder.pinned;
    if (holder.sole) values[kSole] = state.segments.size[holder.segment];
    Place place{state.segments.stream[holder.segment], state.segments.pool[holder.segment], holder.pending};
    const auto role = roles.find({holder.stack, place.stream, place.pool, place.pending});
    if (role != roles.end()) place.role = role->second;
    columns.add_row(builder, holder.stack, labels_of(place, state, trace, builder), values);
  }
  builder.set_allocator(std::make_shared<const AllocatorState>(std::move(state)));
}

/// One moment as a snapshot; `layout.live` is set, the rest of it where segments are known.
Result<Snapshot> make_snapshot(const Snapshot& snapshot, TraceRef trace, bool with_layout, bool with_left,
                               Layout layout) {
  const LiveSet live = std::move(layout.live);
  SnapshotBuilder builder;
  builder.facts() = snapshot.facts;
  SnapshotFacts& facts = builder.facts();
  facts.counters.clear();
  if (live.reserved) facts.counters.push_back({"reserved", *live.reserved, "bytes", false});
  facts.taken_at_ns.reset();
  std::int64_t ns = 0;
  if (live.time_us > 0 && !__builtin_mul_overflow(live.time_us, std::int64_t{1000}, &ns)) facts.taken_at_ns = ns;
  facts.format_detail += ", after event " + std::to_string(live.events) + " of device " + std::to_string(trace.device);
  add_notes(live, facts.notes);
  if (layout.odd_blocks > 0)
    facts.notes.add(Severity::warning, "block of the trace outside every segment, or over another block", std::nullopt,
                    layout.odd_blocks);

  Columns columns(with_layout, with_left);
  columns.add_to(builder);
  NewStacks stacks(*snapshot.dictionary, builder);
  RolesByPlace roles;
  for (const LiveRow& row : live.rows) {
    Values values{};
    values[kActive] = row.bytes;
    if (row.pending) {
      values[kPending] = row.bytes;
    } else {
      values[kObjects] = row.blocks;
      values[kInUse] = row.bytes;
      values[kRequested] = row.requested;
      values[kLeftObjects] = row.left_blocks;
      values[kLeft] = row.left_bytes;
    }
    const StackId stack = stacks.of(row.stack, row.unattributed);
    roles.try_emplace({stack, row.stream, row.pool, row.pending}, row.role);
    const Place place{row.stream, row.pool, row.pending, row.role};
    columns.add_row(builder, stack, labels_of(place, *snapshot.allocator, trace, builder), values);
  }
  if (with_layout) add_layout(std::move(layout), trace, stacks, roles, columns, builder);
  return builder.finish();
}

/// The blocks of the fullest moment, or more.
std::int64_t most_blocks(const Snapshot& snapshot, TraceRef trace) {
  std::int64_t live = 0, most = 1;
  const DeviceTrace* const found = find_trace(snapshot, trace);
  if (found == nullptr) return most;
  EventLog::Reader reader = found->events.read();
  TraceEvent event;
  while (reader.next(event)) {
    if (event.action == TraceAction::alloc) ++live;
    if (event.action == TraceAction::free_completed) --live;
    most = std::max(most, live);
  }
  return std::max(most, most - live) + static_cast<std::int64_t>(snapshot.allocator->blocks.size_rows());
}

}  // namespace

Result<Snapshot> snapshot_at(const Snapshot& snapshot, TraceRef trace, std::uint64_t events) {
  Result<std::vector<Snapshot>> made = snapshots_at(snapshot, trace, {&events, 1}, nullptr);
  if (!made) return std::move(made).error();
  return std::move(made->front());
}

Result<std::vector<Snapshot>> snapshots_at(const Snapshot& snapshot, TraceRef trace,
                                           std::span<const std::uint64_t> moments, const LeftOver* left) {
  // Host memory has no columns for what is pinned there: it is all pinned, in another sense.
  const bool has_layout = snapshot.allocator != nullptr && snapshot.allocator->has_segments && !trace.host;
  bool with_layout = has_layout;
  std::size_t batch = 1;
  if (moments.size() > 1) {
    const std::int64_t most = most_blocks(snapshot, trace);
    with_layout = has_layout && static_cast<std::int64_t>(moments.size()) <= kMostPlaced / most;
    batch = with_layout ? static_cast<std::size_t>(std::clamp<std::int64_t>(kBlocksAtOnce / most, 1, 1024))
                        : moments.size();
  }
  std::vector<Snapshot> out;
  const DeviceTrace* const found = find_trace(snapshot, trace);
  std::optional<Roles> roles;
  if (found != nullptr && !trace.host) roles.emplace(snapshot, found->events);
  for (std::size_t first = 0; first < moments.size(); first += batch) {
    LiveBlocks blocks;
    const std::span<const std::uint64_t> some = moments.subspan(first, std::min(batch, moments.size() - first));
    Result<std::vector<LiveSet>> live =
        live_sets(snapshot, trace, some, left, roles ? &*roles : nullptr, with_layout ? &blocks : nullptr);
    if (!live) return std::move(live).error();
    for (std::size_t m = 0; m < live->size(); ++m) {
      Layout layout;
      if (with_layout) {
        layout = layout_of(snapshot, trace, std::move((*live)[m]), std::move(blocks.blocks[m]), blocks.later_segments);
      } else {
        layout.live = std::move((*live)[m]);
      }
      Result<Snapshot> made = make_snapshot(snapshot, trace, with_layout, left != nullptr, std::move(layout));
      if (!made) return std::move(made).error();
      if (with_layout != has_layout)
        made->facts.notes.add(Severity::info, "too many moments and blocks to tell which stacks keep segments");
      out.push_back(*std::move(made));
    }
  }
  return out;
}

}  // namespace snapdiff::cuda
