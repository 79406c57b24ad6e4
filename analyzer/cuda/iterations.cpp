#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/stack_phase.hpp"
#include "analyzer/cuda/trace.hpp"

namespace snapdiff::cuda {
namespace {

constexpr double kAlike = 0.1;           // of the allocations of the middle iteration
constexpr std::size_t kMostRegular = 3;  // times as many calls of another kind: what is found so rarely is no loop

/// Where a run of events of one phase ended, and who called.
struct Call {
  std::uint64_t caller = 0;
  std::int32_t line = 0;
  StackId stack{};        ///< of one of its events
  std::uint64_t end = 0;  ///< number of events up to its last one
};

/// Finds the calls that a training loop makes once per iteration: an optimizer's step, zero_grad, backward.
class CallFinder {
 public:
  explicit CallFinder(const Dictionary& dictionary) : phases_(dictionary) {}

  void event(std::uint64_t number, const TraceEvent& event) {
    if (event.action == TraceAction::oom) return give_up(phases_.of(event.stack));
    const bool alloc = event.action == TraceAction::alloc;
    const bool freed = event.action == TraceAction::free_requested || event.action == TraceAction::free_completed;
    if (!alloc && !freed) return;
    const StackPhase phase = phases_.of(event.stack);
    step(number + 1, event, phase, alloc);
    zero_grad(number + 1, event, phase, alloc);
    backward(number + 1, event, phase, alloc);
  }

  std::vector<Call> steps, zero_grads, backwards;

 private:
  static Call call_of(std::uint64_t end, const TraceEvent& event, const StackPhase& phase) {
    return {phase.caller, phase.line, event.stack, end};
  }

  /// The call in which memory ran out ended no iteration.
  void give_up(const StackPhase& phase) {
    if (in_step_ && phase.phase == Phase::optimizer) steps.pop_back();
    if (in_backward_ && phase.phase != Phase::script && phase.phase != Phase::optimizer) backwards.pop_back();
    in_step_ = after_step_ = in_backward_ = false;
  }

  /// From the first allocation of a step to the last event of it, and of what the loop does after it: on later lines of
  /// the function that called it, until the next pass through a model.
  void step(std::uint64_t end, const TraceEvent& event, const StackPhase& phase, bool alloc) {
    if (phase.phase == Phase::optimizer) {
      if (!in_step_ && alloc) {
        steps.push_back(call_of(end, event, phase));
        in_step_ = true;
      }
      after_step_ = in_step_;
      if (in_step_) steps.back().end = end;
      return;
    }
    if (phase.phase == Phase::unknown) return;
    if (after_step_ && phase.phase != Phase::engine) {
      const Call& call = steps.back();
      after_step_ = !phase.module_call && call.caller != 0 && phases_.line_in(event.stack, call.caller) > call.line;
      if (after_step_) steps.back().end = end;
    }
    if (alloc) in_step_ = false;
    if (alloc && phase.phase == Phase::engine) after_step_ = false;
  }

  void zero_grad(std::uint64_t end, const TraceEvent& event, const StackPhase& phase, bool alloc) {
    if (phase.phase == Phase::zero_grad) {
      if (!in_zero_grad_) zero_grads.push_back(call_of(end, event, phase));
      in_zero_grad_ = true;
      zero_grads.back().end = end;
    } else if (alloc && phase.phase != Phase::unknown) {
      in_zero_grad_ = false;
    }
  }

  /// Until Python allocates anything else.
  void backward(std::uint64_t end, const TraceEvent& event, const StackPhase& phase, bool alloc) {
    if (phase.phase == Phase::backward_call && alloc) {
      backwards.push_back(call_of(end, event, phase));
      in_backward_ = true;
    } else if (phase.phase == Phase::script || phase.phase == Phase::optimizer || phase.phase == Phase::zero_grad) {
      // Frees may be named by the stack that allocated, so they end nothing.
      if (alloc || phase.phase == Phase::zero_grad) in_backward_ = false;
      return;
    }
    if (in_backward_) backwards.back().end = end;
  }

  StackPhases phases_;
  bool in_step_ = false, after_step_ = false, in_zero_grad_ = false, in_backward_ = false;
};

/// The calls of the place in the script that makes most of them; of several that make as many, of the last one in an
/// iteration. A script that trains two networks steps twice.
std::vector<Call> of_one_place(const std::vector<Call>& calls) {
  std::map<std::pair<std::uint64_t, std::int32_t>, std::size_t> count;
  for (const Call& call : calls) ++count[{call.caller, call.line}];
  std::size_t most = 0;
  for (const auto& [place, times] : count) most = std::max(most, times);
  std::pair<std::uint64_t, std::int32_t> chosen;
  for (const Call& call : calls) {
    if (count[{call.caller, call.line}] != most) continue;
    chosen = {call.caller, call.line};
    count[chosen] = 0;  // the place that is reached last for the first time
  }
  std::vector<Call> out;
  for (const Call& call : calls) {
    if (std::pair(call.caller, call.line) == chosen) out.push_back(call);
  }
  return out;
}

/// The script's own frame that a stack passes through with this line.
void set_place(const Dictionary& dictionary, const Call& call, Iterations& out) {
  if (call.caller == 0) return;
  for (const FrameId frame : dictionary.stacks.frames(call.stack)) {
    const std::size_t function = index_of(dictionary.frames.function[index_of(frame)]);
    if (function + 1 != call.caller || dictionary.frames.line[index_of(frame)] != call.line) continue;
    out.file = std::string(dictionary.strings[dictionary.functions.file[function]]);
    out.line = call.line;
  }
}

void take(const Dictionary& dictionary, const std::vector<Call>& calls, Iterations::By by, Iterations& out) {
  out.by = by;
  for (const Call& call : calls) out.marks.push_back(call.end);
  set_place(dictionary, calls.front(), out);
}

void by_calls(const Snapshot& snapshot, const EventLog& events, Iterations& out) {
  CallFinder finder(*snapshot.dictionary);
  EventLog::Reader reader = events.read();
  TraceEvent event;
  for (std::uint64_t n = 0; reader.next(event); ++n) {
    // A damaged event: whoever works out what was live says so.
    if (index_of(event.stack) >= snapshot.dictionary->stacks.size()) return;
    finder.event(n, event);
  }
  const std::vector<Call> steps = of_one_place(finder.steps);
  const std::vector<Call> zero_grads = of_one_place(finder.zero_grads);
  const std::vector<Call> backwards = of_one_place(finder.backwards);
  using By = Iterations::By;
  // An optimizer that works in place allocates in its first step only; gradients still come and go.
  const bool steps_allocate =
      steps.size() * kMostRegular > zero_grads.size() && (steps.size() > 1 || backwards.size() < 2);
  if (!steps.empty() && steps_allocate) return take(*snapshot.dictionary, steps, By::optimizer_step, out);
  if (zero_grads.size() > 1) return take(*snapshot.dictionary, zero_grads, By::zero_grad, out);
  if (!backwards.empty()) take(*snapshot.dictionary, backwards, By::backward, out);
}

/// How many iterations after the first one allocate about as often as the middle one.
std::size_t alike_of(const EventLog& events, const std::vector<std::uint64_t>& marks) {
  if (marks.size() < 2) return 0;
  std::vector<double> allocations(marks.size(), 0);
  EventLog::Reader reader = events.read();
  TraceEvent event;
  std::size_t iteration = 0;
  for (std::uint64_t n = 0; iteration < marks.size() && reader.next(event); ++n) {
    while (iteration < marks.size() && n >= marks[iteration]) ++iteration;
    if (iteration < marks.size() && event.action == TraceAction::alloc) ++allocations[iteration];
  }
  std::vector<double> sorted(allocations.begin() + 1, allocations.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double middle = sorted[sorted.size() / 2];
  return static_cast<std::size_t>(std::count_if(allocations.begin() + 1, allocations.end(), [&](double count) {
    return std::abs(count - middle) <= kAlike * middle;
  }));
}

}  // namespace

Result<Iterations> iterations(const Snapshot& snapshot, TraceRef ref) {
  const Result<const DeviceTrace*> found_trace = trace_of(snapshot, ref);
  if (!found_trace) return found_trace.error();
  const DeviceTrace* const trace = *found_trace;
  Iterations out;
  const StepMarks marks = step_marks(snapshot, ref.device);
  if (!marks.times.empty()) out.marks = ends_of(trace->events, marks);
  if (!out.marks.empty()) {
    out.by = marks.by;
  } else {
    by_calls(snapshot, trace->events, out);
  }
  out.alike = alike_of(trace->events, out.marks);
  return out;
}

}  // namespace snapdiff::cuda
