#include "analyzer/cuda/module_paths.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/label_rows.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::size_t kMostCallers = 1 << 8;
constexpr std::string_view kNoModule = "[no module call]";  // backward's threads, optimizers, the loop itself

/// "train.py:52 › model.py:253 › model.py:382", outermost first.
std::string path_text(const ModulePath& path, const Dictionary& d) {
  std::string text;
  for (std::size_t i = path.callers.size(); i-- > 0;) {
    const std::size_t frame = index_of(path.callers[i]);
    const std::size_t function = index_of(d.frames.function[frame]);
    if (!text.empty()) text += " \u203a ";
    text += base_name(d.strings[d.functions.file[function]]);
    text += ":" + std::to_string(d.frames.line[frame]);
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

}  // namespace snapdiff::cuda
