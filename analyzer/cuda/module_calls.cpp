#include "analyzer/cuda/module_calls.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "analyzer/base/concat.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/label_rows.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::int64_t kOfACall = 1000;  // one part in so many of the bytes of calls may not fit their number
constexpr std::int64_t kUndone = 4;      // of so many calls or more one may be undone in part
constexpr double kWorthAModule = 0.05;   // of the peak
constexpr double kOneChild = 0.95;       // of a chain's bytes: it is shown as its one inner chain
constexpr std::size_t kMostModules = 8;  // shown
constexpr std::size_t kLongestPath = 8;  // lines of a chain, the inner ones
constexpr std::size_t kMostCallers = 1 << 8;
constexpr std::string_view kNoModule = "[no module call]";  // backward's threads, optimizers, the loop itself

CodeLine line_of(const Dictionary& d, FrameId frame) {
  const std::size_t function = index_of(d.frames.function[index_of(frame)]);
  return {std::string(d.strings[d.functions.file[function]]), d.frames.line[index_of(frame)]};
}

/// "train.py:52 › model.py:253 › model.py:382", outermost first.
std::string path_text(const ModulePath& path, const Dictionary& d) {
  std::string text;
  for (std::size_t i = path.callers.size(); i-- > 0;) {
    const CodeLine line = line_of(d, path.callers[i]);
    text += concat(text.empty() ? "" : " \u203a ", base_name(line.file), ":", line.line);
  }
  return text;
}

}  // namespace

const ModulePath& ModulePaths::of(StackId stack) {
  const auto at = paths_.find(stack);
  return at != paths_.end() ? at->second : paths_.emplace(stack, look_at(stack)).first->second;
}

ModulePath ModulePaths::look_at(StackId stack) {
  ModulePath out;
  using Mark = StackPhases::Mark;
  Mark inner = Mark::native;
  for (const FrameId frame : dictionary_.stacks.frames(stack)) {
    const Mark mark = phases_.mark_of(frame);
    if (mark == Mark::native || mark == Mark::native_engine) continue;
    if (mark == Mark::checkpoint) out.recomputed = true;
    const bool calls = mark != Mark::module_call && mark != Mark::checkpoint && inner == Mark::module_call;
    if (calls && out.callers.size() < kMostCallers &&
        std::find(out.callers.begin(), out.callers.end(), frame) == out.callers.end())
      out.callers.push_back(frame);
    inner = mark;
  }
  return out;
}

bool calls_modules(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  StackPhases phases(d);
  for (std::uint32_t frame = 0; frame < d.frames.size(); ++frame) {
    if (phases.mark_of(FrameId{frame}) == StackPhases::Mark::module_call) return true;
  }
  return false;
}

Snapshot with_modules(const Snapshot& snapshot) {
  ModulePaths paths(*snapshot.dictionary);
  return with_label(snapshot, kModuleLabel, [&](StackId stack) {
    const ModulePath& path = paths.of(stack);
    return path.callers.empty() ? std::string(kNoModule) : path_text(path, *snapshot.dictionary);
  });
}

void ModuleCalls::add(const LiveBlock& block) {
  for (std::uint32_t node = node_of(block.stack); node != 0; node = nodes_[node].parent) {
    nodes_[node].bytes += block.bytes;
    ++nodes_[node].blocks;
  }
  if (block.role != Role::activation || block.born < 0) return;
  Stack& stack = stacks_[block.stack];
  stack.bytes += block.bytes;
  stack.blocks.push_back({block.born, block.bytes});
}

std::uint32_t ModuleCalls::node_of(StackId stack) {
  const auto [at, is_new] = node_of_stack_.try_emplace(stack, 0);
  if (!is_new) return at->second;
  const std::vector<FrameId>& callers = paths_.of(stack).callers;
  for (std::size_t i = callers.size(); i-- > 0;) at->second = child_of(at->second, callers[i]);
  return at->second;
}

std::uint32_t ModuleCalls::child_of(std::uint32_t parent, FrameId frame) {
  const auto [at, is_new] = children_.try_emplace({parent, frame}, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) {
    nodes_.emplace_back();
    nodes_.back().parent = parent;
    nodes_.back().frame = frame;
  }
  return at->second;
}

std::optional<RepeatedCall> ModuleCalls::find() {
  calls_.clear();
  for (auto& [id, stack] : stacks_) {
    std::sort(stack.blocks.begin(), stack.blocks.end());
    const ModulePath& path = paths_.of(id);
    if (path.recomputed) continue;
    for (std::size_t i = 0; i < path.callers.size(); ++i) {
      Call& call = calls_[path.callers[i]];
      call.bytes += stack.bytes;
      call.depth = std::max(call.depth, path.callers.size() - i);
      call.stacks.push_back(&stack);
    }
  }
  const Call* best = nullptr;
  FrameId frame{};
  for (auto& [id, call] : calls_) {
    count(call);
    const bool more = best == nullptr || std::pair(call.bytes, best->depth) > std::pair(best->bytes, call.depth);
    if (call.times < 2 || !more) continue;
    best = &call;
    frame = id;
  }
  if (best == nullptr) return std::nullopt;
  RepeatedCall out;
  CodeLine line = line_of(dictionary_, frame);
  out.file = std::move(line.file);
  out.line = line.line;
  out.calls = best->times;
  out.bytes = best->bytes;
  out.output = output_of(*best);
  return out;
}

/// Whether so many calls leave the blocks of a stack: as many each, but for one call that backward has begun to undo.
bool ModuleCalls::fits(std::int64_t blocks, std::int64_t times) {
  const std::int64_t each = (blocks + times - 1) / times;
  return blocks == each * times || (times >= kUndone && blocks >= each * (times - 1));
}

/// How often, by the blocks of its stacks: the most that fits nearly all bytes, and one stack exactly.
void ModuleCalls::count(Call& call) {
  std::set<std::int64_t> counts;
  for (const Stack* stack : call.stacks) counts.insert(stack->count());
  for (auto times = counts.rbegin(); times != counts.rend() && *times >= 2 && call.times == 0; ++times) {
    std::int64_t other = 0;
    for (const Stack* stack : call.stacks) other += fits(stack->count(), *times) ? 0 : stack->bytes;
    if (other <= call.bytes / kOfACall) call.times = *times;
  }
}

/// Bytes of what the first call allocated last.
std::int64_t ModuleCalls::output_of(const Call& call) {
  std::pair<std::int64_t, std::int64_t> last{-1, 0};
  for (const Stack* stack : call.stacks) {
    const std::int64_t each = (stack->count() + call.times - 1) / call.times;
    last = std::max(last, stack->blocks[static_cast<std::size_t>(each - 1)]);
  }
  return last.second;
}

PeakModule ModuleCalls::module_of(std::uint32_t node) const {
  PeakModule out;
  out.bytes = nodes_[node].bytes;
  out.blocks = nodes_[node].blocks;
  const auto calls_at = [this](std::uint32_t at) {
    const auto call = calls_.find(nodes_[at].frame);
    return call == calls_.end() ? 0 : call->second.times;
  };
  out.calls = calls_at(node);
  // More than the outer lines call: whether each call leaves several blocks or there are several calls is not recorded.
  for (std::uint32_t at = nodes_[node].parent; at != 0; at = nodes_[at].parent) {
    const std::int64_t outer = calls_at(at);
    if (outer > 1 && out.calls > outer) out.calls = 0;
  }
  for (std::uint32_t at = node; at != 0 && out.path.size() < kLongestPath; at = nodes_[at].parent)
    out.path.push_back(line_of(dictionary_, nodes_[at].frame));
  std::reverse(out.path.begin(), out.path.end());
  return out;
}

std::vector<PeakModule> ModuleCalls::modules(std::int64_t whole) const {
  std::vector<std::int64_t> most_below(nodes_.size(), 0);
  for (std::size_t i = 1; i < nodes_.size(); ++i)
    most_below[nodes_[i].parent] = std::max(most_below[nodes_[i].parent], nodes_[i].bytes);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    const auto bytes = static_cast<double>(nodes_[i].bytes);
    if (bytes < kWorthAModule * static_cast<double>(whole)) continue;
    if (static_cast<double>(most_below[i]) < kOneChild * bytes) chosen.push_back(i);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return nodes_[a].bytes > nodes_[b].bytes; });
  if (chosen.size() > kMostModules) chosen.resize(kMostModules);
  std::vector<PeakModule> out;
  out.reserve(chosen.size());
  for (const std::uint32_t node : chosen) out.push_back(module_of(node));
  return out;
}

}  // namespace snapdiff::cuda
