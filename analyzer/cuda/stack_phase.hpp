#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::cuda {

/// Which part of a training loop a stack belongs to, by its innermost frame that says so.
enum class Phase : std::uint8_t {
  unknown,        ///< no stack, or one without Python frames
  engine,         ///< autograd's own threads: native frames, and what these call (recomputation, hooks)
  script,         ///< any other Python: forward, data, evaluation
  backward_call,  ///< a backward() begins: the gradient of the loss itself
  backward,       ///< the rest of the call of backward()
  optimizer,      ///< the step of an optimizer
  zero_grad,
};

/// caller, line: the Python frame that makes the call, outside of PyTorch; 0 without one.
struct StackPhase {
  Phase phase = Phase::unknown;
  bool module_call = false;  ///< of Phase::script: inside nn.Module; of Phase::engine: its forward computed again
  std::uint64_t caller = 0;  ///< of its function and file
  std::int32_t line = 0;
};

/// Phases of the stacks of one dictionary; each stack and each function is looked at once.
class StackPhases {
 public:
  /// What a frame is: one of PyTorch's that says something, or `python` (anything else) or `native`.
  ///   module_call  nn.Module's own call of forward    forward     a function of that name, most of them of modules
  ///   checkpoint   torch.utils.checkpoint             function    apply of torch.autograd.Function
  enum class Mark : std::uint8_t {
    native,
    native_engine,
    python,
    torch,
    function,
    module_call,
    forward,
    checkpoint,
    optimizer,
    zero_grad,
    backward,
    backward_call
  };
  explicit StackPhases(const Dictionary& dictionary);
  StackPhase of(StackId stack);
  Mark mark_of(FrameId frame);
  /// The line of the innermost frame of a function (StackPhase::caller) in a stack; 0 where it is not in it.
  std::int32_t line_in(StackId stack, std::uint64_t function) const;
  /// The same for stacks that differ in native frames only; of native ones themselves where there are no others.
  std::uint64_t python_key(StackId stack);

 private:
  Mark look_at(FunctionId id) const;
  StackPhase look_at(StackId stack);
  bool is_called_by_engine(StackId stack);
  bool is_compiled_backward(StackId stack) const;
  std::uint64_t function_key(FrameId frame) const;

  const Dictionary& dictionary_;
  std::vector<std::uint8_t> marks_;  ///< by function; kNotLooked
  std::unordered_map<StackId, StackPhase> phases_;
  std::unordered_map<StackId, std::uint64_t> keys_;
};

}  // namespace snapdiff::cuda
