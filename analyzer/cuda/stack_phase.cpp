#include "analyzer/cuda/stack_phase.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/base/contains.hpp"
#include "analyzer/base/torch_frames.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::uint8_t kNotLooked = 0xff;

bool is_python(std::string_view file) { return file.ends_with(".py") || file.starts_with('<'); }

/// Packages whose optimizers are called "step"; a scheduler of learning rates is not one.
bool is_of_optimizer(std::string_view file) {
  constexpr std::string_view kParts[] = {"optim", "deepspeed/runtime", "apex/", "bitsandbytes/", "lion", "shampoo"};
  if (contains(file, "lr_scheduler")) return false;
  return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) { return contains(file, part); });
}

}  // namespace

StackPhases::StackPhases(const Dictionary& dictionary)
    : dictionary_(dictionary), marks_(dictionary.functions.name.size(), kNotLooked) {}

StackPhases::Mark StackPhases::look_at(FunctionId id) const {
  const std::size_t function = index_of(id);
  const std::string_view name = dictionary_.strings[dictionary_.functions.name[function]];
  std::string file(dictionary_.strings[dictionary_.functions.file[function]]);
  std::replace(file.begin(), file.end(), '\\', '/');
  if (!is_python(file)) return contains(name, "torch::autograd::Engine::") ? Mark::native_engine : Mark::native;
  if (name == "zero_grad") return Mark::zero_grad;
  if (file.ends_with("torch/autograd/__init__.py")) {
    if (name == "_make_grads") return Mark::backward_call;
    return name == "backward" || name == "grad" ? Mark::backward : Mark::torch;
  }
  if (name == "backward" && file.ends_with("torch/_tensor.py")) return Mark::backward;
  if (name == "step" && is_of_optimizer(file)) return Mark::optimizer;
  // What Optimizer.step is wrapped in; it allocates nothing but frees the last temporaries of the step.
  if (name == "wrapper" && file.ends_with("torch/optim/optimizer.py")) return Mark::optimizer;
  if (is_module_call(name, file)) return Mark::module_call;
  if (file.ends_with("torch/utils/checkpoint.py")) return Mark::checkpoint;
  if (file.ends_with("torch/autograd/function.py")) return Mark::function;
  if (name == "forward") return Mark::forward;
  return contains(file, "/torch/") ? Mark::torch : Mark::python;
}

StackPhases::Mark StackPhases::mark_of(FrameId frame) {
  const FunctionId function = dictionary_.frames.function[index_of(frame)];
  std::uint8_t& known = marks_[index_of(function)];
  if (known == kNotLooked) known = static_cast<std::uint8_t>(look_at(function));
  return static_cast<Mark>(known);
}

std::uint64_t StackPhases::function_key(FrameId frame) const {
  return index_of(dictionary_.frames.function[index_of(frame)]) + std::uint64_t{1};
}

StackPhase StackPhases::look_at(StackId stack) {
  StackPhase out;
  bool decided = false;
  for (const FrameId frame : dictionary_.stacks.frames(stack)) {
    const Mark mark = mark_of(frame);
    if (mark == Mark::native) continue;
    if (mark == Mark::native_engine) {
      if (out.phase == Phase::unknown) out.phase = Phase::engine;
      continue;
    }
    if (out.phase == Phase::unknown || out.phase == Phase::engine) out.phase = Phase::script;
    if (!decided) {
      decided = mark != Mark::python && mark != Mark::torch && mark != Mark::checkpoint && mark != Mark::function;
      // A function of that name is the only frame of a module whose call is compiled.
      out.module_call = mark == Mark::module_call || mark == Mark::forward;
      if (mark == Mark::optimizer) out.phase = Phase::optimizer;
      if (mark == Mark::zero_grad) out.phase = Phase::zero_grad;
      if (mark == Mark::backward) out.phase = Phase::backward;
      if (mark == Mark::backward_call) out.phase = Phase::backward_call;
      continue;
    }
    if (out.phase == Phase::script) break;
    if (mark != Mark::python) continue;
    out.caller = function_key(frame);
    out.line = dictionary_.frames.line[index_of(frame)];
    break;
  }
  if (out.phase == Phase::script && is_called_by_engine(stack)) out.phase = Phase::engine;
  // The frames inside are those of the forward pass that it was made for.
  if (out.phase == Phase::engine && out.module_call && is_compiled_backward(stack)) out.module_call = false;
  return out;
}

/// Python that backward calls: below the native engine or the call of backward, or in a thread of its own, whose
/// outermost frame then is that of a torch.autograd.Function or of the checkpoint that computes its part again.
bool StackPhases::is_called_by_engine(StackId stack) {
  Mark outermost = Mark::native;
  for (const FrameId frame : dictionary_.stacks.frames(stack)) {
    const Mark mark = mark_of(frame);
    if (mark == Mark::native_engine || mark == Mark::backward) return true;
    if (mark != Mark::native) outermost = mark;
  }
  return outermost == Mark::function || outermost == Mark::checkpoint;
}

/// Backward of torch.compile: one torch.autograd.Function for the whole graph.
bool StackPhases::is_compiled_backward(StackId stack) const {
  const auto frames = dictionary_.stacks.frames(stack);
  return std::any_of(frames.begin(), frames.end(), [&](FrameId frame) {
    const std::size_t function = index_of(dictionary_.frames.function[index_of(frame)]);
    return dictionary_.strings[dictionary_.functions.name[function]] == "backward" &&
           contains(dictionary_.strings[dictionary_.functions.file[function]], "_functorch");
  });
}

StackPhase StackPhases::of(StackId stack) {
  if (stack == StackId{}) return {};
  const auto [at, is_new] = phases_.try_emplace(stack);
  if (is_new) at->second = look_at(stack);
  return at->second;
}

std::int32_t StackPhases::line_in(StackId stack, std::uint64_t function) const {
  for (const FrameId frame : dictionary_.stacks.frames(stack)) {
    if (function_key(frame) == function) return dictionary_.frames.line[index_of(frame)];
  }
  return 0;
}

std::uint64_t StackPhases::python_key(StackId stack) {
  if (stack == StackId{}) return 0;
  const auto [at, is_new] = keys_.try_emplace(stack, 0);
  if (!is_new) return at->second;
  std::uint64_t python = 0, all = 0;
  for (const FrameId frame : dictionary_.stacks.frames(stack)) {
    const Mark mark = mark_of(frame);
    const std::uint64_t line = static_cast<std::uint32_t>(dictionary_.frames.line[index_of(frame)]);
    all = mix64(all ^ (index_of(frame) + std::uint64_t{1}));
    if (mark != Mark::native && mark != Mark::native_engine)
      python = mix64(python ^ mix64(function_key(frame)) ^ (line << 20U));
  }
  return at->second = python != 0 ? python : all;
}

}  // namespace snapdiff::cuda
