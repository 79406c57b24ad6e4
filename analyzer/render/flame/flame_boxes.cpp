#include "analyzer/render/flame/flame_boxes.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/render/paint/style.hpp"

namespace snapdiff::render {
namespace {

constexpr double kRowGap = 1.3;
constexpr double kBoxGap = 0.9;
constexpr double kPad = 4;
/// Rows from here on have a line for the name and one for the figures.
constexpr double kTwoLines = 25;

TextStyle name_style(double row_height, bool plain) {
  const double size = row_height >= kTwoLines ? 8 : std::clamp(row_height * 0.62, 6.0, 7.8);
  return {size, plain ? FontWeight::regular : FontWeight::semibold};
}

TextStyle figure_style(double row_height) {
  return {row_height >= kTwoLines ? 7.4 : std::clamp(row_height * 0.58, 5.8, 7.2), FontWeight::regular};
}

double clamped_share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0; }

double size_of_net(const FlameMark& mark) {
  return std::fabs(static_cast<double>(mark.grew) + static_cast<double>(mark.shrank));
}

FlameFill fill_of(const FlameMark& mark, const FlameWords& words, double most) {
  FlameFill fill;
  const auto weight = static_cast<double>(mark.weight);
  if (words.shows_gone()) fill.gone = clamped_share(-static_cast<double>(mark.shrank), weight);
  if (words.shows_grown()) fill.grown = std::min(clamped_share(static_cast<double>(mark.grew), weight), 1 - fill.gone);
  // Rounding must leave no sliver of a third part.
  fill.same = words.shows_same() ? std::max(0.0, 1 - fill.gone - fill.grown) : 0;
  if (!words.shows_same() && fill.gone == 0) fill.grown = 1;
  if (!words.shows_same() && fill.gone > 0) fill.grown = 1 - fill.gone;
  const double net = size_of_net(mark);
  const double parts = static_cast<double>(mark.grew) - static_cast<double>(mark.shrank);
  fill.strength = std::sqrt(clamped_share(net, parts)) * (0.5 + 0.5 * std::sqrt(clamped_share(net, most)));
  fill.unsure = words.is_unsure(mark);
  fill.kind = mark.kind;
  fill.role = words.role_color(mark.box);
  fill.is_new = words.begins_new(mark);
  fill.is_gone = words.begins_gone(mark);
  return fill;
}

/// By |net| / width and by the root of |net| / largest |net|, never by percent of before: what only turned over is
/// pale, and so is what is small.
Color shade(const Ramp& ramp, double strength) {
  return mix(kPaper, ramp.c300, 0.22 + 0.68 * std::clamp(strength, 0.0, 1.0));
}

/// Where the components of a name begin: after "::", "." and "/" outside brackets, and at the "+" of an address.
std::vector<std::size_t> components(const std::string& name) {
  std::vector<std::size_t> out;
  // "app/cache.py:52" is a place: its dot parts nothing.
  const std::size_t colon = name.rfind(':');
  const bool is_place = colon != std::string::npos && colon + 1 < name.size() &&
                        name.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
    if (depth > 0 || i == 0 || i + 1 == name.size()) continue;
    if (((c == '.' && !is_place) || c == '/' || (c == ':' && name[i - 1] == ':')) && name[i + 1] != c)
      out.push_back(i + 1);
    if (c == '+' && name.compare(i, 3, "+0x") == 0) out.push_back(i);
  }
  return out;
}

/// The name, or its last components, or at least the beginning of the last one; "" where not even four letters fit.
std::string fitted_name(const std::string& name, const TextStyle& style, double room, Canvas& canvas) {
  if (canvas.width(name, style) <= room) return name;
  const std::vector<std::size_t> starts = components(name);
  for (const std::size_t at : starts) {
    std::string shorter = std::string("\u2026").append(name, at);
    const double w = canvas.width(shorter, style);
    if (w > room) continue;
    // A short last word of a long name says little.
    return room >= 80 && w < room / 2 ? canvas.type().fit_middle(name, style, room) : shorter;
  }
  // A long last component loses its middle where that leaves enough of it, else its end.
  const std::string last = starts.empty() ? name : name.substr(starts.back());
  if (room < style.size * 3.4 || last.starts_with("+0x")) return "";  // no number is ever cut
  return room >= 60 ? canvas.type().fit_middle(room >= 120 ? name : last, style, room)
                    : canvas.type().fit_end(last, style, room);
}

class BoxDrawing {
 public:
  BoxDrawing(const FlamePicture& picture, const FlameWords& words, Canvas& canvas, double top)
      : picture_(picture), words_(words), canvas_(canvas), top_(top) {
    for (const FlameMark& mark : picture.layout.marks) most_ = std::max(most_, size_of_net(mark));
  }

  void draw(std::size_t i) {
    const FlameMark& mark = picture_.layout.marks[i];
    Painter& painter = canvas_.painter();
    const Box box{kLeft + mark.x, top_ + mark.row * picture_.row_height, std::max(mark.w - kBoxGap, 0.25),
                  picture_.row_height - kRowGap};
    painter.begin_item(words_.title(mark));
    if (i < picture_.links.size() && !picture_.links[i].empty())
      painter.anchor(std::string(picture_.anchors).append(std::to_string(i)), {box.x, box.y - 12});
    painter.begin_link(i < picture_.links.size() ? picture_.links[i] : "");
    fill_ = fill_of(mark, words_, most_);
    draw_fill(fill_, canvas_, box);
    label(mark, box);
    painter.end_link();
    painter.end_item();
  }

 private:
  /// Whether a box has room for at least four letters of its name.
  bool has_room_for_name(const FlameMark& mark) const {
    if (mark.w < 10) return false;
    const double height = picture_.row_height;
    const double room = mark.w - kBoxGap - (height >= kTwoLines ? 2 * kPad : std::min(2 * kPad, mark.w * 0.12));
    return !fitted_name(words_.name(mark), name_style(height, plain(mark)), room, canvas_).empty();
  }

  bool plain(const FlameMark& mark) const { return mark.kind != FlameMark::Kind::frame; }

  void label(const FlameMark& mark, const Box& box) {
    if (!has_room_for_name(mark)) return;
    if (picture_.row_height >= kTwoLines) {
      two_lines(mark, box);
    } else {
      one_line(mark, box);
    }
  }

  Color figure_color(const FlameMark& mark) const {
    if (!words_.two_sided() || fill_.unsure) return kOnFill;
    const std::int64_t net = mark.grew + mark.shrank;
    return net > 0 && fill_.grown > 0 ? kGrow.c900 : net < 0 && fill_.gone > 0 ? kShrink.c900 : kOnFill;
  }

  void two_lines(const FlameMark& mark, const Box& box) {
    const TextStyle style = name_style(picture_.row_height, plain(mark));
    const TextStyle small = figure_style(picture_.row_height);
    const double room = box.w - 2 * kPad;
    const double x = box.x + kPad;
    const double middle = box.y + box.h / 2;
    const double first = middle - 3.2;
    const double second = middle + 9.2;
    const bool both = mark.kind != FlameMark::Kind::run && words_.shows_gone() && mark.grew != 0 && mark.shrank != 0;
    const std::string name = words_.name(mark);
    const std::string gone = words_.quantity().growth(mark.shrank);
    const std::string grown = words_.quantity().growth(mark.grew);
    // Each part says its own figure where both have room for it; the net is beside the name.
    if (both && box.w * fill_.gone > canvas_.width(gone, small) + 2 * kPad &&
        box.w * fill_.grown > canvas_.width(grown, small) + 2 * kPad) {
      const std::string net = words_.figures(mark)[1];
      const double net_w = canvas_.width(net, style) + 8;
      const bool net_fits = room - net_w > std::min(60.0, canvas_.width(name, style));
      const double w = named(x, first, name, style, net_fits ? room - net_w : room, box);
      if (net_fits) put(x + w + 8, first, net, style, kInk, box);
      put(x, second, gone, small, fill_.unsure ? kOnFill : kShrink.c900, box);
      put(box.x + box.w * fill_.gone + kPad + 2, second, grown, small, fill_.unsure ? kOnFill : kGrow.c900, box);
      return;
    }
    named(x, first, name, style, room, box);
    for (const std::string& figure : words_.figures(mark)) {
      if (figure.empty() || canvas_.width(figure, small) > room) continue;
      put(x, second, figure, small, figure_color(mark), box);
      return;
    }
  }

  void one_line(const FlameMark& mark, const Box& box) {
    const TextStyle style = name_style(picture_.row_height, plain(mark));
    const TextStyle small = figure_style(picture_.row_height);
    const double pad = std::min(kPad, box.w * 0.06);
    const double room = box.w - 2 * pad;
    const double line = box.y + box.h / 2 + style.size * 0.36;
    const std::string name = words_.name(mark);
    const double full = canvas_.width(name, style);
    const std::vector<std::string> figures = words_.figures(mark);
    // The longest figure beside the whole name; else the shortest beside a shortened one, if most of it stays.
    for (std::size_t f = 0; f < figures.size(); ++f) {
      const double figure_w = canvas_.width(figures[f], small) + 6;
      const double least = f + 1 == figures.size() ? std::min(full, std::max(70.0, full * 0.6)) : full;
      if (room - figure_w < least) continue;
      const double w = named(box.x + pad, line, name, style, room - figure_w, box);
      put(box.x + pad + w + 6, line, figures[f], small, figure_color(mark), box);
      return;
    }
    named(box.x + pad, line, name, style, room, box);
  }

  double named(double x, double y, const std::string& name, const TextStyle& style, double room, const Box& box) {
    const std::string shown = fitted_name(name, style, room, canvas_);
    return put(x, y, shown, style, plain_ink(), box);
  }
  Color plain_ink() const { return fill_.kind == FlameMark::Kind::frame ? kInk : kOnFill; }

  /// A text; on hatching it lies on a plate.
  double put(double x, double y, const std::string& text, const TextStyle& style, Color color, const Box& box) {
    const double w = canvas_.width(text, style);
    const double hatched = box.x + box.w * fill_.gone;
    if (fill_.gone > 0 && x < hatched)
      canvas_.rect({x - 2, y - style.size * 0.92, w + 4, style.size * 1.24}, kPaper, 1);
    canvas_.text(x, y, text, style, color);
    return w;
  }

  const FlamePicture& picture_;
  const FlameWords& words_;
  Canvas& canvas_;
  double top_;
  double most_ = 0;  ///< largest |net|
  FlameFill fill_;
};

std::int64_t capped(std::uint64_t weight) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(weight, 0x7fffffffffffffffULL));
}

}  // namespace

void draw_fill(const FlameFill& fill, Canvas& canvas, const Box& box) {
  const double gone = box.w * fill.gone;
  const double same = box.w * fill.same;
  const double grown = box.w - gone - same;
  const bool folded =
      fill.kind == FlameMark::Kind::merged || fill.kind == FlameMark::Kind::deeper || fill.kind == FlameMark::Kind::run;
  const double strength = folded ? 0 : fill.strength;
  if (gone > 0) {
    const Box part{box.x, box.y, gone, box.h};
    const Color ground = fill.role ? mix(kPaper, *fill.role, 0.4) : mix(kPaper, shade(kShrink, strength), 0.6);
    const Color lines = fill.role ? mix(*fill.role, kInk, 0.4) : kShrink.c500;
    canvas.rect(part, fill.unsure ? kPanel : ground);
    canvas.hatched(part, fill.unsure ? kInk3 : lines, 3.4, fill.unsure ? 0.4 : 0.7);
  }
  if (same > 0) canvas.rect({box.x + gone, box.y, same, box.h}, fill.role.value_or(kOther));
  if (fill.grown > 0 && grown > 0)
    canvas.rect({box.x + gone + same, box.y, grown, box.h},
                fill.unsure ? kLine : fill.role.value_or(shade(kGrow, strength)));
  // Between two parts of opposite sign.
  if (gone > 2.5 && fill.grown > 0)
    canvas.painter().stroke(Path().move({box.x + gone, box.y}).line({box.x + gone, box.y + box.h}), {kInk, 1});
  if (box.w < 4) return;
  const Box inner{box.x + 0.4, box.y + 0.4, box.w - 0.8, box.h - 0.8};
  if (folded) canvas.frame(inner, {kInk3, 0.6, 1, 1.6});
  if (fill.is_gone) canvas.frame(inner, {kShrink.c700, 0.8, 2.4, 1.8});
  if (fill.is_new) canvas.frame(inner, {kGrow.c700, 0.8});
}

void draw_boxes(const FlamePicture& picture, const FlameWords& words, Canvas& canvas, double top) {
  BoxDrawing drawing(picture, words, canvas, top);
  for (std::size_t i = 0; i < picture.layout.marks.size(); ++i) drawing.draw(i);
}

bool FlameWords::is_unsure(const FlameMark& mark) const {
  return two_sided() &&
         document::within_error(static_cast<double>(mark.grew) + static_cast<double>(mark.shrank), mark.error);
}

std::string FlameWords::root_name() const { return !two_sided() ? "all" : shows_gone() ? "all change" : "all after"; }

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
  if (shows_same()) {
    const auto all = static_cast<double>(story_.tree.boxes.front().weight);
    if (mark.row == 0 || all <= 0) return {weight};
    return {concat(weight, "  ", share_text(static_cast<double>(mark.weight) / all)), weight};
  }
  const bool unsure = is_unsure(mark);
  const auto growth = [&](std::int64_t v) { return (unsure ? std::string("~") : std::string()).append(q_.growth(v)); };
  const std::string net = growth(mark.grew + mark.shrank);
  if (mark.grew == 0 || mark.shrank == 0) return {net};
  const std::string parts = q_.growth(mark.grew).append(" ").append(q_.growth(mark.shrank));
  return {concat("net ", net, ": ", parts), std::string("net ").append(net), net};
}

std::vector<std::string> FlameWords::path(const FlameMark& mark) const {
  constexpr std::size_t kMostNames = 200;  // far more than a line has room for; the root side is given up
  std::vector<std::string> out;
  for (std::uint32_t box = mark.box; box != 0 && out.size() < kMostNames; box = story_.tree.boxes[box].parent)
    out.push_back(frame_name(story_.tree.frames[story_.tree.boxes[box].name]));
  std::ranges::reverse(out);
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
