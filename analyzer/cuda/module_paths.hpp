#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/cuda/stack_phase.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::cuda {

/// The Python lines of a stack that call modules (nn.Module).
///   callers     leaf first, each once; deeper ones than the first 256 are recursion and left out
///   recomputed  in backward, under torch.utils.checkpoint
struct ModulePath {
  std::vector<FrameId> callers;
  bool recomputed = false;
};

/// Paths of the stacks of one dictionary; each is looked at once.
class ModulePaths {
 public:
  explicit ModulePaths(const Dictionary& dictionary) : dictionary_(dictionary), phases_(dictionary) {}
  const ModulePath& of(StackId stack);

 private:
  ModulePath look_at(StackId stack);

  const Dictionary& dictionary_;
  StackPhases phases_;
  std::unordered_map<StackId, ModulePath> paths_;
};

}  // namespace snapdiff::cuda
