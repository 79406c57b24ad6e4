#include "analyzer/render/flame/flame_boxes.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/render/chart/chart.hpp"
#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "analyzer/render/paint/style.hpp"

namespace snapdiff::render {
namespace {

/// Rows of boxes: no higher than this, and no lower than a text of kSmallestText needs.
constexpr double kHighestRow = 38;
constexpr double kLowestRow = 9.6;
/// More of them than this make a tower of a narrow run.
constexpr std::uint32_t kGoodRows = 26;
constexpr std::size_t kMostTableRows = 24;
constexpr std::size_t kLeastTableRows = 8;
/// Boxes narrower than this are merged: they are too narrow to distinguish. Where the cursor shows names and pages can
/// be enlarged, they may be smaller.
constexpr double kLeastBox = 8;
constexpr double kLeastBoxOnScreen = 2;
constexpr double kScale = 20;
constexpr double kFlamePageGap = 18;
/// Of a picture without a page; a page has less.
constexpr double kHighestPicture = 1500;

std::string sentence_of(const FlameStory& story, const FlameWords& words) {
  const FlameBox& root = story.tree.boxes.front();
  const Quantity& q = words.quantity();
  std::string text;
  const std::string callers = " Callers stand above their callees.";
  if (story.tree.by_role && !story.two_sided)
    return std::string("Width and colour: how much the snapshot holds of what role.").append(callers);
  if (!story.two_sided) return std::string("Width is what the snapshot holds.").append(callers);
  if (root.weight == 0) {
    return words.shows_gone() ? "No stack changed between the two snapshots." : "The newer snapshot holds nothing.";
  }
  if (!words.shows_gone()) {
    text = "Width is the value after.";
    if (!story.tree.by_role) text.append(" Orange: what came in addition.");
  } else if (root.grew != 0 && root.shrank != 0) {
    text = std::string("Both sides in one picture. Width is growth plus shrinkage, so a net of ")
               .append(q.growth(root.value.growth()));
    text.append(" does not hide ").append(q.value(root.grew)).append(" that grew and ");
    text.append(q.size(root.shrank)).append(" that went. Left and hatched: gone. Right and solid: grown.");
  } else {
    text = std::string("Both sides in one picture. Width is growth plus shrinkage; nothing ");
    text.append(root.grew != 0 ? "shrank, so it is growth alone." : "grew, so it is shrinkage alone.");
  }
  if (story.tree.by_role) text.append(" Colour is the role.");
  return text.append(callers);
}

std::string title_of(const FlameStory& story, const FlameWords& words) {
  const FlameBox& root = story.tree.boxes.front();
  const Quantity& q = words.quantity();
  const std::string what = metric_title(story.tree.metric);
  const auto value = [&](const char* when, std::int64_t v) { return concat(what, when, q.value(v)); };
  if (!story.two_sided) return value(": ", root.value.current);
  if (!words.shows_gone()) return value(" after: ", root.value.current);
  if (root.weight == 0) return std::string(what).append(": no change");
  std::string text = std::string(what).append(": ");
  text.append(root.grew == 0 ? std::string("nothing") : q.value(root.grew)).append(" added, ");
  return text.append(root.shrank == 0 ? std::string("nothing") : q.size(root.shrank)).append(" freed");
}

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
  const auto any = [&](auto holds) { return std::ranges::any_of(layout.marks, holds); };
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
    out.push_back({"here", "allocated in the frame itself, not in a callee", words.shows_same() ? same : grown});
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
  return !story.two_sided ? "" : story.tree.width == FlameWidth::change ? " of change" : " after";
}

/// "drawn to the end 8.52 MiB (14 frames) + merged 138 KiB (23 frames) = total 8.66 MiB of change"
std::string sum_text(const FlameStory& story, const FlameWords& words, const FlameLayout& layout) {
  const std::uint64_t total = story.tree.boxes.front().weight;
  std::string text = std::string("drawn to the end ").append(words.size(layout.drawn));
  const std::uint64_t drawn = layout.drawn_boxes > 0 ? layout.drawn_boxes - 1 : 0;  // without the root
  text.append(" (").append(counted(drawn, "frame")).append(") + merged ").append(words.size(layout.merged));
  text.append(" (").append(counted(layout.merged_boxes, "frame")).append(") = total ").append(words.size(total));
  text.append(width_noun(story));
  if (layout.folded_boxes > 0)
    text.append("; ").append(counted(layout.folded_boxes, "frame")).append(" in rows of single callees folded");
  if (layout.cut_levels > 0)
    text.append("; ").append(counted(layout.cut_levels, "level")).append(" deeper than the page");
  return text;
}

/// "scale ---- 1 MiB of change"; `points` is the width of all boxes.
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

/// "How to read it": samples of what the picture holds, and the sum of widths.
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

class FlameContent {
 public:
  FlameContent(const FlameStory& story, Canvas& canvas, const std::string& prefix, double least_width)
      : story_(story), words_(story), canvas_(canvas), prefix_(prefix), least_(least_width) {}

  double draw(double top, double bottom) {
    const TextStyle style{8.6};
    double y = canvas_.paragraph(top, sentence_of(story_, words_), style, kInk2, 3) + 16;
    if (story_.tree.boxes.front().weight == 0) return y;
    fit(std::min(bottom - y, kHighestPicture + 400));
    draw_boxes(picture_, words_, canvas_, y);
    y += picture_.row_height * picture_.layout.rows + 13;
    draw_flame_scale(story_, words_, canvas_, y, kWidth);
    y = draw_flame_key(story_, words_, picture_.layout, canvas_, y + kScale) + kFlamePageGap;
    return draw_flame_table(story_, words_, picture_, table_, prefix_, canvas_, y);
  }

 private:
  double below(std::size_t table_rows) {
    table_ = choose_ends(picture_.layout, table_rows);
    return 13 + kScale + flame_key_height(story_, words_, picture_.layout) + kFlamePageGap + flame_table_height(table_);
  }

  /// Rows as high as they may be beside a short table; then as much of the table as fits.
  void fit(double room) {
    const auto rows_in = [](double height) {
      return static_cast<std::uint32_t>(std::max(2.0, std::min(height, kHighestPicture) / kLowestRow));
    };
    const auto place = [&](double height) {
      const std::uint32_t most = rows_in(height);
      picture_.layout = lay_out(story_.tree, kWidth, least_, std::min(most / 2, kGoodRows), most);
    };
    place(room);
    double height = room - below(kLeastTableRows);
    if (picture_.layout.rows > std::min(rows_in(height) / 2, kGoodRows)) {
      place(height);
      height = room - below(kLeastTableRows);
    }
    const auto rows = static_cast<double>(picture_.layout.rows);
    picture_.row_height = std::clamp(std::min(height, kHighestPicture) / rows, kLowestRow, kHighestRow);
    std::size_t fits = kMostTableRows;
    while (fits > 1 && below(fits) + rows * picture_.row_height > room) --fits;
    below(fits);
    link_ends();
  }

  void link_ends() {
    picture_.anchors = prefix_.empty() ? std::string() : prefix_ + "m";
    picture_.links.assign(picture_.layout.marks.size(), "");
    if (prefix_.empty()) return;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) picture_.links[table_.rows[i]] = flame_row_anchor(prefix_, i);
  }

  const FlameStory& story_;
  FlameWords words_;
  Canvas& canvas_;
  const std::string& prefix_;
  double least_;
  FlamePicture picture_;
  FlameTable table_;
};

}  // namespace

FlameStory tell_flame(FlameTree tree, const GrowthReport& report) {
  FlameStory story;
  story.tree = std::move(tree);
  story.before = snapshot_name(report.baseline);
  story.after = snapshot_name(report.current);
  story.source = footer_text(report);
  return story;
}

FlameStory tell_flame(FlameTree tree, const TopReport& report) {
  FlameStory story;
  story.tree = std::move(tree);
  story.two_sided = false;
  story.after = snapshot_name(report.snapshot);
  story.source = snapshot_name(report.snapshot);
  const std::string hash = short_hash(report.snapshot);
  if (!hash.empty()) story.source.append(" ").append(hash);
  story.source.append("  \u00b7  ").append(printable(report.metric));
  return story;
}

PageFrame flame_frame(const FlameStory& story) {
  const FlameWords words(story);
  return {printable(story.title), title_of(story, words),
          words.shows_gone()   ? "Which parts are new, which are gone?"
          : story.tree.by_role ? "What is the memory for, and which call paths hold it?"
                               : "Which call paths hold it?",
          printable(story.source).append("  \u00b7  ").append(printable(story.version))};
}

double draw_flame_content(const FlameStory& story, Canvas& canvas, double top, double bottom,
                          const std::string& prefix) {
  return FlameContent(story, canvas, prefix, kLeastBox).draw(top, bottom);
}

Result<std::string> draw_flame(const FlameStory& story, PictureForm form, Paper paper) {
  if (story.tree.boxes.empty()) return Error{ErrorCode::usage, "flame graph of a tree without root, expected one"};
  const std::string prefix = form == PictureForm::pdf ? "p1-f" : "";
  const double least = form == PictureForm::svg ? kLeastBoxOnScreen : kLeastBox;
  return draw_single_page({flame_frame(story), story.version, story.created_at_ns,
                           [&](Canvas& canvas, double top, double bottom) {
                             return FlameContent(story, canvas, prefix, least).draw(top, bottom);
                           }},
                          form, paper);
}

}  // namespace snapdiff::render
