#include <charconv>
#include <cmath>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/trace.hpp"

namespace snapdiff::cuda {
namespace {

using Counts = std::vector<std::uint64_t>;

Error no_point(const std::string& point, const DeviceTrace& trace) {
  return Error{ErrorCode::usage, "no point '" + point +
                                     "': expected end, peak, oom, steps, step:N, peak:N, every:N, 12.5s or 0 to " +
                                     std::to_string(trace.events.size()) + " (events)"};
}

/// After which of the events `first` .. `last` most bytes were live; the first of several.
std::uint64_t peak_of(const EventLog& events, std::uint64_t first, std::uint64_t last) {
  EventLog::Reader reader = events.read_from(first);
  TraceEvent event;
  // Before the trace some bytes were live that nothing here records: they move every sum alike.
  double live = 0;
  double most = 0;
  std::uint64_t at = first;
  for (std::uint64_t n = first + 1; n <= last && reader.next(event); ++n) {
    if (event.action == TraceAction::alloc) live += static_cast<double>(event.size);
    if (event.action == TraceAction::free_completed) live -= static_cast<double>(event.size);
    if (live > most) {
      most = live;
      at = n;
    }
  }
  return at;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<std::vector<std::uint64_t>> at_seconds(const std::string& point, const DeviceTrace& trace) {
  double seconds = 0;
  const char* const last = point.data() + point.size() - 1;  // the 's'
  const auto [end, failure] = std::from_chars(point.data(), last, seconds);
  if (failure != std::errc{} || end != last || !(seconds >= 0 && seconds < 1e9)) return no_point(point, trace);
  EventLog::Reader reader = trace.events.read();
  TraceEvent event;
  while (reader.next(event)) {
    if (event.time_us == kNoTime) continue;
    return events_up_to(trace.events, {event.time_us + static_cast<std::int64_t>(std::llround(seconds * 1e6))});
  }
  return Error{ErrorCode::usage, "no point '" + point + "': the events hold no times"};
}

/// "steps", "step:N" and "peak:N".
Result<Counts> of_iterations(const Iterations& found, const EventLog& events, const std::string& point) {
  if (found.size() == 0)
    return Error{ErrorCode::usage, "no point '" + point +
                                       "': no iteration of a training loop in the trace (no ProfilerStep or "
                                       "Optimizer.step marks, no calls of step, zero_grad or backward); every:N counts "
                                       "events"};
  if (point == "steps") {
    if (found.size() > kMostPoints) return Error{ErrorCode::limit, "more than 10 000 steps"};
    return found.marks;
  }
  const std::optional<std::uint64_t> number = whole_number(std::string_view(point).substr(5));
  if (!number || *number == 0 || *number > found.size())
    return Error{ErrorCode::usage, "no point '" + point + "': expected a number of 1 to " +
                                       std::to_string(found.size()) + ", the iterations that the trace holds"};
  const std::uint64_t last = found.marks[*number - 1];
  if (point.starts_with("step:")) return Counts{last};
  return Counts{peak_of(events, *number == 1 ? 0 : found.marks[*number - 2], last)};
}

}  // namespace

std::optional<TraceRef> busiest_trace(const Snapshot& snapshot) {
  const DeviceTrace* most = nullptr;
  if (snapshot.allocator == nullptr) return std::nullopt;
  for (const DeviceTrace& trace : snapshot.allocator->traces) {
    if (!trace.host && !trace.events.empty() && (most == nullptr || trace.events.size() > most->events.size()))
      most = &trace;
  }
  if (most == nullptr) return std::nullopt;
  return TraceRef{most->device, false};
}

Result<std::vector<std::uint64_t>> points(const Snapshot& snapshot, TraceRef where, const std::string& point) {
  const Result<const DeviceTrace*> found_trace = trace_of(snapshot, where);
  if (!found_trace) return found_trace.error();
  const DeviceTrace* const trace = *found_trace;
  const EventLog& events = trace->events;
  if (point == "end") return Counts{events.size()};
  if (point == "peak") return Counts{peak_of(events, 0, events.size())};
  if (point == "oom") {
    if (const std::optional<Failure> last = last_failure(events)) return Counts{last->before};
    return Error{ErrorCode::usage, "no point 'oom': the trace holds no out-of-memory event"};
  }
  if (point == "steps" || point.starts_with("step:") || point.starts_with("peak:")) {
    Result<Iterations> found = iterations(snapshot, where);
    if (!found) return std::move(found).error();
    return of_iterations(*found, events, point);
  }
  if (point.starts_with("every:")) {
    const std::optional<std::uint64_t> step = whole_number(std::string_view(point).substr(6));
    if (!step || *step == 0) return no_point(point, *trace);
    if (events.size() / *step > kMostPoints)
      return Error{ErrorCode::limit,
                   "'" + point + "' makes more than 10 000 snapshots of " + std::to_string(events.size()) + " events"};
    Counts counts;
    for (std::uint64_t n = *step; n <= events.size(); n += *step) counts.push_back(n);
    if (counts.empty() || counts.back() != events.size()) counts.push_back(events.size());
    return counts;
  }
  if (const std::optional<std::uint64_t> number = whole_number(point); number && *number <= events.size())
    return Counts{*number};
  if (point.size() > 1 && point.ends_with('s')) return at_seconds(point, *trace);
  return no_point(point, *trace);
}

}  // namespace snapdiff::cuda
