#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/allocator_state.hpp"
#include "snapdiff/growth.hpp"

/// What is worked out from a caching allocator's state and trace, as reports and documents show it.
namespace snapdiff {

/// Free bytes in blocks of a caching allocator.
struct FreeBytes {
  std::int64_t bytes = 0;
  std::int64_t largest = 0;
  std::int64_t blocks = 0;
  void add(std::int64_t size) { add_all({size, size, 1}); }
  /// A sum beyond 64 bits stays at its end.
  void add_all(const FreeBytes& other) {
    if (__builtin_add_overflow(bytes, other.bytes, &bytes)) bytes = std::numeric_limits<std::int64_t>::max();
    largest = std::max(largest, other.largest);
    blocks += other.blocks;
  }
  friend bool operator==(const FreeBytes&, const FreeBytes&) = default;
};

/// What an allocator has reserved and not in use.
///   fragments   beside blocks that are in use, or freed and pending: it cannot go back to the driver
///   releasable  in segments without such blocks, and whole pages of expandable ones
struct CachedBytes {
  FreeBytes fragments;
  FreeBytes releasable;
};

/// Bytes of the allocator of a snapshot's devices at its end.
struct ReservedBytes {
  std::int64_t reserved = 0;
  std::int64_t allocated = 0;
  CachedBytes cached;
  bool expandable = false;  ///< segments can grow
};

/// A line of a program, as recorded.
struct CodeLine {
  std::string file;
  std::int32_t line = 0;
};

/// A line that keeps free memory from the driver (pinning.hpp): `live` bytes of its blocks in `segments` segments, and
/// its share of what is free there. The innermost Python line that is not PyTorch's own; "" and 0 without one.
struct CacheHolder {
  std::string function;
  CodeLine line;
  std::int64_t live = 0;
  std::int64_t free = 0;
  std::int64_t segments = 0;
};

/// Why an allocation failed. The limit is what the allocator has reserved and the device has free.
///   exhausted      what the program had asked for, and this request, are more than the limit
///   rounding       they fit, but not with what was lost by rounding sizes up
///   fragmentation  enough is free where the request may go, in no block that is large enough
///   private_pools  enough is free in other memory pools, which cannot serve it
///   other_streams  enough is free, or waits to be, in memory of other streams
///   several        enough is free in all, no one of these alone
///   unknown        the figures do not explain it, or are missing
enum class OutOfMemoryReason : std::uint8_t {
  exhausted,
  rounding,
  fragmentation,
  private_pools,
  other_streams,
  several,
  unknown
};
constexpr std::string_view to_text(OutOfMemoryReason reason) {
  constexpr std::string_view kNames[] = {"real exhaustion", "rounding", "fragmentation", "private pools",
                                         "other streams",   "several",  "unknown"};
  return kNames[static_cast<std::size_t>(reason)];
}

/// An allocation that failed, and the memory just before. Bytes.
struct OutOfMemory {
  std::uint32_t device = 0;
  std::uint64_t event = 0;   ///< number of events of the trace before it
  std::uint64_t events = 0;  ///< of the trace
  std::int64_t time_us = kNoTime;
  std::int64_t after_us = kNoTime;  ///< after the first event of the trace
  std::uint64_t failures = 0;       ///< of the trace; this is the last
  std::int64_t asked = 0;           ///< rounded up, as the allocator looked for it
  std::int64_t segment = 0;         ///< what a new segment for it takes from the device
  std::uint64_t stream = 0;
  PoolId pool;
  std::int64_t device_free = 0;

  std::int64_t blocks = 0;     ///< in use
  std::int64_t allocated = 0;  ///< bytes of these
  std::int64_t requested = 0;  ///< the same before rounding
  std::int64_t pending = 0;    ///< freed, waiting for another stream

  /// What follows is known only where the input holds segments.
  std::optional<std::int64_t> reserved;
  FreeBytes usable;         ///< same pool, stream and size class: the request could have gone there
  FreeBytes other_size;     ///< same pool and stream, segments of the other size class
  FreeBytes other_streams;  ///< same pool
  FreeBytes other_pools;
  CachedBytes cached;  ///< the same bytes, by whether they could go back to the driver
  /// Who keeps `cached.fragments`, most first, at most three.
  std::vector<CacheHolder> holders;
  bool exact = false;  ///< sizes and gaps are the allocator's own; else worked out from later events

  OutOfMemoryReason reason = OutOfMemoryReason::unknown;
  std::string sentence;  ///< the reason with its figures, lower case, no full stop

  std::int64_t rounding() const { return allocated - requested; }
};

/// One layer of a memory timeline.
struct TimelineBand {
  /// stack: one group of stacks; others: the rest of them; before_trace: memory of unknown stacks that was there when
  /// the trace began and went away in it; pending: freed, waiting for another stream
  enum class Kind : std::uint8_t { stack, others, before_trace, pending };
  Kind kind = Kind::stack;
  std::uint32_t group = 0;          ///< number that the caller gave the stacks; of Kind::stack
  std::uint64_t groups = 1;         ///< how many are in it; of Kind::others more than one
  bool grew = false;                ///< least in the last quarter of the columns > most in the first
  std::vector<std::int64_t> bytes;  ///< at each column
  std::int64_t at_end = 0;
  std::int64_t at_peak = 0;  ///< when most bytes were in use in all
  friend bool operator==(const TimelineBand&, const TimelineBand&) = default;
};

/// A moment on the axis of a timeline: 0 is the first event, 1 the end.
struct TimelineMark {
  double at = 0;
  std::string text;
  friend bool operator==(const TimelineMark&, const TimelineMark&) = default;
};

/// Memory of one device over its trace. Columns divide the axis evenly; each shows the moment in it at which most
/// bytes were held, so that no peak is lost. Bands lie on one another, the first at the bottom.
/// Sum of the bands' bytes == held, at each column, at the peak and at the end, exactly.
struct MemoryTimeline {
  std::uint32_t device = 0;
  std::uint64_t events = 0;
  bool by_time = false;      ///< the axis is time, else the number of the event
  std::int64_t span_us = 0;  ///< of the axis, when by time
  std::size_t columns = 0;
  std::vector<std::int64_t> held;      ///< in use or pending
  std::vector<std::int64_t> reserved;  ///< the most in each column; empty where not known
  std::vector<TimelineBand> bands;
  std::int64_t held_at_start = 0, held_at_end = 0, peak = 0;
  std::uint64_t peak_event = 0;  ///< after so many events
  double peak_at = 0;            ///< on the axis
  std::vector<TimelineMark> steps;
  std::optional<OutOfMemory> failure;  ///< the last one
  std::vector<TimelineMark> failures;  ///< all of them
};

/// Iterations of a training loop in the trace of one device, each ended by the same moment of the loop.
///   marks   number of events at that moment of each iteration, ascending: events marks[i - 1] .. marks[i] are of
///           iteration i + 1, those before marks[0] of the first
///   alike   of those after the first: how many have about as many allocations as the middle one
///   place   file and line of the script that calls `by`, as recorded; "" and 0 where not known
struct Iterations {
  enum class By : std::uint8_t { nothing, profiler_step, annotation, optimizer_step, zero_grad, backward };
  By by = By::nothing;
  std::string file;
  std::int32_t line = 0;
  std::vector<std::uint64_t> marks;
  std::size_t alike = 0;
  std::size_t size() const { return marks.size(); }
};
/// How a note begins that says which iterations snapshots stand for, and what it has where some are left out.
inline constexpr std::string_view kIterationsNote = "iterations: ";
inline constexpr std::string_view kEveryNth = "one snapshot for every ";

constexpr std::string_view to_text(Iterations::By by) {
  constexpr std::string_view kNames[] = {"nothing",        "ProfilerStep marks", "annotations",
                                         "optimizer.step", "zero_grad",          "backward"};
  return kNames[static_cast<std::size_t>(by)];
}

/// What is in use at the fullest moment of a trace, of one stack and for one purpose.
///   stack         of the snapshot's dictionary; stack 0 where none was recorded
///   unattributed  from before the trace, and freed within it: its stack is not known
///   role          in the words of PyTorch's memory profiler
///   passing       of `bytes`: allocated within the trace and freed before its end
struct PeakRow {
  StackId stack{};
  bool unattributed = false;
  std::string_view role;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  std::int64_t passing = 0;
};

/// All that serves one purpose at that moment.
struct PeakRole {
  std::string_view role;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
};

/// A line that calls modules one after the other, each of which keeps as many activations: the layers of a model.
///   bytes   what all calls keep for the backward pass
///   output  of the block that is allocated last: what a call hands to the next one
struct RepeatedCall {
  std::string file;
  std::int32_t line = 0;
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int64_t output = 0;
};

/// What is in use below a chain of lines that call modules, one inside the other: outermost first, at most the eight
/// innermost. Names of attributes (`layers[3].mlp`) are not recorded.
///   calls  how often the last line calls, where the activations at the moment say so; else 0
struct PeakModule {
  std::vector<CodeLine> path;
  std::int64_t calls = 0;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
};

/// The fullest moment of a device's trace. Sums of rows and of roles == bytes, exactly; pending bytes are not in them.
///   has_history  false: what was in use when a snapshot without a trace was saved, and `event` is 0
///   event     after so many events of `events`
///   part      of the training loop it is in: "forward", "backward", "the optimizer's step"; "" where not known
///   reserved  what the allocator held from the device then; unknown where the input has no segments
///   rows      most bytes first
///   roles     most bytes first
///   kept      what the trace allocated and did not free, by role; most bytes first
///   cached    of what was reserved; unknown where the input has no segments
///   modules   by chains of calls of modules, which overlap; most bytes first
struct MemoryPeak {
  bool has_history = true;
  std::uint64_t event = 0;
  std::uint64_t events = 0;
  std::string_view part;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::int64_t at_start = 0;
  std::int64_t at_end = 0;
  std::optional<std::int64_t> reserved;
  bool expandable = false;  ///< segments can grow
  std::vector<PeakRow> rows;
  std::vector<PeakRole> roles;
  std::vector<PeakRole> kept;
  std::optional<CachedBytes> cached;
  std::vector<PeakModule> modules;
  std::optional<RepeatedCall> layers;
};

/// Who pins memory: one row for each stack that is shown.
struct PinnedRow {
  std::uint32_t key = 0;  ///< row of PinReport::stacks
  Change live;            ///< bytes of its blocks in use
  Change pinned;          ///< its share of free bytes in segments that cannot go back
  Change sole;            ///< bytes of segments in which it is alone
  std::int64_t segments = 0;
  std::int64_t sole_segments = 0;
};

/// A segment, as reports show it.
struct SegmentFacts {
  std::uint32_t device = 0;
  std::uint64_t stream = 0;
  PoolId pool;
  std::uint8_t flags = 0;
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::int64_t live = 0;      ///< as allocated
  std::int64_t rounding = 0;  ///< of that
  std::int64_t pending = 0;
  std::int64_t free = 0;
  std::int64_t pinned = 0;    ///< of that; 0 where nothing is in use
  std::uint32_t holders = 0;  ///< stacks with blocks in it
};

/// An edge stack -> segment of the retention graph.
struct PinEdge {
  std::uint32_t row = 0;      ///< of PinReport::rows
  std::uint32_t segment = 0;  ///< of PinReport::segments
  std::int64_t blocks = 0;
  std::int64_t live = 0;
  std::int64_t pinned = 0;
};

/// Who pins the segments of one snapshot, and how that grew since another.
///   rows      most pinned first, then live, then key: every stack with blocks
///   segments  in the order of the input, without those of the host
///   edges     by segment, then row
/// Sum of the rows' pinned == sum of the segments' == sum of the edges', exactly.
struct PinReport {
  SnapshotRef baseline;  ///< without a snapshot where there is none
  SnapshotRef current;
  std::vector<PinnedRow> rows;
  std::vector<StackRef> stacks;
  std::shared_ptr<const StackView> view;  ///< for `stacks`
  std::vector<SegmentFacts> segments;
  std::vector<PinEdge> edges;
  Change live, pinned;
  std::int64_t reserved = 0;
  std::int64_t releasable = 0;  ///< segments in which nothing is in use
  bool has_baseline() const { return baseline.snapshot != nullptr; }
};

/// One of several processes or devices that do the same work.
struct RankFacts {
  std::string name;                  ///< "rank 3", "run.pickle, device 1"
  std::optional<std::int64_t> rank;  ///< as the file's name says it
  std::optional<std::int64_t> device;
  std::int64_t total = 0;  ///< of the metric
  std::optional<std::int64_t> reserved;
  std::int64_t off = 0;  ///< sum over the rows of what lies between it and the middle, either way
};

/// A row of several ranks: `row` of RankReport::series.overall.
struct RankRow {
  std::uint32_t row = 0;
  std::int64_t middle = 0;  ///< median over the ranks, the lower one of two
  std::int64_t lowest = 0, highest = 0;
  std::size_t odd = 0;  ///< the rank that is farthest from the middle, the first of several
};

/// Ranks beside each other: the steps of `series` are no moments but ranks.
///   rows  most spread first
///   odd   the rank that differs most; nothing where all agree, or of two
struct RankReport {
  SeriesReport series;
  std::vector<RankFacts> ranks;
  std::vector<RankRow> rows;
  std::int64_t middle = 0;  ///< of the totals
  std::optional<std::size_t> odd;
};

}  // namespace snapdiff
