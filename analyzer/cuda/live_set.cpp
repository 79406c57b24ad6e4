#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analyzer/base/validate.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/roles.hpp"
#include "analyzer/cuda/trace.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::int64_t kBeforeStart = -1;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kRounding = 512;

/// A block's life, in numbers of events: there after event `start`, pending after event
/// `pending_from`, gone after event `end`.
struct Life {
  std::int64_t start = kBeforeStart;
  std::int64_t pending_from = kNever;
  StackId stack{};
  std::uint32_t stream = 0;
  std::uint32_t pool = 0;
  std::int64_t requested = 0;
  std::int64_t bytes = -1;  // -1: to be rounded from `requested`
  bool unattributed = false;
};

/// The state of one address: the open life, or when the last one ended.
struct Address {
  Life life;
  bool open = false;
  std::int64_t ended = kBeforeStart;
};

auto key_of(const LiveRow& r) {
  return std::tuple(r.stack, r.stream, r.pool, r.role, r.pending, r.before_trace, r.unattributed);
}
using Key = decltype(key_of(LiveRow{}));

class Pass {
 public:
  Pass(const AllocatorState& state, TraceRef trace, std::span<const std::uint64_t> moments, const LeftOver* left,
       Roles* roles, LiveBlocks* blocks)
      : state_(state), trace_(trace), blocks_(blocks), left_(left), roles_(roles), moments_(moments.size()) {
    for (std::size_t m = 0; m < moments.size(); ++m) {
      moments_[m].set.events = moments[m];
      moments_[m].last = static_cast<std::int64_t>(moments[m]) - 1;
    }
    if (blocks_ != nullptr) blocks_->blocks.resize(moments.size());
  }

  void event(std::int64_t index, const TraceEvent& event) {
    while (passed_ < moments_.size() && moments_[passed_].last < index) moments_[passed_++].set.time_us = time_us_;
    if (event.time_us != kNoTime) time_us_ = event.time_us;
    switch (event.action) {
      case TraceAction::alloc: return alloc(index, event);
      case TraceAction::free_requested: return free_requested(index, event);
      case TraceAction::free_completed: return free_completed(index, event);
      case TraceAction::segment_alloc:
      case TraceAction::segment_map: return segment_event(index, -event.size, event);
      case TraceAction::segment_free:
      case TraceAction::segment_unmap: return segment_event(index, event.size, event);
      default: return;
    }
  }

  Result<std::vector<LiveSet>> finish() {
    while (passed_ < moments_.size()) moments_[passed_++].set.time_us = time_us_;
    if (state_.has_segments) match_final_state();
    std::vector<std::uint64_t> open;
    for (const auto& [address, at] : addresses_) {
      if (at.open) open.push_back(address);
    }
    std::sort(open.begin(), open.end());  // the table's own order differs from run to run
    for (const std::uint64_t address : open) {
      if (state_.has_segments) ++signs_.lost_at_end;
      count(address, addresses_[address].life, kNever);
    }
    std::int64_t reserved = 0;
    for (std::size_t s = 0; state_.has_segments && s < state_.segments.size_rows(); ++s) {
      if (is_of(state_, s, trace_)) add(reserved, state_.segments.size[s]);
    }
    std::vector<LiveSet> out;
    for (std::size_t m = moments_.size(); m-- > 0;) {
      LiveSet& set = moments_[m].set;
      add(reserved, moments_[m].reserved_change);  // of what happened up to the next moment
      if (state_.has_segments) set.reserved = reserved;
      set.final_state_known = state_.has_segments;
      set.double_allocations = signs_.double_allocations;
      set.double_frees = signs_.double_frees;
      set.lost_at_end = signs_.lost_at_end;
      set.other_size_at_end = signs_.other_size_at_end;
    }
    fill_rows();
    if (!fits_) return Error{ErrorCode::limit, "sum of live bytes is beyond 2^63-1, expected it to fit in 64 bits"};
    for (Moment& moment : moments_) out.push_back(std::move(moment.set));
    return out;
  }

 private:
  /// Of one row, by what it differs from the moment before.
  struct Change {
    std::uint32_t row = 0;
    std::int64_t blocks = 0, requested = 0, bytes = 0, left_blocks = 0, left_bytes = 0;
  };
  struct Moment {
    LiveSet set;
    std::int64_t last = 0;             // number of the last event that has happened
    std::int64_t reserved_change = 0;  // to undo between this moment and the next one
    std::vector<Change> changes;       // since the moment before
  };
  using Moments = std::vector<Moment>;

  void add(std::int64_t& sum, std::int64_t value) { fits_ = checked_add(sum, value, sum) && fits_; }

  void segment_event(std::int64_t index, std::int64_t undone, const TraceEvent& event) {
    if (passed_ == 0) return;
    add(moments_[passed_ - 1].reserved_change, undone);
    if (blocks_ != nullptr) blocks_->later_segments.push_back({static_cast<std::uint64_t>(index), event});
  }

  void alloc(std::int64_t index, const TraceEvent& event) {
    Address& at = addresses_[event.address];
    if (at.open) {
      ++signs_.double_allocations;
      count(event.address, at.life, index);
    }
    open(at, index, event).stack = event.stack;
  }

  /// A life that begins after event `start`, of what an event says of its block.
  Life& open(Address& at, std::int64_t start, const TraceEvent& event) {
    at.open = true;
    at.life = {};
    at.life.start = start;
    at.life.stream = event.stream;
    at.life.pool = event.pool;
    at.life.requested = event.size;
    return at.life;
  }

  /// A block that no event of the trace opened: it was there before, or since it was last freed.
  Life& unopened(Address& at, const TraceEvent& event) {
    if (at.ended != kBeforeStart) ++signs_.double_frees;
    Life& life = open(at, at.ended, event);
    life.unattributed = true;
    return life;
  }

  void free_requested(std::int64_t index, const TraceEvent& event) {
    Address& at = addresses_[event.address];
    Life& life = at.open ? at.life : unopened(at, event);
    if (life.pending_from != kNever) {
      ++signs_.double_frees;
      return;
    }
    life.pending_from = index;
  }

  void free_completed(std::int64_t index, const TraceEvent& event) {
    Address& at = addresses_[event.address];
    if (!at.open) unopened(at, event);
    count(event.address, at.life, index);
    at.open = false;
    at.ended = index;
  }

  void match_final_state() {
    const BlockTable& blocks = state_.blocks;
    for (std::size_t b = 0; b < blocks.size_rows(); ++b) {
      if (blocks.state[b] == BlockState::inactive || !is_of(state_, blocks.segment[b], trace_)) continue;
      Address& at = addresses_[blocks.address[b]];
      const std::size_t segment = blocks.segment[b];
      Life life;
      if (at.open) {
        life = at.life;
        if (life.requested != blocks.requested[b]) ++signs_.other_size_at_end;
        at.open = false;
      } else {
        life.start = at.ended;
        life.stack = blocks.stack[b];
        life.stream = state_.segments.stream[segment];
        life.pool = state_.segments.pool[segment];
        life.requested = blocks.requested[b];
        if (blocks.state[b] == BlockState::pending) life.pending_from = kBeforeStart;
      }
      // The trace may have known only its release: the block knows more.
      if (life.unattributed || life.start == kBeforeStart) {
        life.stack = blocks.stack[b];
        life.unattributed = false;
      }
      life.bytes = blocks.size[b];
      count(blocks.address[b], life, kNever);
    }
  }

  /// Counts a life that ends with event `end` at each moment that it covers.
  void count(std::uint64_t address, const Life& life, std::int64_t end) {
    const auto covers = [&](const Moment& moment) { return moment.last < life.start; };
    const auto first = std::partition_point(moments_.begin(), moments_.end(), covers);
    if (first == moments_.end() || first->last >= end) return;
    LiveRow row;
    row.stack = life.stack;
    row.stream = life.stream;
    row.pool = life.pool;
    row.before_trace = life.start == kBeforeStart;
    row.unattributed = life.unattributed;
    row.blocks = 1;
    row.requested = life.requested;
    row.bytes = life.bytes;
    if (row.bytes < 0) {
      fits_ = checked_add(row.requested, kRounding - 1, row.bytes) && fits_;
      row.bytes = std::max(row.bytes / kRounding, std::int64_t{1}) * kRounding;
    }
    if (left_ != nullptr && life.start >= 0 && left_->has(static_cast<std::uint64_t>(life.start))) {
      row.left_blocks = 1;
      row.left_bytes = row.bytes;
    }
    if (roles_ != nullptr)
      row.role = roles_->of({life.stack, life.start, end, life.requested, life.unattributed, address});
    const auto is_before = [](std::int64_t event) {
      return [event](const Moment& moment) { return moment.last < event; };
    };
    const auto last = std::partition_point(first, moments_.end(), is_before(end));
    const auto pending = std::partition_point(first, last, is_before(life.pending_from));
    for (auto moment = first; blocks_ != nullptr && moment != last; ++moment) {
      blocks_->blocks[static_cast<std::size_t>(moment - moments_.begin())].push_back(
          {address, row.bytes, life.bytes >= 0, row.requested, row.stack, row.unattributed, moment >= pending,
           row.stream, row.pool, row.role, end != kNever, life.start});
    }
    add_change(first, pending, row);
    row.pending = true;
    add_change(pending, last, row);
  }

  /// A block that is there at moments from `first` up to `last`: it comes at the one and goes at the other.
  void add_change(Moments::iterator first, Moments::iterator last, const LiveRow& row) {
    if (first == last) return;
    const auto key = keys_.try_emplace(key_of(row), static_cast<std::uint32_t>(rows_.size()));
    if (key.second) {
      rows_.push_back(row);
      rows_.back().blocks = 0;
    }
    Change change{key.first->second, row.blocks, row.requested, row.bytes, row.left_blocks, row.left_bytes};
    first->changes.push_back(change);
    if (last == moments_.end()) return;
    change = {change.row, -row.blocks, -row.requested, -row.bytes, -row.left_blocks, -row.left_bytes};
    last->changes.push_back(change);
  }

  /// Rows of all moments, one moment after the other: of each what changed since the one before.
  void fill_rows() {
    std::map<Key, LiveRow> there;
    for (Moment& moment : moments_) {
      // Blocks that are freed are taken away first, so that no sum is larger on the way than before or after.
      std::stable_partition(moment.changes.begin(), moment.changes.end(),
                            [](const Change& change) { return change.blocks < 0; });
      for (const Change& change : moment.changes) {
        const auto at = there.try_emplace(key_of(rows_[change.row]), rows_[change.row]);
        LiveRow& row = at.first->second;
        if (at.second) row.requested = row.bytes = row.left_blocks = row.left_bytes = 0;
        row.blocks += change.blocks;
        row.left_blocks += change.left_blocks;
        add(row.requested, change.requested);
        add(row.bytes, change.bytes);
        add(row.left_bytes, change.left_bytes);
        if (row.blocks == 0) there.erase(at.first);
      }
      std::vector<Change>().swap(moment.changes);
      LiveSet& set = moment.set;
      for (const auto& [key, row] : there) {
        set.rows.push_back(row);
        (row.pending ? set.pending_blocks : set.blocks) += row.blocks;
        add(row.pending ? set.pending_requested : set.requested, row.requested);
        if (!row.pending) add(set.bytes, row.bytes);
      }
    }
  }

  const AllocatorState& state_;
  TraceRef trace_;
  LiveBlocks* blocks_;
  const LeftOver* left_;
  Roles* roles_;
  Moments moments_;         // ascending
  std::size_t passed_ = 0;  // moments before the event at hand
  std::int64_t time_us_ = kNoTime;
  LiveSet signs_;  // of its fields only the signs of damage
  std::unordered_map<std::uint64_t, Address, KeyedHash> addresses_;
  std::map<Key, std::uint32_t> keys_;
  std::vector<LiveRow> rows_;  // by number in keys_
  bool fits_ = true;
};

}  // namespace

Result<LiveSet> live_set(const Snapshot& snapshot, TraceRef ref, std::uint64_t events) {
  Result<std::vector<LiveSet>> sets = live_sets(snapshot, ref, {&events, 1}, nullptr, nullptr, nullptr);
  if (!sets) return std::move(sets).error();
  return std::move(sets->front());
}

Result<std::vector<LiveSet>> live_sets(const Snapshot& snapshot, TraceRef ref, std::span<const std::uint64_t> moments,
                                       const LeftOver* left, Roles* roles, LiveBlocks* blocks) {
  if (snapshot.allocator == nullptr)
    return Error{ErrorCode::usage, "no allocator trace in this snapshot, expected a CUDA memory snapshot"};
  const AllocatorState& state = *snapshot.allocator;
  const Result<const DeviceTrace*> found_trace = trace_of(snapshot, ref);
  if (!found_trace) return found_trace.error();
  const DeviceTrace* const trace = *found_trace;
  for (const std::uint64_t events : moments) {
    if (events > trace->events.size())
      return Error{ErrorCode::usage, "no event " + std::to_string(events) + ": the trace has " +
                                         std::to_string(trace->events.size()) + " events"};
  }
  Pass pass(state, ref, moments, left, roles, blocks);
  EventLog::Reader reader = trace->events.read();
  TraceEvent event;
  for (std::int64_t index = 0; reader.next(event); ++index) {
    if (!validate_event(event, state, *snapshot.dictionary))
      return Error{ErrorCode::malformed, "event names a stack, stream or pool that does not exist"};
    pass.event(index, event);
  }
  return pass.finish();
}

}  // namespace snapdiff::cuda
