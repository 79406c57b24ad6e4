#include <algorithm>

#include "analyzer/render/memory_pages.hpp"
#include "analyzer/render/text.hpp"

namespace snapdiff::render {
namespace {

bool is_python(const FrameView& frame) { return frame.file.ends_with(".py") || frame.file.starts_with("<ipython"); }

/// Frames of the recorder, and of the allocator and what wraps every call into it.
bool is_allocator(const FrameView& frame) {
  const auto has = [&](std::string_view part) { return frame.function.find(part) != std::string_view::npos; };
  return frame.function.starts_with("c10::") || has("at::detail::") || has("unwind::unwind") ||
         has("CapturedTraceback") || has("gather_with_cpp");
}

std::string site_of(const FrameView& frame) {
  if (frame.file.empty()) return {};
  std::string text = printable(base_name(frame.file));
  if (frame.line > 0) text.append(":").append(std::to_string(frame.line));
  return text;
}

}  // namespace

StackLabel label_of(const StackView& view, StackRef stack) {
  StackLabel label;
  std::vector<FrameView> frames;
  view.frames(stack, frames);
  if (frames.empty()) {
    label.name = stack.stack == StackId{} ? kNoStackRecorded : "[filtered out]";
    return label;
  }
  auto first = std::find_if(frames.begin(), frames.end(), is_python);
  const bool python = first != frames.end();
  if (!python) first = std::find_if(frames.begin(), frames.end(), [](const FrameView& f) { return !is_allocator(f); });
  if (first == frames.end()) first = frames.begin();
  label.name = frame_name(*first);
  label.site = site_of(*first);
  std::string last = label.name;
  constexpr std::size_t kMostCallers = 12;
  for (auto frame = first + 1; frame != frames.end() && label.callers.size() < kMostCallers; ++frame) {
    if (python ? !is_python(*frame) : is_allocator(*frame)) continue;
    std::string name = frame_name(*frame);
    if (name == last) continue;  // recursion, and _call_impl of several lines
    last = name;
    label.callers.push_back(std::move(name));
  }
  return label;
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
  return std::string("pool (")
      .append(std::to_string(pool.first))
      .append(", ")
      .append(std::to_string(pool.second))
      .append(")");
}

}  // namespace snapdiff::render
