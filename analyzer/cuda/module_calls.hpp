#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/stack_phase.hpp"
#include "snapdiff/device_memory.hpp"
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

/// Lines that call modules (nn.Module), by the blocks of one moment that are allocated below them.
class ModuleCalls {
 public:
  explicit ModuleCalls(const Dictionary& dictionary) : dictionary_(dictionary), paths_(dictionary), nodes_(1) {}

  void add(const LiveBlock& block);

  /// The line whose calls keep the same activations each: the one that keeps most; of equals the outermost.
  std::optional<RepeatedCall> find();

  /// What is allocated below chains of such lines, outer ones before inner ones: those with a part of `whole` that
  /// matters, without those that hold little besides one inner chain. After find().
  std::vector<PeakModule> modules(std::int64_t whole) const;

 private:
  struct Stack {
    std::int64_t bytes = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> blocks;  ///< birth and bytes, by birth
    std::int64_t count() const { return static_cast<std::int64_t>(blocks.size()); }
  };
  struct Call {
    std::int64_t bytes = 0;
    std::int64_t times = 0;
    std::size_t depth = 0;  ///< of calls of modules, from the root
    std::vector<const Stack*> stacks;
  };
  /// A chain of lines, the last of which is `frame`.
  struct Node {
    std::uint32_t parent = 0;
    FrameId frame{};
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
  };
  std::uint32_t node_of(StackId stack);
  std::uint32_t child_of(std::uint32_t parent, FrameId frame);
  static bool fits(std::int64_t blocks, std::int64_t times);
  static void count(Call& call);
  static std::int64_t output_of(const Call& call);
  PeakModule module_of(std::uint32_t node) const;

  const Dictionary& dictionary_;
  ModulePaths paths_;
  std::map<StackId, std::uint32_t> node_of_stack_;
  std::map<StackId, Stack> stacks_;
  std::map<FrameId, Call> calls_;
  std::vector<Node> nodes_;  ///< parents before children; the first is the root
  std::map<std::pair<std::uint32_t, FrameId>, std::uint32_t> children_;
};

}  // namespace snapdiff::cuda
