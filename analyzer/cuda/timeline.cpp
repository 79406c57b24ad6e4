#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/roles.hpp"
#include "analyzer/cuda/timeline_axis.hpp"
#include "analyzer/cuda/trace.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::uint32_t kUnknownGroup = 0xffffffff;  // before the trace
constexpr std::size_t kMostMarks = 2000;

/// A block in use or pending, by address.
struct Held {
  std::uint32_t group = 0;
  std::int64_t bytes = 0;
  bool pending = false;
};

/// A walk over the trace: allocated and freed bytes, group by group.
class Walk {
 public:
  Walk(const Snapshot& snapshot, const DeviceTrace& trace, TraceRef ref, const StackGroups& group, Roles* roles)
      : snapshot_(snapshot), trace_(trace), ref_(ref), group_(group), roles_(roles) {}

  /// Finds what was there before the first event, and what the allocations that survive really take.
  Status prepare() {
    LiveBlocks both;
    const std::uint64_t ends[] = {0, trace_.events.size()};
    Result<std::vector<LiveSet>> live = live_sets(snapshot_, ref_, ends, nullptr, roles_, &both);
    if (!live) return std::move(live).error();
    reserved_ = live->front().reserved;
    start_ = std::move(both.blocks[0]);
    if (roles_ != nullptr) of_events_ = roles_of_events(trace_.events, *roles_);
    for (const LiveBlock& block : both.blocks[1]) {
      if (block.size_known) survivors_[block.address] = {~std::uint64_t{0}, block.bytes};
    }
    EventLog::Reader reader = trace_.events.read();
    TraceEvent event;
    for (std::uint64_t n = 0; reader.next(event); ++n) {
      if (event.action != TraceAction::alloc) continue;
      const auto found = survivors_.find(event.address);
      if (found != survivors_.end()) found->second.first = n;
    }
    return ok();
  }

  bool knows_reserved() const { return reserved_.has_value(); }

  /// Calls see.change(group, pending, difference) for every change and see.event(n, event, reserved) after each
  /// event; before the first one with what was there.
  template <class See>
  void run(See& see) {
    std::unordered_map<std::uint64_t, Held, KeyedHash> open;
    for (const LiveBlock& block : start_) {
      const Held held{group_of(block), block.bytes, block.pending};
      // Two lives at one address only in damaged traces: the later one counts.
      if (const auto old = open.find(block.address); old != open.end())
        see.change(old->second.group, old->second.pending, -old->second.bytes);
      open[block.address] = held;
      see.change(held.group, held.pending, held.bytes);
    }
    std::int64_t reserved = reserved_.value_or(0);
    see.begin(reserved);
    EventLog::Reader reader = trace_.events.read();
    TraceEvent event;
    for (std::uint64_t n = 0; reader.next(event); ++n) {
      switch (event.action) {
        case TraceAction::alloc: {
          Held& held = open[event.address];
          if (held.bytes != 0) see.change(held.group, held.pending, -held.bytes);
          held = {group_of(n, event.stack), size_of(n, event), false};
          see.change(held.group, false, held.bytes);
          break;
        }
        case TraceAction::free_requested: {
          const auto at = open.find(event.address);
          if (at == open.end() || at->second.pending) break;
          see.change(at->second.group, false, -at->second.bytes);
          see.change(at->second.group, true, at->second.bytes);
          at->second.pending = true;
          break;
        }
        case TraceAction::free_completed: {
          const auto at = open.find(event.address);
          if (at == open.end()) break;
          see.change(at->second.group, at->second.pending, -at->second.bytes);
          open.erase(at);
          break;
        }
        // live_set() has checked that the sums at both ends fit; between them damaged sizes may not.
        case TraceAction::segment_alloc:
        case TraceAction::segment_map: reserved = wrapping_sum(reserved, event.size); break;
        case TraceAction::segment_free:
        case TraceAction::segment_unmap: reserved = wrapping_difference(reserved, event.size); break;
        default: break;
      }
      see.event(n, event, reserved);
    }
  }

 private:
  std::uint32_t group_of(const LiveBlock& block) {
    if (roles_ != nullptr) return static_cast<std::uint32_t>(block.role);
    return block.unattributed ? kUnknownGroup : group_of(block.stack);
  }
  std::uint32_t group_of(std::uint64_t number, StackId stack) {
    return roles_ != nullptr ? static_cast<std::uint32_t>(of_events_[number]) : group_of(stack);
  }
  std::uint32_t group_of(StackId stack) {
    const auto [at, is_new] = groups_.try_emplace(stack, 0);
    if (is_new) at->second = group_(stack);
    return at->second;
  }
  std::int64_t size_of(std::uint64_t number, const TraceEvent& event) const {
    const auto found = survivors_.find(event.address);
    if (found != survivors_.end() && found->second.first == number) return found->second.second;
    // A sum with such a size in it does not fit, which Survey finds.
    if (event.size > std::numeric_limits<std::int64_t>::max() - 511) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>((event.size + 511) / 512, 1) * 512;
  }

  const Snapshot& snapshot_;
  const DeviceTrace& trace_;
  TraceRef ref_;
  const StackGroups& group_;
  Roles* roles_;  // null: groups are of stacks
  std::vector<Role> of_events_;
  std::vector<LiveBlock> start_;
  std::optional<std::int64_t> reserved_;
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, std::int64_t>, KeyedHash> survivors_;  // last alloc, bytes
  std::unordered_map<StackId, std::uint32_t> groups_;
};

/// First walk: how much of the picture each group fills, and what it has in the first and last quarter.
class Survey {
 public:
  struct Group {
    std::int64_t now = 0;
    double since = 0;
    double area = 0;
    std::int64_t at_peak = 0;
    std::int64_t most_early = 0;
    std::int64_t least_late = std::numeric_limits<std::int64_t>::max();
  };
  explicit Survey(const Axis& axis) : axis_(axis) {}

  void change(std::uint32_t group, bool pending, std::int64_t difference) {
    fits = checked_add(held_, difference, held_) && fits;
    if (pending || group == kUnknownGroup) return;
    Group& g = groups_[group];
    g.area += static_cast<double>(g.now) * (at_ - g.since);
    g.since = at_;
    // Before the value changes, what stood until now counts for the quarter it reached into.
    if (at_ >= 0.75) g.least_late = std::min(g.least_late, g.now);
    g.now = wrapping_sum(g.now, difference);
    if (at_ <= 0.25) g.most_early = std::max(g.most_early, g.now);
    if (at_ >= 0.75) g.least_late = std::min(g.least_late, g.now);
  }
  void begin(std::int64_t) {
    start = held_;
    peak = held_;
  }
  void event(std::uint64_t n, const TraceEvent& event, std::int64_t) {
    at_ = axis_.at(n, event.time_us);
    if (held_ > peak) {
      peak = held_;
      peak_event = n + 1;
      peak_at = at_;
    }
  }
  void finish() {
    at_ = 1;
    for (auto& [number, g] : groups_) {
      g.area += static_cast<double>(g.now) * (at_ - g.since);
      g.least_late = std::min(g.least_late, g.now);
    }
    end = held_;
  }
  std::unordered_map<std::uint32_t, Group>& groups() { return groups_; }

  std::int64_t start = 0, end = 0, peak = 0;
  std::uint64_t peak_event = 0;
  double peak_at = 0;
  bool fits = true;  ///< every sum within 64 bits; then those of single bands are, too

 private:
  const Axis& axis_;
  std::unordered_map<std::uint32_t, Group> groups_;
  std::int64_t held_ = 0;
  double at_ = 0;
};

/// Second walk: bytes of every band at each column's fullest moment.
class TimelineColumns {
 public:
  TimelineColumns(const Axis& axis, const std::unordered_map<std::uint32_t, std::size_t>& band_of, MemoryTimeline& out,
                  std::size_t others, std::size_t before, std::size_t pending)
      : axis_(axis), band_of_(band_of), out_(out), others_(others), before_(before), pending_(pending) {
    now_.resize(out.bands.size());
    for (TimelineBand& band : out_.bands) band.bytes.assign(out_.columns, 0);
    out_.held.assign(out_.columns, 0);
    if (!out_.reserved.empty()) out_.reserved.assign(out_.columns, 0);
  }

  void change(std::uint32_t group, bool pending, std::int64_t difference) {
    std::size_t band = pending_;
    if (!pending && group == kUnknownGroup) band = before_;
    if (!pending && group != kUnknownGroup) {
      const auto found = band_of_.find(group);
      band = found == band_of_.end() ? others_ : found->second;
    }
    now_[band] = wrapping_sum(now_[band], difference);
    held_ = wrapping_sum(held_, difference);
  }
  void begin(std::int64_t reserved) {
    reserved_ = reserved;
    take(0, true);
  }
  void event(std::uint64_t n, const TraceEvent& event, std::int64_t reserved) {
    const std::size_t column = axis_.column(axis_.at(n, event.time_us));
    // Until this event all was as after the one before; its own column begins with that as well.
    for (; column_ < column; ++column_) {
      if (column_ + 1 < column) take_previous(column_ + 1);
    }
    reserved_ = reserved;
    if (!seen_[column]) take_previous(column);
    take(column, false);
    if (n + 1 == out_.peak_event) peak();
    previous_ = now_;
    previous_held_ = held_;
    previous_reserved_ = reserved_;
  }
  void finish() {
    while (++column_ < out_.columns) take_previous(column_);
    for (std::size_t b = 0; b < now_.size(); ++b) out_.bands[b].at_end = now_[b];
    if (out_.peak_event == 0) {
      for (std::size_t b = 0; b < now_.size(); ++b) out_.bands[b].at_peak = first_[b];
    }
  }

 private:
  void take(std::size_t column, bool first) {
    if (seen_.empty()) seen_.assign(out_.columns, false);
    if (column == 0 && !seen_[0]) {
      first_ = now_;
      previous_ = now_;
      previous_held_ = held_;
      previous_reserved_ = reserved_;
    }
    if (!out_.reserved.empty()) out_.reserved[column] = std::max(out_.reserved[column], reserved_);
    if (!first && held_ <= out_.held[column]) return;
    seen_[column] = true;
    out_.held[column] = held_;
    for (std::size_t b = 0; b < now_.size(); ++b) out_.bands[b].bytes[column] = now_[b];
  }
  void take_previous(std::size_t column) {
    seen_[column] = true;
    out_.held[column] = previous_held_;
    if (!out_.reserved.empty()) out_.reserved[column] = previous_reserved_;
    for (std::size_t b = 0; b < now_.size(); ++b) out_.bands[b].bytes[column] = previous_[b];
  }
  void peak() {
    for (std::size_t b = 0; b < now_.size(); ++b) out_.bands[b].at_peak = now_[b];
  }

  const Axis& axis_;
  const std::unordered_map<std::uint32_t, std::size_t>& band_of_;
  MemoryTimeline& out_;
  std::size_t others_, before_, pending_;
  std::vector<std::int64_t> now_, previous_, first_;
  std::vector<bool> seen_;
  std::int64_t held_ = 0, previous_held_ = 0, reserved_ = 0, previous_reserved_ = 0;
  std::size_t column_ = 0;
};

/// The groups that get a band, those that stayed first; by how much of the picture they fill.
std::vector<std::pair<std::uint32_t, bool>> choose_bands(Survey& survey, const TimelineOptions& options) {
  struct Candidate {
    std::uint32_t group;
    double weight;
    bool grew;
  };
  std::vector<Candidate> all;
  for (const auto& [group, g] : survey.groups()) {
    const double weight = std::max(g.area, static_cast<double>(g.at_peak));
    all.push_back({group, weight, g.least_late > g.most_early});
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.group < b.group;
  });
  std::vector<std::pair<std::uint32_t, bool>> chosen;
  for (const bool grew : {false, true}) {
    std::size_t left = grew ? options.grown : options.steady;
    for (const Candidate& c : all) {
      if (left == 0) break;
      // Bands too thin to see are not named; a small leak is named before a small buffer.
      const double least = options.by_role ? 0 : grew ? 0.001 : 0.01;
      if (c.grew != grew || c.weight <= least * static_cast<double>(survey.peak)) continue;
      chosen.emplace_back(c.group, grew);
      --left;
    }
  }
  return chosen;
}

void add_marks(const Snapshot& snapshot, const DeviceTrace& trace, const Axis& axis, MemoryTimeline& out) {
  EventLog::Reader reader = trace.events.read();
  TraceEvent event;
  for (std::uint64_t n = 0; reader.next(event); ++n) {
    if (event.action == TraceAction::oom && out.failures.size() < kMostMarks)
      out.failures.push_back({axis.at(n, event.time_us), {}});
  }
  std::size_t number = 0;
  const auto add_step = [&](double at) {
    if (out.steps.size() < kMostMarks) out.steps.push_back({at, std::to_string(++number)});
  };
  if (const StepMarks marks = step_marks(snapshot, trace.device); axis.by_time() && !marks.times.empty()) {
    for (const std::int64_t time : marks.times) add_step(axis.at_time(time));
    return;
  }
  const Result<Iterations> found = iterations(snapshot, {trace.device, trace.host});
  if (!found || found->size() < 2) return;
  for (const std::uint64_t mark : found->marks) {
    const std::uint64_t last = std::max<std::uint64_t>(mark, 1) - 1;
    EventLog::Reader reader_at = trace.events.read_from(last);
    if (reader_at.next(event)) add_step(axis.at(last, event.time_us));
  }
}

}  // namespace

Result<MemoryTimeline> timeline(const Snapshot& snapshot, TraceRef ref, const StackGroups& group,
                                const TimelineOptions& options) {
  const Result<const DeviceTrace*> found_trace = trace_of(snapshot, ref);
  if (!found_trace) return found_trace.error();
  const DeviceTrace* const trace = *found_trace;
  if (trace->events.empty())
    return Error{ErrorCode::usage, "the trace of this snapshot is empty: nothing to draw over time"};
  MemoryTimeline out;
  out.device = ref.device;
  out.events = trace->events.size();
  out.columns = std::max<std::size_t>(options.columns, 1);
  const Axis axis(trace->events, out.columns);
  out.by_time = axis.by_time();
  out.span_us = axis.span_us();

  std::optional<Roles> roles;
  if (options.by_role) roles.emplace(snapshot, trace->events);
  Roles* const by_role = roles ? &*roles : nullptr;
  Walk walk(snapshot, *trace, ref, group, by_role);
  if (Status ready = walk.prepare(); !ready) return std::move(ready).error();
  Survey survey(axis);
  walk.run(survey);
  survey.finish();
  if (!survey.fits) return Error{ErrorCode::limit, "sum of live bytes is beyond 2^63-1, expected it to fit in 64 bits"};
  out.held_at_start = survey.start;
  out.held_at_end = survey.end;
  out.peak = survey.peak;
  out.peak_event = survey.peak_event;
  out.peak_at = survey.peak_at;

  const Result<std::vector<LiveSet>> at_peak =
      live_sets(snapshot, ref, {&out.peak_event, 1}, nullptr, by_role, nullptr);
  if (!at_peak) return at_peak.error();
  for (const LiveRow& row : at_peak->front().rows) {
    if (row.pending || (row.unattributed && by_role == nullptr)) continue;
    const auto found =
        survey.groups().find(by_role != nullptr ? static_cast<std::uint32_t>(row.role) : group(row.stack));
    if (found != survey.groups().end()) found->second.at_peak = wrapping_sum(found->second.at_peak, row.bytes);
  }

  using Kind = TimelineBand::Kind;
  const std::vector<std::pair<std::uint32_t, bool>> chosen = choose_bands(survey, options);
  std::unordered_map<std::uint32_t, std::size_t> band_of;
  const auto add = [&out](Kind kind) -> TimelineBand& {
    out.bands.emplace_back();
    out.bands.back().kind = kind;
    return out.bands.back();
  };
  const std::size_t before = out.bands.size();
  add(Kind::before_trace);
  std::size_t others = 0;
  for (const bool grew : {false, true}) {
    for (const auto& [number, has_grown] : chosen) {
      if (has_grown != grew) continue;
      band_of[number] = out.bands.size();
      TimelineBand& band = add(Kind::stack);
      band.group = number;
      band.grew = grew && by_role == nullptr;
    }
    if (!grew) {
      others = out.bands.size();
      add(Kind::others).groups = survey.groups().size() - chosen.size();
    }
  }
  const std::size_t pending = out.bands.size();
  add(Kind::pending);
  if (walk.knows_reserved()) out.reserved.resize(1);
  TimelineColumns columns(axis, band_of, out, others, before, pending);
  walk.run(columns);
  columns.finish();
  std::erase_if(out.bands, [](const TimelineBand& band) {
    return band.at_end == 0 && band.at_peak == 0 &&
           std::all_of(band.bytes.begin(), band.bytes.end(), [](std::int64_t v) { return v == 0; });
  });
  add_marks(snapshot, *trace, axis, out);
  Result<std::optional<OutOfMemory>> failure = out_of_memory(snapshot, ref);
  if (!failure) return std::move(failure).error();
  out.failure = *std::move(failure);
  return out;
}

}  // namespace snapdiff::cuda
