#include <algorithm>
#include <cmath>

#include "analyzer/render/flame/flame_boxes.hpp"
#include "analyzer/render/paint/style.hpp"
#include "snapdiff/concat.hpp"
#include "snapdiff/role_names.hpp"

namespace snapdiff::render {
namespace {

std::int64_t capped(std::uint64_t weight) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(weight, 0x7fffffffffffffffULL));
}

}  // namespace

bool FlameWords::shows_gone() const {
  return two_sided() &&
         (width() == FlameWidth::change || width() == FlameWidth::baseline || width() == FlameWidth::both);
}

bool FlameWords::shows_grown() const { return two_sided() && width() != FlameWidth::baseline; }

bool FlameWords::is_unsure(const FlameMark& mark) const {
  if (!two_sided() || !std::isfinite(mark.error) || mark.error <= 0) return false;
  return std::fabs(static_cast<double>(mark.grew) + static_cast<double>(mark.shrank)) < 2 * mark.error;
}

std::string FlameWords::root_name() const {
  if (!two_sided()) return "all";
  switch (width()) {
    case FlameWidth::change: return "all change";
    case FlameWidth::baseline: return "all before";
    case FlameWidth::current: return "all after";
    case FlameWidth::both: return "before and after";
    case FlameWidth::growth: return "all growth";
  }
  return "all";
}

std::string FlameWords::size(std::uint64_t weight) const { return q_.value(capped(weight)); }

std::optional<Color> FlameWords::role_color(std::uint32_t box) const {
  const std::vector<FlameBox>& boxes = story_.tree.boxes;
  if (!story_.tree.by_role || box == 0) return std::nullopt;
  while (boxes[box].depth > 1) box = boxes[box].parent;
  // Pale, since names are written on it.
  return mix(kPaper, kRoles[role_number(story_.tree.frames[boxes[box].name].function)], 0.6);
}

std::string FlameWords::merged_text(const FlameMark& mark) const {
  std::string text = std::string("+").append(counted(mark.frames, "frame"));
  if (mark.kind == FlameMark::Kind::deeper) text.append(", +").append(counted(mark.levels, "level"));
  return text;
}

std::string FlameWords::name(const FlameMark& mark) const {
  switch (mark.kind) {
    case FlameMark::Kind::frame: break;
    case FlameMark::Kind::here: return "here";
    case FlameMark::Kind::run: return counted(mark.frames, "frame").append(", one after the other");
    case FlameMark::Kind::merged:
    case FlameMark::Kind::deeper: return merged_text(mark);
  }
  return mark.box == 0 ? root_name() : frame_name(story_.tree.frames[story_.tree.boxes[mark.box].name]);
}

std::vector<std::string> FlameWords::figures(const FlameMark& mark) const {
  if (mark.kind == FlameMark::Kind::run) return {""};  // those of the box above
  const std::string weight = size(mark.weight);
  if (!two_sided() || width() == FlameWidth::baseline || width() == FlameWidth::current) {
    const auto all = static_cast<double>(story_.tree.boxes.front().weight);
    if (mark.row == 0 || all <= 0) return {weight};
    return {concat(weight, "  ", share_text(static_cast<double>(mark.weight) / all)), weight};
  }
  const bool unsure = is_unsure(mark);
  const auto growth = [&](std::int64_t v) { return (unsure ? std::string("~") : std::string()).append(q_.growth(v)); };
  if (width() == FlameWidth::growth) return {growth(mark.grew)};
  const std::string net = growth(mark.grew + mark.shrank);
  if (width() == FlameWidth::both) {
    if (mark.grew == 0 && mark.shrank == 0) return {weight};
    return {q_.value(mark.value.baseline).append(" \u2192 ").append(q_.value(mark.value.current)), net};
  }
  if (mark.grew == 0 || mark.shrank == 0) return {net};
  const std::string parts = q_.growth(mark.grew).append(" ").append(q_.growth(mark.shrank));
  return {concat("net ", net, ": ", parts), std::string("net ").append(net), net};
}

std::vector<std::string> FlameWords::path(const FlameMark& mark) const {
  constexpr std::size_t kMostNames = 200;  // far more than a line has room for; the root side is given up
  std::vector<std::string> out;
  for (std::uint32_t box = mark.box; box != 0 && out.size() < kMostNames; box = story_.tree.boxes[box].parent)
    out.push_back(frame_name(story_.tree.frames[story_.tree.boxes[box].name]));
  std::reverse(out.begin(), out.end());
  return out;
}

std::string FlameWords::run_text(const FlameMark& mark) const {
  constexpr std::uint32_t kMostNames = 60;
  std::string text;
  // Single callees follow each other in the tree.
  for (std::uint32_t i = 1; i <= mark.frames && i <= kMostNames; ++i)
    text.append(i == 1 ? "" : "\n").append(frame_name(story_.tree.frames[story_.tree.boxes[mark.box + i].name]));
  if (mark.frames > kMostNames)
    text.append("\n\u2026 ").append(counted(mark.frames - kMostNames, "frame")).append(" more");
  return text;
}

bool FlameWords::is_new(std::uint32_t box) const {
  const FlameBox& it = story_.tree.boxes[box];
  return two_sided() && shows_grown() && it.value.baseline == 0 && it.value.current > 0 && it.shrank == 0;
}

bool FlameWords::is_gone(std::uint32_t box) const {
  const FlameBox& it = story_.tree.boxes[box];
  return two_sided() && shows_gone() && it.value.current == 0 && it.value.baseline > 0 && it.grew == 0;
}

bool FlameWords::begins_new(const FlameMark& mark) const {
  return mark.kind == FlameMark::Kind::frame && mark.box != 0 && is_new(mark.box) &&
         (mark.row == 1 || !is_new(story_.tree.boxes[mark.box].parent));
}

bool FlameWords::begins_gone(const FlameMark& mark) const {
  return mark.kind == FlameMark::Kind::frame && mark.box != 0 && is_gone(mark.box) &&
         (mark.row == 1 || !is_gone(story_.tree.boxes[mark.box].parent));
}

std::string FlameWords::title(const FlameMark& mark) const {
  std::string text;
  if (mark.kind == FlameMark::Kind::run) return run_text(mark);
  if (mark.box == 0 || mark.kind == FlameMark::Kind::merged || mark.kind == FlameMark::Kind::deeper) {
    text = name(mark);
  } else {
    const FrameView& frame = story_.tree.frames[story_.tree.boxes[mark.box].name];
    text = frame.function.empty() ? frame_name(frame) : printable(frame.function);
    if (!frame.file.empty()) {
      text.append("\n").append(printable(frame.file));
      if (frame.line > 0) text.append(":").append(std::to_string(frame.line));
    }
    if (!frame.module.empty()) text.append("\n").append(printable(frame.module));
    if (mark.kind == FlameMark::Kind::here) text.append("\nin the frame itself, not in a callee");
  }
  if (!two_sided()) {
    text.append("\n").append(size(mark.weight));
  } else if (mark.kind == FlameMark::Kind::frame) {
    text.append("\n").append(q_.value(mark.value.baseline)).append(" \u2192 ").append(q_.value(mark.value.current));
    text.append(", ").append(q_.growth(mark.grew + mark.shrank));
    text.append("\ngrew ").append(q_.growth(mark.grew)).append(", shrank ").append(q_.growth(mark.shrank));
    if (std::isfinite(mark.error) && mark.error > 0 && mark.error < 9e18)
      text.append("\n\u00b1 ").append(q_.value(std::llround(mark.error)));
    if (is_unsure(mark)) text.append(", may be chance");
  } else {
    text.append("\n").append(figures(mark).front());
  }
  const std::uint64_t all = story_.tree.boxes.front().weight;
  if (mark.box != 0 && all > 0)
    text += concat("\n", share_text(static_cast<double>(mark.weight) / static_cast<double>(all)), " of the width");
  return text;
}

}  // namespace snapdiff::render
