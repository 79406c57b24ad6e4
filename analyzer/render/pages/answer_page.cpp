#include "analyzer/render/pages/pages.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "analyzer/document/answer_parts.hpp"
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
constexpr double kBelowPlot = 26, kAboveTable = 26;
constexpr double kMostPlotGrowth = 130;  // of a page without a table
constexpr std::size_t kLines = 4;
constexpr std::size_t kAlsoLines = 10;
constexpr std::size_t kMostModuleLines = 4;
constexpr std::size_t kMostInList = 10, kLeastInList = 5;  // rows of a list; a peak has at most ten parts

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

Block culprit_block(const Culprit& culprit, Typesetter& type) {
  constexpr double kNumbers = 132;
  const double right = kRight - kSpark - 10;
  const TextStyle bold{9.4, FontWeight::semibold};
  const double x = kLeft + kBadge;
  const double name_w = right - kNumbers - x;
  std::vector<std::string> names = name_lines(printable(plain_text(culprit.text.name)), bold, name_w, type);
  const double more = names.size() > 1 ? kNameStep : 0;
  return {kCulprit + more, [=, &culprit, names = std::move(names)](Canvas& canvas, double y) {
            canvas.badge(kLeft, y, culprit.text.label, 6.6, Align::left);
            const std::string place = printable(place_text(culprit));
            const double used = canvas.text(x, y, names.front(), bold, kInk);
            const bool beside = more == 0 && used + 8 + canvas.type().width(place, kSmall) <= name_w;
            if (beside) canvas.text(x + used + 8, y, place, kSmall, kInk2);
            const std::int64_t growth = culprit.growth();
            canvas.growth(right - 40, y, growth, culprit.text.growth, bold, growth_color(growth), Align::right);
            canvas.text(right, y, culprit.text.share, {8.8}, kInk2, Align::right);
            if (culprit.values.size() > 2) canvas.sparkline({kRight - kSpark, y - 9, kSpark, 20}, culprit.values);
            if (more > 0) canvas.text(x, y + more, names.back(), bold, kInk);
            canvas.text_cut(x, y + more + 12.5, second_line(culprit, beside ? std::string() : place), kSmall, kInk2,
                            right - x);
            canvas.rule(kLeft, kRight, y + more + 19, kLine, 0.4);
          }};
}

/// `below`: points from its last line to the first one of the next block.
Block text_block(const Prose& text, Typesetter& type, const TextStyle& style, Color color, double below,
                 std::size_t most = kLines, double x = kLeft) {
  std::vector<ProseLine> lines = wrap_prose(text, type, style, kRight - x, most);
  const double height = line_step(style) * (static_cast<double>(std::max<std::size_t>(lines.size(), 1)) - 1) + below;
  return {height,
          [=, lines = std::move(lines)](Canvas& canvas, double y) { draw_prose(lines, canvas, x, y, style, color); }};
}

Block cut_line(double height, std::string text, const TextStyle& style, Color color) {
  return {height, [=](Canvas& canvas, double y) { canvas.text_cut(kLeft, y, text, style, color, kWidth); }};
}

/// What ended the process is the title; a restart or a damaged input is a remark beside the answer.
bool has_failed(const snapdiff::Story& story) {
  return !story.events.empty() && story.events.front().kind == Event::Kind::out_of_memory;
}

/// The blocks of page 1 but for the timeline. The upper edge of a block is the baseline of its first line.
class Answer {
 public:
  /// `most`: that a list shows.
  Answer(const Story& story, Typesetter& type, std::size_t most, std::vector<Block>& blocks)
      : story_(story), says_(told(story.overall)), type_(type), most_(most), blocks_(blocks) {}

  void above_plot(const std::string& remark) {
    if (!remark.empty()) blocks_.push_back(cut_line(17, remark, {8.4, FontWeight::semibold}, kInk));
    for (Block& block : event_blocks(story_.overall, type_)) blocks_.push_back(std::move(block));
    blocks_.push_back(text_block(document::answer_figures(says_), type_, kFigures, kInk, 26));
  }

  /// The culprits, what was freed where that outweighs them, or what the peak holds; what else is known; what to do.
  void below_plot() {
    for (const document::CulpritList& one : document::culprit_lists(says_)) list(one);
    if (!says_.no_culprit.empty() && says_.freed.empty())
      blocks_.push_back(text_block({{"No culprit: " + says_.no_culprit + "."}}, type_, kFigures, kInk, 24));
    if (says_.is_of_peak) modules(says_.peak->modules);
    if (const Prose remarks = document::answer_remarks(says_); !remarks.empty())
      blocks_.push_back(text_block(remarks, type_, {8.6}, kInk2, 26, kAlsoLines));
    if (!says_.next.empty()) next();
  }

 private:
  void list(const document::CulpritList& list) {
    blocks_.push_back({21, [title = list.title](Canvas& canvas, double y) {
                         canvas.text(kLeft, y, std::string(title), {9, FontWeight::semibold}, kInk);
                         canvas.rule(kLeft, kRight, y + 6, kInk3, 0.7);
                       }});
    for (const Culprit& culprit : list.culprits.first(std::min(list.culprits.size(), most_)))
      blocks_.push_back(culprit_block(culprit, type_));
    blocks_.back().height += 2;
  }

  /// Bytes in use below calls of modules, a line each.
  void modules(const std::vector<Prose>& modules) {
    if (modules.empty()) return;
    blocks_.push_back(cut_line(14, "Below calls of modules", {9, FontWeight::semibold}, kInk));
    for (std::size_t i = 0; i < modules.size() && i < kMostModuleLines; ++i)
      blocks_.push_back(cut_line(12, plain_text(modules[i]), kSmall, kInk2));
    blocks_.back().height += 8;
  }

  void next() {
    Block command =
        text_block(says_.next, type_, {8, FontWeight::regular, true}, kInk, kAboveTable, kLines, kLeft + kBadge);
    blocks_.push_back({command.height, [draw = std::move(command.draw)](Canvas& canvas, double y) {
                         canvas.text(kLeft, y, "Next", {9, FontWeight::semibold}, kInk);
                         draw(canvas, y);
                       }});
  }

  const Story& story_;
  const snapdiff::Story& says_;
  Typesetter& type_;
  std::size_t most_;
  std::vector<Block>& blocks_;
};

}  // namespace

std::string answer_title(const GrowthReport& report) {
  const snapdiff::Story& story = told(report);
  return has_failed(story) ? printable(story.events.front().title) : headline(report);
}

std::vector<Block> event_blocks(const GrowthReport& report, Typesetter& type) {
  const snapdiff::Story& story = told(report);
  std::vector<Block> blocks;
  for (const Event& event : story.events) {
    Prose text = {{event.title + ": "}};
    text.insert(text.end(), event.text.begin(), event.text.end());
    text.push_back({"."});
    blocks.push_back(text_block(text, type, kEvent, kInk, 17));
  }
  if (has_failed(story)) blocks.push_back(text_block({{headline(report) + "."}}, type, kFigures, kInk, 17));
  return blocks;
}

void plan_answer(ComparisonPages& pages, const std::string& question, const std::string& remark) {
  const Story& story = pages.story;
  constexpr double kAnswerTop = kTop + 58;
  double plot_room = plot_height(story);
  std::vector<Block> blocks;
  std::size_t plot = 0;
  double room = -1;
  for (std::size_t most = kMostInList; room < 0 && most >= kLeastInList; --most) {
    blocks.clear();
    Answer answer(story, pages.type, most, blocks);
    answer.above_plot(remark);
    plot = blocks.size();
    blocks.emplace_back();
    answer.below_plot();
    room = kBottom - 6 - kAnswerTop - plot_room - kBelowPlot;
    for (const Block& block : blocks) room -= block.height;
  }
  // A peak without culprits has its parts in the list, and hardly any growth for a table.
  const snapdiff::Story& says = told(story.overall);
  if (says.peak == nullptr || !says.culprits.empty()) pages.table = stack_table(story, room);
  const bool has_table = !pages.table.rows.empty();
  if (has_table) room -= table_height(pages.table, pages.table.rows.size());
  if (story.steps.size() > 2) plot_room += std::clamp(room, 0.0, kMostPlotGrowth);
  blocks[plot] = {plot_room + kBelowPlot,
                  [&story, plot_room](Canvas& canvas, double y) { draw_plot(story, canvas, y, plot_room); }};
  pages.plan.add({answer_title(story.overall), question, "",
                  [&pages, has_table, blocks = std::move(blocks)](PdfDocument& document) {
                    Canvas& canvas = document.canvas();
                    canvas.badge(kRight, kTop + 34, told(pages.story.overall).verdict, 9.5, Align::right);
                    const double y = draw_blocks(blocks, canvas, kAnswerTop);
                    if (has_table) draw_table(pages.table, canvas, y);
                  }});
}

}  // namespace snapdiff::render
