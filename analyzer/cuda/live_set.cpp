#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/validate.hpp"

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

/// What is known of one address: the open life, or when the last one ended.
struct Address {
  Life life;
  bool open = false;
  std::int64_t ended = kBeforeStart;
};

auto key_of(const LiveRow& r) {
  return std::tuple(r.stack, r.stream, r.pool, r.pending, r.before_trace, r.unattributed);
}

class Pass {
 public:
  Pass(const AllocatorState& state, TraceRef trace, std::uint64_t events, LiveBlocks* blocks)
      : state_(state), trace_(trace), blocks_(blocks) {
    set_.events = events;
    moment_ = static_cast<std::int64_t>(events) - 1;
  }

  void event(std::int64_t index, const TraceEvent& event) {
    if (index <= moment_ && event.time_us != kNoTime) set_.time_us = event.time_us;
    switch (event.action) {
      case TraceAction::alloc: return alloc(index, event);
      case TraceAction::free_requested: return free_requested(index, event);
      case TraceAction::free_completed: return free_completed(index, event);
      case TraceAction::segment_alloc:
      case TraceAction::segment_map:
        if (index > moment_) segment_event(-event.size, event);
        return;
      case TraceAction::segment_free:
      case TraceAction::segment_unmap:
        if (index > moment_) segment_event(event.size, event);
        return;
      default: return;
    }
  }

  Result<LiveSet> finish() {
    if (state_.has_segments) match_final_state();
    std::vector<std::uint64_t> open;
    for (const auto& [address, at] : addresses_) {
      if (at.open) open.push_back(address);
    }
    std::sort(open.begin(), open.end());  // the table's own order differs from run to run
    for (const std::uint64_t address : open) {
      if (state_.has_segments) ++set_.lost_at_end;
      count(address, addresses_[address].life, kNever);
    }
    set_.final_state_known = state_.has_segments;
    if (state_.has_segments) {
      std::int64_t reserved = reserved_change_;
      for (std::size_t s = 0; s < state_.segments.size_rows(); ++s) {
        if (is_mine(s)) add(reserved, state_.segments.size[s]);
      }
      set_.reserved = reserved;
    }
    merge_rows();
    if (!fits_) return Error{ErrorCode::limit, "sum of live bytes is beyond 2^63-1, expected it to fit in 64 bits"};
    return std::move(set_);
  }

 private:
  void add(std::int64_t& sum, std::int64_t value) { fits_ = checked_add(sum, value, sum) && fits_; }

  void segment_event(std::int64_t undone, const TraceEvent& event) {
    add(reserved_change_, undone);
    if (blocks_ != nullptr) blocks_->later_segments.push_back(event);
  }

  bool is_mine(std::size_t segment) const {
    const bool host = (state_.segments.flags[segment] & kSegmentHost) != 0;
    return host == trace_.host && state_.segments.device[segment] == trace_.device;
  }

  void alloc(std::int64_t index, const TraceEvent& event) {
    Address& at = addresses_[event.address];
    if (at.open) {
      ++set_.double_allocations;
      count(event.address, at.life, index);
    }
    at.open = true;
    at.life = {};
    at.life.start = index;
    at.life.stack = event.stack;
    at.life.stream = event.stream;
    at.life.pool = event.pool;
    at.life.requested = event.size;
  }

  /// A block that no event of the trace opened: it was there before, or since it was last freed.
  Life& unopened(Address& at, const TraceEvent& event) {
    at.open = true;
    at.life = {};
    at.life.start = at.ended;
    at.life.stream = event.stream;
    at.life.pool = event.pool;
    at.life.requested = event.size;
    at.life.unattributed = true;
    if (at.ended != kBeforeStart) ++set_.double_frees;
    return at.life;
  }

  void free_requested(std::int64_t index, const TraceEvent& event) {
    Address& at = addresses_[event.address];
    Life& life = at.open ? at.life : unopened(at, event);
    if (life.pending_from != kNever) {
      ++set_.double_frees;
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
      if (blocks.state[b] == BlockState::inactive || !is_mine(blocks.segment[b])) continue;
      Address& at = addresses_[blocks.address[b]];
      const std::size_t segment = blocks.segment[b];
      Life life;
      if (at.open) {
        life = at.life;
        if (life.requested != blocks.requested[b]) ++set_.other_size_at_end;
        at.open = false;
      } else {
        life.start = at.ended;
        life.stack = blocks.stack[b];
        life.stream = state_.segments.stream[segment];
        life.pool = state_.segments.pool[segment];
        life.requested = blocks.requested[b];
        if (blocks.state[b] == BlockState::pending) life.pending_from = kBeforeStart;
      }
      // What freed it in the trace may have been all that was known of it: the block knows more.
      if (life.unattributed || life.start == kBeforeStart) {
        life.stack = blocks.stack[b];
        life.unattributed = false;
      }
      life.bytes = blocks.size[b];
      count(blocks.address[b], life, kNever);
    }
  }

  /// Counts a life that ends with event `end`, if it covers the moment.
  void count(std::uint64_t address, const Life& life, std::int64_t end) {
    if (life.start > moment_ || end <= moment_) return;
    LiveRow row;
    row.stack = life.stack;
    row.stream = life.stream;
    row.pool = life.pool;
    row.pending = life.pending_from <= moment_;
    row.before_trace = life.start == kBeforeStart;
    row.unattributed = life.unattributed;
    row.blocks = 1;
    row.requested = life.requested;
    row.bytes = life.bytes;
    if (row.bytes < 0) {
      fits_ = checked_add(row.requested, kRounding - 1, row.bytes) && fits_;
      row.bytes = std::max(row.bytes / kRounding, std::int64_t{1}) * kRounding;
    }
    if (blocks_ != nullptr)
      blocks_->blocks.push_back({address, row.bytes, life.bytes >= 0, row.requested, row.stack, row.unattributed,
                                 row.pending, row.stream, row.pool});
    set_.rows.push_back(row);
    if (set_.rows.size() >= next_merge_) {
      merge_rows();
      next_merge_ = std::max<std::size_t>(kMergeAt, set_.rows.size() * 2);
    }
  }

  void merge_rows() {
    std::vector<LiveRow>& rows = set_.rows;
    std::sort(rows.begin(), rows.end(), [](const LiveRow& a, const LiveRow& b) { return key_of(a) < key_of(b); });
    std::size_t out = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (out > 0 && key_of(rows[out - 1]) == key_of(rows[i])) {
        rows[out - 1].blocks += rows[i].blocks;
        add(rows[out - 1].requested, rows[i].requested);
        add(rows[out - 1].bytes, rows[i].bytes);
      } else {
        rows[out++] = rows[i];
      }
    }
    rows.resize(out);
    set_.blocks = set_.requested = set_.bytes = set_.pending_blocks = set_.pending_requested = 0;
    for (const LiveRow& row : rows) {
      (row.pending ? set_.pending_blocks : set_.blocks) += row.blocks;
      add(row.pending ? set_.pending_requested : set_.requested, row.requested);
      if (!row.pending) add(set_.bytes, row.bytes);
    }
  }

  static constexpr std::size_t kMergeAt = 1 << 16;
  const AllocatorState& state_;
  TraceRef trace_;
  LiveBlocks* blocks_;
  std::int64_t moment_ = 0;  // number of the last event that has happened
  std::int64_t reserved_change_ = 0;
  std::unordered_map<std::uint64_t, Address, KeyedHash> addresses_;
  LiveSet set_;
  std::size_t next_merge_ = kMergeAt;
  bool fits_ = true;
};

}  // namespace

Result<LiveSet> live_set(const Snapshot& snapshot, TraceRef ref, std::uint64_t events) {
  return live_set(snapshot, ref, events, nullptr);
}

Result<LiveSet> live_set(const Snapshot& snapshot, TraceRef ref, std::uint64_t events, LiveBlocks* blocks) {
  if (snapshot.allocator == nullptr)
    return Error{ErrorCode::usage, "no allocator trace in this snapshot, expected a CUDA memory snapshot"};
  const AllocatorState& state = *snapshot.allocator;
  const DeviceTrace* trace = state.trace(ref.device, ref.host);
  if (trace == nullptr)
    return Error{ErrorCode::usage, "no trace of device " + std::to_string(ref.device) + " in this snapshot"};
  if (events > trace->events.size())
    return Error{ErrorCode::usage, "no event " + std::to_string(events) + ": the trace has " +
                                       std::to_string(trace->events.size()) + " events"};
  Pass pass(state, ref, events, blocks);
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
