#include <algorithm>
#include <cmath>

#include "analyzer/render/chart/axis.hpp"
#include "analyzer/render/flame/flame_parts.hpp"
#include "analyzer/render/paint/style.hpp"
#include "snapdiff/concat.hpp"
#include "snapdiff/role_names.hpp"

namespace snapdiff::render {
namespace {

constexpr double kFlameKeyHead = 19;
constexpr double kItem = 13;
constexpr double kSum = 14;

struct Sample {
  std::string word, text;
  FlameFill fill;
};

std::string noun(const FlameStory& story) {
  if (story.tree.unit == "bytes") return "bytes";
  return story.tree.metric.find("objects") != std::string::npos ? "objects" : "values";
}

/// A sample of each role, with its bytes. That nothing is unknown is worth saying.
void add_roles(const FlameStory& story, const FlameWords& words, std::vector<Sample>& out) {
  const std::vector<FlameBox>& boxes = story.tree.boxes;
  const auto all = static_cast<double>(boxes.front().weight);
  bool any_unknown = false;
  for (std::uint32_t box = 1; box < boxes.size(); ++box) {
    if (boxes[box].depth != 1) continue;
    FlameFill fill;
    fill.same = 1;
    fill.role = words.role_color(box);
    const std::string_view role = story.tree.frames[boxes[box].name].function;
    any_unknown = any_unknown || role == kRoleNames[0];
    std::string text = std::string(role).append(", ");
    const auto value = [&](std::int64_t v) { return words.quantity().value(v); };
    words.two_sided()
        ? text.append(value(boxes[box].value.baseline)).append(" \u2192 ").append(value(boxes[box].value.current))
        : text.append(words.size(boxes[box].weight));
    out.push_back({share_text(all > 0 ? static_cast<double>(boxes[box].weight) / all : 0), std::move(text), fill});
  }
  if (any_unknown) return;
  FlameFill fill;
  fill.same = 1;
  fill.role = mix(kPaper, kRoles[0], 0.6);
  out.push_back({share_text(0), std::string(kRoleNames[0]).append(", ").append(words.size(0)), fill});
}

std::vector<Sample> samples_of(const FlameStory& story, const FlameWords& words, const FlameLayout& layout) {
  const auto any = [&](auto holds) { return std::any_of(layout.marks.begin(), layout.marks.end(), holds); };
  const std::string what = noun(story);
  std::vector<Sample> out;
  FlameFill gone, grown, both, same;
  gone.gone = grown.grown = same.same = 1;
  both.gone = both.grown = 0.5;
  both.strength = 0.3;
  if (story.tree.by_role) gone.role = grown.role = both.role = kOther;  // whatever role it is
  const FlameBox& root = story.tree.boxes.front();
  const bool has_gone = words.shows_gone() && root.shrank != 0;
  const bool has_grown = words.shows_grown() && root.grew != 0;
  if (has_gone) out.push_back({"gone", what + " of before that are no longer there", gone});
  if (has_grown) out.push_back({"grown", what + " that came in addition", grown});
  if (has_gone && has_grown)
    out.push_back({"both",
                   std::string("gone left, grown right").append(story.tree.by_role ? "" : "; pale where they cancel"),
                   both});
  if (story.tree.by_role) {
    add_roles(story, words, out);
  } else if (words.shows_same())
    out.push_back({words.two_sided() ? "same" : "held",
                   words.two_sided() ? what + " on both sides" : what + " of this snapshot", same});
  if (words.two_sided() && any([&](const FlameMark& m) { return words.is_unsure(m); })) {
    FlameFill unsure = grown;
    unsure.unsure = true;
    if (words.shows_gone()) unsure.gone = unsure.grown = 0.5;
    out.push_back({"~", "less than 2 standard deviations: may be chance", unsure});
  }
  if (any([&](const FlameMark& m) { return words.begins_new(m); })) {
    FlameFill added = grown;
    added.is_new = true;
    out.push_back({"new", "from here down, nothing was held before", added});
  }
  if (any([&](const FlameMark& m) { return words.begins_gone(m); })) {
    FlameFill left = gone;
    left.is_gone = true;
    out.push_back({"all gone", "from here down, nothing is held any more", left});
  }
  if (any([](const FlameMark& m) { return m.kind == FlameMark::Kind::here; })) {
    FlameFill here = words.shows_same() && !words.shows_grown() ? same : words.shows_grown() ? grown : same;
    if (words.shows_same()) here = same;
    out.push_back({"here", "allocated in the frame itself, not in a callee", here});
  }
  if (layout.merged_boxes > 0) {
    FlameFill merged = words.shows_same() ? same : grown;
    merged.kind = FlameMark::Kind::merged;
    const std::string narrow = std::to_string(std::lround(layout.least_width)).append(" pt");
    out.push_back({"+n frames",
                   layout.cut_levels > 0 ? concat("narrower than ", narrow, " or too deep, merged")
                                         : concat("callees narrower than ", narrow, ", merged"),
                   merged});
  }
  if (layout.folded_boxes > 0) {
    FlameFill run = words.shows_same() ? same : grown;
    run.kind = FlameMark::Kind::run;
    out.push_back({"n frames", "each calls only the next one; folded", run});
  }
  return out;
}

std::string width_noun(const FlameStory& story) {
  if (!story.two_sided) return "";
  switch (story.tree.width) {
    case FlameWidth::change: return " of change";
    case FlameWidth::growth: return " of growth";
    case FlameWidth::baseline: return " before";
    case FlameWidth::current: return " after";
    case FlameWidth::both: return " of either side";
  }
  return "";
}

/// "drawn to the end 8.52 MiB (14 frames) + merged 138 KiB (23 frames) = total 8.66 MiB of change"
std::string sum_text(const FlameStory& story, const FlameWords& words, const FlameLayout& layout) {
  const std::uint64_t total = story.tree.boxes.front().weight;
  std::string text = std::string("drawn to the end ").append(words.size(layout.drawn));
  const std::uint64_t drawn = layout.drawn_boxes > 0 ? layout.drawn_boxes - 1 : 0;  // the root is no frame
  text.append(" (").append(counted(drawn, "frame")).append(") + merged ").append(words.size(layout.merged));
  text.append(" (").append(counted(layout.merged_boxes, "frame")).append(") = total ").append(words.size(total));
  text.append(width_noun(story));
  if (layout.folded_boxes > 0)
    text.append("; ").append(counted(layout.folded_boxes, "frame")).append(" in rows of single callees folded");
  if (layout.cut_levels > 0)
    text.append("; ").append(counted(layout.cut_levels, "level")).append(" deeper than the page");
  return text;
}

}  // namespace

double draw_flame_scale(const FlameStory& story, const FlameWords& words, Canvas& canvas, double y, double points) {
  const auto total = static_cast<double>(story.tree.boxes.front().weight);
  const TextStyle style{7};
  canvas.text(kLeft, y, "scale", style, kInk2);
  const Axis axis = axis_for(total, words.quantity().bytes);
  const double value = axis.step * axis.unit;
  const double length = total > 0 ? points * value / total : 0;
  const double x = kLeft + 28;
  canvas.painter().stroke(Path().move({x, y - 2.4}).line({x + length, y - 2.4}), {kInk, 1.2});
  canvas.painter().stroke(Path().move({x, y - 5}).line({x, y + 0.2}), {kInk, 0.7});
  canvas.painter().stroke(Path().move({x + length, y - 5}).line({x + length, y + 0.2}), {kInk, 0.7});
  const std::uint64_t shown = value < 9e18 ? static_cast<std::uint64_t>(std::llround(value)) : 0x7fffffffffffffffULL;
  const double w = canvas.text(x + length + 6, y, words.size(shown).append(width_noun(story)), style, kInk2);
  const double room = kRight - (x + length + 6 + w + 14);
  if (room > 60)
    canvas.text(kRight, y, canvas.type().fit_end(printable(story.order_note), style, room), style, kInk3, Align::right);
  return y;
}

double flame_key_height(const FlameStory& story, const FlameWords& words, const FlameLayout& layout) {
  const std::size_t lines = (samples_of(story, words, layout).size() + 1) / 2;
  return kFlameKeyHead + kItem * static_cast<double>(lines) + kSum;
}

double draw_flame_key(const FlameStory& story, const FlameWords& words, const FlameLayout& layout, Canvas& canvas,
                      double y) {
  canvas.text(kLeft, y, "How to read it", {9, FontWeight::semibold}, kInk);
  canvas.rule(kLeft, kRight, y + 6, kInk3, 0.7);
  y += kFlameKeyHead;
  const std::vector<Sample> samples = samples_of(story, words, layout);
  const double column = kWidth / 2;
  const std::size_t lines = (samples.size() + 1) / 2;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t before = i / lines;
    const double x = kLeft + column * static_cast<double>(before);
    const double line = y + kItem * static_cast<double>(i % lines);
    draw_fill(samples[i].fill, canvas, {x, line - 7, 22, 9});
    canvas.text_cut(x + 28, line, samples[i].word, {7.2, FontWeight::semibold}, kInk, 42);
    canvas.text_cut(x + 70, line, samples[i].text, {7.2}, kInk2, column - 76);
  }
  y += kItem * static_cast<double>(lines) + 1;
  canvas.text_within(kLeft, y, sum_text(story, words, layout), {7.2, FontWeight::medium}, kInk, kWidth);
  return y + kSum - 12;
}

}  // namespace snapdiff::render
