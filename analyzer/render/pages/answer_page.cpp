#include "analyzer/render/pages/pages.hpp"

#include <algorithm>
#include <span>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/paint/canvas.hpp"

namespace snapdiff::render {
namespace {

constexpr TextStyle kFigures{10.5};
constexpr TextStyle kEvent{10.5, FontWeight::semibold};
constexpr TextStyle kSmall{7.8};
constexpr double kBadge = 62;    // from the left edge: where names begin
constexpr double kSpark = 62;    // width at the right edge
constexpr double kCulprit = 34;  // height of one, with a name in one line
constexpr double kNameStep = 11;
constexpr std::size_t kFewListed = 5;  // as many lines as a story has culprits at the most
constexpr std::size_t kLines = 4;
constexpr std::size_t kAlsoLines = 10;
constexpr std::size_t kMostModuleLines = 4;
constexpr std::size_t kMostParts = 7;  // of the peak, on one page with the chart and the advice

std::string figures_text(const snapdiff::Story& story) {
  std::string text = story.figures;
  if (story.snapshots > 2 && !story.is_of_peak) text.append(" over ").append(story.extent);
  if (!story.hidden.empty()) text.append("; ").append(story.hidden);
  return text.append(".");
}

/// "filter.cc:5  (std::vector<float>)".
std::string place_text(const Culprit& culprit) {
  std::string text = plain_text(culprit.text.place);
  if (!culprit.text.via.empty())
    text.append(text.empty() ? "(" : "  (").append(plain_text(culprit.text.via)).append(")");
  return text;
}

/// A name in one line; in two where it is longer, broken where its parts meet.
std::vector<std::string> name_lines(const std::string& name, const TextStyle& style, double width, Typesetter& type) {
  if (type.width(name, style) <= width) return {name};
  std::size_t at = 0;
  for (std::size_t i = 1; i < name.size(); ++i) {
    const bool ends_a_part = std::string_view(".:/<( ").find(name[i]) != std::string_view::npos;
    if (ends_a_part && type.width(name.substr(0, i), style) <= width) at = i;
  }
  if (at == 0) return {type.fit_middle(name, style, width)};
  return {name.substr(0, at), type.fit_middle(name.substr(at), style, width)};
}

/// Below the name: where it is, if that does not fit beside it, on how much of the fleet, and how fast.
std::string second_line(const Culprit& culprit, const std::string& place) {
  std::string out = place;
  for (const std::string& part : {culprit.text.spread, plain_text(culprit.text.pace)}) {
    if (!part.empty()) out.append(out.empty() ? "" : "  ").append(part);
  }
  return out;
}

/// Returns its height.
double draw_culprit(const Culprit& culprit, Canvas& canvas, double y) {
  const double right = kRight - kSpark - 10;
  const TextStyle bold{9.4, FontWeight::semibold};
  canvas.badge(kLeft, y, culprit.text.label, 6.6, Align::left);
  const double numbers = 132;
  const double x = kLeft + kBadge;
  const double name_w = right - numbers - x;
  const std::string place = printable(place_text(culprit));
  const std::vector<std::string> names =
      name_lines(printable(plain_text(culprit.text.name)), bold, name_w, canvas.type());
  const double used = canvas.text(x, y, names.front(), bold, kInk);
  const bool beside = names.size() == 1 && used + 8 + canvas.type().width(place, kSmall) <= name_w;
  if (beside) canvas.text(x + used + 8, y, place, kSmall, kInk2);
  const std::int64_t growth = culprit.growth();
  canvas.growth(right - 40, y, growth, culprit.text.growth, bold, growth_color(growth), Align::right);
  canvas.text(right, y, culprit.text.share, {8.8}, kInk2, Align::right);
  if (culprit.values.size() > 2) canvas.sparkline({kRight - kSpark, y - 9, kSpark, 20}, culprit.values);
  const double more = names.size() > 1 ? kNameStep : 0;
  if (more > 0) canvas.text(x, y + more, names.back(), bold, kInk);
  canvas.text_cut(x, y + more + 12.5, second_line(culprit, beside ? std::string() : place), kSmall, kInk2, right - x);
  canvas.rule(kLeft, kRight, y + more + 19, kLine, 0.4);
  return kCulprit + more;
}

double draw_text(const Prose& text, Canvas& canvas, double y, const TextStyle& style, Color color,
                 std::size_t lines = kLines) {
  return draw_prose(wrap_prose(text, canvas.type(), style, kWidth, lines), canvas, kLeft, y, style, color);
}

/// Further sentences of the story.
Prose also_text(const snapdiff::Story& story) {
  Prose out;
  const auto add = [&out](const std::vector<Prose>& lines) {
    for (const Prose& line : lines) {
      if (!out.empty()) out.push_back({"; "});
      out.insert(out.end(), line.begin(), line.end());
    }
  };
  add(story.also);
  if (story.peak != nullptr) add(story.peak->advice);
  if (!story.no_verdict.empty()) out.push_back({(out.empty() ? "" : "; ") + story.no_verdict});
  if (!out.empty()) out.push_back({"."});
  return out;
}

/// Bytes in use below calls of modules, a line each.
double draw_modules(const std::vector<Prose>& modules, Canvas& canvas, double y) {
  if (modules.empty()) return y;
  canvas.text(kLeft, y, "Below calls of modules", {9, FontWeight::semibold}, kInk);
  y += 14;
  for (std::size_t i = 0; i < modules.size() && i < kMostModuleLines; ++i) {
    canvas.text_cut(kLeft, y, plain_text(modules[i]), kSmall, kInk2, kWidth);
    y += 12;
  }
  return y + 8;
}

double draw_next(const snapdiff::Story& story, Canvas& canvas, double y) {
  if (story.next.empty()) return y;
  canvas.text(kLeft, y, "Next", {9, FontWeight::semibold}, kInk);
  return draw_prose(wrap_prose(story.next, canvas.type(), {8, FontWeight::regular, true}, kWidth - kBadge, kLines),
                    canvas, kLeft + kBadge, y, {8, FontWeight::regular, true}, kInk);
}

/// The culprits (what was freed where that outweighs them) in lines, from y on. Returns the lowest baseline.
double draw_culprits(const GrowthReport& report, Canvas& canvas, double y) {
  const snapdiff::Story& story = told(report);
  double line = y;
  const auto draw_list = [&](std::string_view title, std::span<const Culprit> list) {
    if (list.empty()) return;
    canvas.text(kLeft, line, title, {9, FontWeight::semibold}, kInk);
    canvas.rule(kLeft, kRight, line + 6, kInk3, 0.7);
    line += 21;
    for (const Culprit& culprit : list) {
      line += draw_culprit(culprit, canvas, line);
    }
    line += 2;
  };
  draw_list("Freed by", story.freed);
  draw_list("Culprits", story.culprits);
  if (story.peak != nullptr && story.culprits.empty())
    draw_list(story.peak->facts.has_history ? "At the peak" : "What it holds",
              std::span(story.peak->parts).first(std::min(story.peak->parts.size(), kMostParts)));
  if (!story.no_culprit.empty() && story.freed.empty())
    line = draw_text({{"No culprit: " + story.no_culprit + "."}}, canvas, line, kFigures, kInk) + 17;
  return line;
}

}  // namespace

namespace {

/// What ended the process is the title; a restart or a damaged input is a remark beside the answer.
bool has_failed(const snapdiff::Story& story) {
  return !story.events.empty() && story.events.front().kind == Event::Kind::out_of_memory;
}

/// Of the page, for the plot: the fewer lines are listed, the taller it is.
double room_left(const snapdiff::Story& story) {
  const std::size_t listed = story.culprits.size() + story.freed.size() +
                             (story.peak != nullptr ? std::min(story.peak->parts.size(), kMostParts) : 0);
  return story.snapshots > 2 ? kCulprit * static_cast<double>(kFewListed - std::min(listed, kFewListed)) : 0;
}

}  // namespace

std::string answer_title(const GrowthReport& report) {
  const snapdiff::Story& story = told(report);
  return has_failed(story) ? printable(story.events.front().title) : headline(report);
}

double draw_events(const GrowthReport& report, Canvas& canvas, double y) {
  const snapdiff::Story& story = told(report);
  for (const Event& event : story.events) {
    Prose text = {{event.title + ": "}};
    text.insert(text.end(), event.text.begin(), event.text.end());
    text.push_back({"."});
    y = draw_text(text, canvas, y, kEvent, kInk) + 17;
  }
  if (has_failed(story)) y = draw_text({{headline(report) + "."}}, canvas, y, kFigures, kInk) + 17;
  return y;
}

double draw_answer(const Story& story, Canvas& canvas, const std::string& remark) {
  const GrowthReport& report = story.overall;
  const snapdiff::Story& says = told(report);
  canvas.badge(kRight, kTop + 34, says.verdict, 9.5, Align::right);
  double y = kTop + 58;
  if (!remark.empty()) {
    canvas.text_cut(kLeft, y, remark, {8.4, FontWeight::semibold}, kInk, kWidth);
    y += 17;
  }
  y = draw_events(report, canvas, y);
  y = draw_text({{figures_text(says)}}, canvas, y, kFigures, kInk) + 26;
  y = draw_plot(story, canvas, y, plot_height(story) + room_left(says)) + 26;
  y = draw_culprits(report, canvas, y);
  if (says.is_of_peak) y = draw_modules(says.peak->modules, canvas, y);
  if (const Prose also = also_text(says); !also.empty()) y = draw_text(also, canvas, y, {8.6}, kInk2, kAlsoLines) + 20;
  return draw_next(says, canvas, y + 6);
}

}  // namespace snapdiff::render
