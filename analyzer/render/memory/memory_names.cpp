#include <algorithm>
#include <map>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/frame_kind.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/document/answer_parts.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

bool is_python(const FrameView& frame) { return frame.file.ends_with(".py") || frame.file.starts_with("<ipython"); }

/// Frames of the recorder, and of the allocator and what wraps every call into it.
bool is_allocator(const FrameView& frame) { return is_tensor_plumbing(frame.function); }

}  // namespace

namespace {

/// Keeps the leaf and the user's own frames among its callers, where there are any: what nn.Module calls on the way
/// says nothing.
void drop_libraries_between(std::vector<FrameView>& frames) {
  if (std::ranges::none_of(frames, [](const FrameView& frame) { return !frame.library; })) return;
  frames.erase(std::remove_if(frames.begin() + 1, frames.end(), [](const FrameView& frame) { return frame.library; }),
               frames.end());
}

/// The frames that a label is made of, leaf first: Python's, where there are any, else those from a node of the
/// backward graph on, else those that are not the allocator's, else the leaf. Empty for the empty stack.
std::vector<FrameView> named_frames(const StackView& view, StackRef stack) {
  std::vector<FrameView> frames;
  view.frames(stack, frames);
  const auto first = std::ranges::find_if(frames, is_python);
  if (first != frames.end()) {
    frames.erase(frames.begin(), first);
    std::erase_if(frames, [](const FrameView& frame) { return !is_python(frame); });
    drop_libraries_between(frames);
    return frames;
  }
  const auto node = std::ranges::find_if(frames, [](const FrameView& f) { return !autograd_node(f.function).empty(); });
  if (node != frames.end()) return {*node};
  const auto own = std::ranges::find_if(frames, [](const FrameView& f) { return !is_allocator(f); });
  if (own == frames.end()) {
    if (!frames.empty()) frames.erase(frames.begin() + 1, frames.end());
    return frames;
  }
  frames.erase(frames.begin(), own);
  std::erase_if(frames, is_allocator);
  return frames;
}

/// "forward model.py:12"
std::string frame_text(const FrameView& frame) {
  std::string text = frame_name(frame);
  if (const std::string site = site_text(frame); !site.empty()) text.append(" ").append(site);
  return text;
}

using Texts = std::vector<std::string>;  // of the frames of one stack, leaf first

/// Adds to the labels that `group` chooses what distinguishes them from the frame `at` on: those before are equal, and
/// `shown` is the last that the names show.
void tell_apart(const std::vector<Texts>& frames, const std::vector<std::size_t>& group, std::size_t at,
                std::size_t shown, std::vector<StackLabel>& labels) {
  const auto text_at = [&](std::size_t i, std::size_t depth) {
    return depth < frames[i].size() ? frames[i][depth] : std::string();
  };
  std::size_t deepest = 0;
  for (const std::size_t i : group) deepest = std::max(deepest, frames[i].size());
  const auto differ = [&](std::size_t depth) {
    return std::ranges::any_of(group,
                               [&](std::size_t i) { return text_at(i, depth) != text_at(group.front(), depth); });
  };
  while (at < deepest && !differ(at)) ++at;
  if (at >= deepest) return;
  std::map<std::string, std::vector<std::size_t>> parts;
  for (const std::size_t i : group) parts[text_at(i, at)].push_back(i);
  for (const auto& [text, part] : parts) {
    for (const std::size_t i : part) {
      // Of its own line the site alone: the name is there already.
      const std::string added = at == 0 ? labels[i].site : text;
      if (added.empty()) continue;
      labels[i].name.append(at == 0 ? " " : at == shown + 1 ? " \u2039 " : " \u2039 \u2026 \u2039 ").append(added);
      if (at == 0) labels[i].site.clear();
    }
    if (part.size() > 1) tell_apart(frames, part, at + 1, at, labels);
  }
}

}  // namespace

StackLabel label_of(const StackView& view, StackRef stack) {
  StackLabel label;
  const std::vector<FrameView> frames = named_frames(view, stack);
  if (frames.empty()) {
    label.name = stack.stack == StackId{} ? kNoStackRecorded : "[filtered out]";
    return label;
  }
  label.name = frame_name(frames.front());
  label.site = site_text(frames.front());
  std::string last = label.name;
  constexpr std::size_t kMostCallers = 12;
  for (std::size_t i = 1; i < frames.size() && label.callers.size() < kMostCallers; ++i) {
    std::string name = frame_name(frames[i]);
    if (name == last) continue;  // recursion, and _call_impl of several lines
    last = name;
    label.callers.push_back(std::move(name));
  }
  return label;
}

std::vector<StackLabel> labels_of(const StackView& view, const std::vector<StackRef>& stacks) {
  std::vector<StackLabel> labels;
  std::vector<Texts> frames;
  std::map<std::string, std::vector<std::size_t>> same;
  for (const StackRef stack : stacks) {
    same[labels.emplace_back(label_of(view, stack)).name].push_back(frames.size());
    Texts texts;
    for (const FrameView& frame : named_frames(view, stack)) texts.push_back(frame_text(frame));
    frames.push_back(std::move(texts));
  }
  for (const auto& [name, group] : same) {
    if (group.size() > 1) tell_apart(frames, group, 0, 0, labels);
  }
  return labels;
}

double draw_origin(Canvas& canvas, double x, double y, const StackLabel& label, const TextStyle& style, double width) {
  if (width <= 12) return 0;
  std::string text = label.site;
  for (const std::string& caller : label.callers) {
    std::string longer = text;
    longer.append(text.empty() ? "\u2039 " : " \u2039 ").append(caller);
    if (canvas.width(std::string(longer).append(" \u2039 \u2026"), style) > width) {
      if (!text.empty()) text.append(" \u2039 \u2026");
      break;
    }
    text = std::move(longer);
  }
  return text.empty() ? 0 : canvas.text_within(x, y, text, style, kInk2, width);
}

std::string pool_name(const PoolId& pool) {
  if (pool == PoolId{}) return "default pool";
  return "pool " + document::pool_text(pool);
}

}  // namespace snapdiff::render
