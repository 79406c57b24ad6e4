#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

constexpr double kPartHeight = 30;  // points: two bars and a gap
constexpr double kPartBar = 8;
constexpr double kBars = kLeft + 168;  // left end of the bars
constexpr double kBarsWidth = 160;     // the first figure begins 15 points behind the bars
constexpr double kFirst = kRight - 124, kLast = kRight - 62;

std::string amount_of(const std::optional<std::int64_t>& bytes) { return bytes ? size_text(*bytes) : std::string("?"); }

/// A part: its name, bars of both moments on one scale, their figures, the growth.
void draw_part(Canvas& canvas, double y, const std::string& name, const std::string& source,
               const WaterfallAmount& bytes, double scale, bool leads) {
  const FontWeight weight = leads ? FontWeight::semibold : FontWeight::regular;
  canvas.text_within(kLeft, y + 9, name, {8.4, weight}, kInk, kBars - kLeft - 8);
  canvas.text_within(kLeft, y + 19, source, {6.8}, kInk3, kBars - kLeft - 8);
  const auto width = [scale](const std::optional<std::int64_t>& v) {
    return std::max(0.0, static_cast<double>(v.value_or(0)) * scale);
  };
  if (bytes.before) canvas.rect({kBars, y + 1, width(bytes.before), kPartBar}, kLine);
  canvas.rect({kBars, y + 2 + kPartBar, width(bytes.after), kPartBar}, leads ? kGrow.c500 : kInk3);
  canvas.text(kFirst, y + 13, amount_of(bytes.before), {8.2}, kInk2, Align::right);
  canvas.text(kLast, y + 13, amount_of(bytes.after), {8.2, weight}, kInk, Align::right);
  if (const auto growth = bytes.growth()) {
    canvas.text(kRight, y + 13, size_growth_text(*growth), {8.2, weight}, growth_color(*growth, kInk2), Align::right);
  }
}

void draw_resident(const Waterfall& resident, Canvas& canvas) {
  double y = kTop + 58;
  if (!resident.says.empty()) {
    constexpr TextStyle kSentence{10.5};
    std::string sentence = "Growth of RSS: ";
    sentence.append(resident.says).append(".");
    y = draw_prose(wrap_prose({{std::move(sentence)}}, canvas.type(), kSentence, kWidth, 3), canvas, kLeft, y,
                   kSentence, kInk) +
        22;
  }
  draw_section(canvas, y, "RSS and its parts", "first above, last below");
  y += 16;
  canvas.text(kFirst, y, "first", {7.4}, kInk3, Align::right);
  canvas.text(kLast, y, "last", {7.4}, kInk3, Align::right);
  canvas.text(kRight, y, "growth", {7.4}, kInk3, Align::right);
  y += 6;
  std::int64_t most = 1;
  const auto meet = [&most](const WaterfallAmount& bytes) {
    most = std::max({most, bytes.before.value_or(0), bytes.after.value_or(0)});
  };
  meet(resident.rss);
  for (const WaterfallPart& part : resident.parts) meet(part.bytes);
  const double scale = kBarsWidth / static_cast<double>(most);
  std::size_t left = 0;
  for (std::size_t i = 0; i < resident.parts.size(); ++i) {
    const WaterfallPart& part = resident.parts[i];
    if (part.bytes.before.value_or(0) == 0 && part.bytes.after.value_or(0) == 0) continue;
    if (y + 2 * kPartHeight > kBottom - 60) {
      ++left;
      continue;
    }
    draw_part(canvas, y, printable(part.name), printable(part.source), part.bytes, scale, resident.leader == i);
    canvas.rule(kLeft, kRight, y + kPartHeight - 5, kLine, 0.3);
    y += kPartHeight;
  }
  if (left > 0) {
    canvas.text(kLeft, y + 9, counted(left, "more part").append(" in the JSON report"), {7.4}, kInk2);
    y += 16;
  }
  draw_part(canvas, y, "RSS", printable(resident.rss_source), resident.rss, scale, false);
  y += kPartHeight + 8;
  for (const std::string& unseen : resident.unseen) {
    if (y > kBottom - 6) break;
    canvas.text_cut(kLeft, y, concat("Not seen: ", unseen), {8}, kInk2, kWidth);
    y += 13;
  }
}

}  // namespace

void plan_resident(PostmortemPages& pages) {
  pages.plan.add({"Parts of resident memory", "Which part of RSS grew?", "",
                  [&pages](PdfDocument& document) { draw_resident(*pages.report.resident, document.canvas()); }});
}

}  // namespace snapdiff::render
