#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/role_names.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

/// The public header of analyzer/cuda: what was live at an earlier moment, worked out from the final state
/// and the trace of a caching allocator (Snapshot::allocator).
namespace snapdiff::cuda {

/// Stack of memory that was there before the trace begins and went away within it: who allocated
/// it is not known. (A free's own stack is the one of the free call in some versions.)
inline constexpr std::string_view kBeforeTrace = "[before trace]";

/// The most snapshots that one file may add to a series.
inline constexpr std::size_t kMostPoints = 10'000;

/// One trace of a snapshot.
struct TraceRef {
  std::uint32_t device = 0;
  bool host = false;
};

/// The role of a block: row of kRoleNames.
enum class Role : std::uint8_t {
  unknown,
  parameter,
  gradient,
  optimizer_state,
  activation,
  autograd_detail,
  input,
  temporary,
  workspace,
  before_trace,
};
constexpr std::string_view to_text(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }

/// Live memory of one stack, role, stream and pool. Rows are unique by all fields before the numbers and
/// sorted by them.
///   stack         stack 0 where unknown: none recorded, or (unattributed) `[before trace]`
///   before_trace  it was there before the first event
///   pending       freed by the program, held for another stream
///   requested     bytes as asked for
///   bytes         bytes as allocated: the block's size where it is still there at the end, else
///                 `requested` rounded up to 512, which is what the allocator hands out at least
///   left_blocks, left_bytes  of these, what iterations leave behind (LeftOver); 0 where that was not asked for
struct LiveRow {
  StackId stack{};
  std::uint32_t stream = 0;  ///< row of AllocatorState::streams
  std::uint32_t pool = 0;    ///< row of AllocatorState::pools
  Role role = Role::unknown;
  bool pending = false;
  bool before_trace = false;
  bool unattributed = false;
  std::int64_t blocks = 0;
  std::int64_t requested = 0;
  std::int64_t bytes = 0;
  std::int64_t left_blocks = 0;
  std::int64_t left_bytes = 0;
  friend bool operator==(const LiveRow&, const LiveRow&) = default;
};

/// The live blocks after the first `events` events of a trace.
struct LiveSet {
  std::uint64_t events = 0;
  std::int64_t time_us = kNoTime;  ///< of the last of them, where known
  std::vector<LiveRow> rows;
  std::int64_t blocks = 0;  ///< sums over the rows that are not pending
  std::int64_t requested = 0;
  std::int64_t bytes = 0;
  std::int64_t pending_blocks = 0;  ///< and over those that are
  std::int64_t pending_requested = 0;
  std::optional<std::int64_t> reserved;  ///< bytes of segments; unknown where the input has no segments
  bool final_state_known = false;        ///< false: only what the trace itself opens is known
  /// Signs that trace and final state do not fit together.
  std::uint64_t double_allocations = 0;  ///< alloc at an address that is still open: the older one ends
  std::uint64_t double_frees = 0;        ///< free of a block that the trace has freed already
  std::uint64_t lost_at_end = 0;         ///< open at the end of the trace, but no such block in the final state
  std::uint64_t other_size_at_end = 0;   ///< the same, and the block has another requested size
  friend bool operator==(const LiveSet&, const LiveSet&) = default;
};

/// The live set of one trace after its first `events` events: 0 is before the trace, its size is
/// the end. One pass over the whole trace; memory grows with the number of different addresses.
/// Errors: usage (no allocator state, no such trace, more events than it has), limit (a sum beyond
/// 2^63-1), internal (damaged event ids).
Result<LiveSet> live_set(const Snapshot& snapshot, TraceRef trace, std::uint64_t events);

/// What the iterations of a training loop leave behind, one after the other: blocks of the same Python lines that are
/// still in use at the last mark, from iterations all along the trace. What only the first iterations leave (state of
/// an optimizer, workspaces) is warm-up; what only the last ones do is still held by the loop, or by a bounded cache.
///   births      numbers of the events that allocated these blocks, ascending
///   warm_up     so many iterations leave something behind that no later one does; 0 where none does
///   warm_bytes  what they leave
struct LeftOver {
  std::vector<std::uint64_t> births;
  std::size_t warm_up = 0;
  std::int64_t warm_bytes = 0;
  bool has(std::uint64_t event) const;
};

/// One pass up to the last mark; nothing is left behind by fewer than two iterations. Errors: usage (no such trace).
Result<LeftOver> left_over(const Snapshot& snapshot, TraceRef trace, const Iterations& iterations);

/// The same as a snapshot of its own, with the columns inuse_objects, inuse_space,
/// requested_space, active_space and pending_space and the labels device, stream, pool, state and role,
/// so that it can be compared, listed and drawn like any other. Where segments are known, also pinned_space and
/// sole_space, and Snapshot::allocator has them as they were. Facts are those of `snapshot`, its time that of the last
/// event. Errors: as live_set().
Result<Snapshot> snapshot_at(const Snapshot& snapshot, TraceRef trace, std::uint64_t events);

/// snapshot_at() of several moments, which ascend, in as few passes as memory allows. With `left`, which may be null,
/// also the columns left_objects and left_space.
Result<std::vector<Snapshot>> snapshots_at(const Snapshot& snapshot, TraceRef trace,
                                           std::span<const std::uint64_t> moments, const LeftOver* left);

/// Bytes of allocators at the end of a snapshot, without the host's; nothing where it has no segments.
std::optional<ReservedBytes> reserved_bytes(const Snapshot& snapshot);

/// The blocks at the fullest moment of a trace: nothing for a trace of less than two events. Reads the trace
/// three times. Errors: as live_set().
Result<std::optional<MemoryPeak>> memory_peak(const Snapshot& snapshot, TraceRef trace);

/// The same of the low point of the last iteration: its end (iterations()). Nothing without iterations.
Result<std::optional<MemoryPeak>> memory_low(const Snapshot& snapshot, TraceRef trace);

/// The same of the moment before `failure` (out_of_memory()).
Result<std::optional<MemoryPeak>> memory_at_failure(const Snapshot& snapshot, TraceRef trace,
                                                    const OutOfMemory& failure);

/// The same of what was in use when a snapshot without a history was saved (no trace of a device with two events or
/// more), on all devices; nothing for other snapshots.
std::optional<MemoryPeak> held_memory(const Snapshot& snapshot);

/// The last allocation of the trace that failed, what was there for it, and why that was not enough;
/// nothing where none failed. Errors: as live_set().
Result<std::optional<OutOfMemory>> out_of_memory(const Snapshot& snapshot, TraceRef trace);

/// The rows of each device of a snapshot as a snapshot of its own, by device; facts.labels has "device", counters are
/// those of the device. Of a snapshot without the label, itself. They share the dictionary, and have no allocator
/// state.
std::vector<Snapshot> by_device(const Snapshot& snapshot);

inline constexpr std::string_view kModuleLabel = "module";
inline constexpr std::string_view kRoleLabel = "role";

/// A snapshot as it was saved, with the label `role` and roles of its blocks: the end of the trace of its one device;
/// of one without a trace, what the stacks say. Nothing where it is not of a device or has the label, and of several
/// devices. Errors: as live_set().
Result<std::optional<Snapshot>> with_roles(const Snapshot& snapshot);

/// Whether a stack of the snapshot's dictionary calls modules (nn.Module).
bool calls_modules(const Snapshot& snapshot);

/// The same rows with the label `module`: the lines of their stacks that call modules, outermost first, as
/// "train.py:52 › model.py:253"; "[no module call]" of other stacks. They share everything but the dictionary.
Snapshot with_modules(const Snapshot& snapshot);

/// The rows of each role of a moment, by number of the role; as by_device(). Of a snapshot without roles: nothing.
std::map<Role, Snapshot> by_role(const Snapshot& snapshot);

/// The extent of a timeline: at most so many columns, and bands of stacks besides those of the rest.
struct TimelineOptions {
  std::size_t columns = 360;
  std::size_t steady = 4;  ///< bands of stacks that did not grow
  std::size_t grown = 2;   ///< bands of stacks that did
  bool by_role = false;    ///< groups are roles by their number, whatever the stack, and each has a band
};

/// Numbers stacks so that those of one number are one band.
using StackGroups = std::function<std::uint32_t(StackId)>;

/// Memory over the trace. `group` is asked once for each stack. Reads the trace a few times; memory grows with the
/// number of different addresses. Errors: as live_set(); usage for an empty trace.
Result<MemoryTimeline> timeline(const Snapshot& snapshot, TraceRef trace, const StackGroups& group,
                                const TimelineOptions& options);

/// The device trace with the most events, if any has one.
std::optional<TraceRef> busiest_trace(const Snapshot& snapshot);

/// The iterations of the training loop that wrote the trace, by what is recorded of it: the profiler's marks and the
/// program's own, else the ends of the optimizer's steps, the calls of zero_grad or of backward. A trace without any of
/// these (inference) has none. Reads the trace twice at most. Errors: usage (no such trace).
Result<Iterations> iterations(const Snapshot& snapshot, TraceRef trace);

/// After how many events the point stands: "end"; "peak" (most bytes live); "oom" (before the last failure);
/// "step:7", "peak:7" (the end of iteration 7, and its fullest moment); "12.5s" after the first event; a number of
/// events. Several for "steps" (the end of each iteration) and "every:N" (events, and the end).
/// Errors: usage (no such point: says what there is), limit (more than 10 000).
Result<std::vector<std::uint64_t>> points(const Snapshot& snapshot, TraceRef trace, const std::string& point);

}  // namespace snapdiff::cuda
