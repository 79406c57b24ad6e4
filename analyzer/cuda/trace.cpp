#include "analyzer/cuda/trace.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace snapdiff::cuda {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";

/// "train step 12" without its number.
std::string_view without_number(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

/// A mark that the program made itself and that may stand for an iteration.
bool is_own_step(std::string_view name) {
  if (name.starts_with("Optimizer.") || name.starts_with(kProfilerStep)) return false;
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.find("step") != std::string::npos || lower.find("iter") != std::string::npos;
}

/// The times of one kind of mark: of the name that is there most often, of several the one that comes last.
template <class IsWanted>
std::vector<std::int64_t> times_of(const Snapshot& snapshot, std::uint32_t device, AnnotationStage stage,
                                   IsWanted is_wanted) {
  std::map<std::string_view, std::vector<std::int64_t>> by_name;
  for (const Annotation& mark : snapshot.allocator->annotations) {
    const std::string_view name = snapshot.dictionary->strings[mark.name];
    if (mark.device == device && mark.time_us != kNoTime && mark.stage == stage && is_wanted(name))
      by_name[without_number(name)].push_back(mark.time_us);
  }
  std::vector<std::int64_t> chosen;
  for (auto& [name, times] : by_name) {
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    if (chosen.empty() || std::pair(times.size(), times.front()) > std::pair(chosen.size(), chosen.front()))
      chosen = times;
  }
  return chosen;
}

}  // namespace

std::optional<Failure> last_failure(const EventLog& events) {
  std::optional<Failure> found;
  std::int64_t start = kNoTime;
  std::uint64_t count = 0;
  EventLog::Reader reader = events.read();
  TraceEvent event;
  for (std::uint64_t n = 0; reader.next(event); ++n) {
    if (start == kNoTime) start = event.time_us;
    if (event.action == TraceAction::oom) found = {event, n, ++count, start};
  }
  return found;
}

StepMarks step_marks(const Snapshot& snapshot, std::uint32_t device) {
  const auto profiler = [](std::string_view name) { return name.starts_with(kProfilerStep); };
  const auto optimizer = [](std::string_view name) { return name.starts_with(kOptimizerStep); };
  using By = Iterations::By;
  StepMarks out{By::profiler_step, times_of(snapshot, device, AnnotationStage::end, profiler), {}};
  if (out.times.empty()) out.times = times_of(snapshot, device, AnnotationStage::start, profiler);
  if (!out.times.empty()) return out;
  out = {By::optimizer_step, times_of(snapshot, device, AnnotationStage::end, optimizer),
         times_of(snapshot, device, AnnotationStage::start, optimizer)};
  if (!out.times.empty()) return out;
  out = {By::annotation, times_of(snapshot, device, AnnotationStage::end, is_own_step), {}};
  if (out.times.size() < 2) out.times.clear();  // one mark of the program may stand for anything
  return out;
}

std::vector<std::uint64_t> events_up_to(const EventLog& events, const std::vector<std::int64_t>& times) {
  std::vector<std::uint64_t> counts;
  EventLog::Reader reader = events.read();
  TraceEvent event;
  std::uint64_t n = 0;
  std::size_t next = 0;
  while (next < times.size() && reader.next(event)) {
    while (next < times.size() && event.time_us != kNoTime && event.time_us > times[next]) {
      counts.push_back(n);
      ++next;
    }
    ++n;
  }
  while (counts.size() < times.size()) counts.push_back(events.size());
  return counts;
}

std::vector<std::uint64_t> ends_of(const EventLog& events, const StepMarks& marks) {
  std::vector<std::int64_t> failures;
  EventLog::Reader reader = events.read();
  TraceEvent event;
  while (!marks.begins.empty() && reader.next(event)) {
    if (event.action == TraceAction::oom) failures.push_back(event.time_us);
  }
  const std::vector<std::uint64_t> counts = events_up_to(events, marks.times);
  std::vector<std::uint64_t> ends;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto after = std::upper_bound(marks.begins.begin(), marks.begins.end(), marks.times[i]);
    const bool failed = after != marks.begins.begin() &&
                        std::any_of(failures.begin(), failures.end(),
                                    [&](std::int64_t time) { return time >= *(after - 1) && time <= marks.times[i]; });
    if (counts[i] != 0 && !failed) ends.push_back(counts[i]);
  }
  return ends;
}

}  // namespace snapdiff::cuda
