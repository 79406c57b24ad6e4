#include "analyzer/render/flame/flame_page.hpp"

#include <algorithm>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/flame/flame_parts.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

/// Rows of boxes: no higher than this, and no lower than a text of kSmallestText needs.
constexpr double kHighestRow = 38;
constexpr double kLowestRow = 9.6;
/// More of them than this make a tower of a narrow run.
constexpr std::uint32_t kGoodRows = 26;
constexpr std::size_t kMostTableRows = 24;
constexpr std::size_t kLeastTableRows = 8;
/// Boxes narrower than this are merged: a letter has no room in them. Where the cursor tells names and pages can be
/// enlarged, they may be smaller.
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
    return story.tree.width == FlameWidth::growth   ? "No stack grew between the two snapshots."
           : story.tree.width == FlameWidth::change ? "No stack changed between the two snapshots."
                                                    : "There is nothing on this side.";
  }
  switch (story.tree.width) {
    case FlameWidth::change:
      text = "Both sides in one picture. ";
      if (root.grew != 0 && root.shrank != 0) {
        text.append("Width is growth plus shrinkage, so a net of ").append(q.growth(root.value.growth()));
        text.append(" does not hide ").append(q.value(root.grew)).append(" that grew and ");
        text.append(q.size(root.shrank)).append(" that went. Left and hatched: gone. Right and solid: grown.");
      } else if (root.grew != 0) {
        text.append("Width is growth plus shrinkage; nothing shrank, so it is growth alone.");
      } else {
        text.append("Width is growth plus shrinkage; nothing grew, so it is shrinkage alone.");
      }
      break;
    case FlameWidth::growth:
      text = std::string("Width is growth; stacks that shrank, ").append(q.size(root.shrank));
      text.append(" together, are left out.");
      break;
    case FlameWidth::baseline: text = "Width is the value before. Hatched: what has gone since."; break;
    case FlameWidth::current:
      text = "Width is the value after.";
      if (!story.tree.by_role) text.append(" Orange: what came in addition.");
      break;
    case FlameWidth::both:
      text =
          "Every frame of either side. Width is what both share, plus what went (hatched, left), plus what came "
          "(solid, right).";
      break;
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
  switch (story.tree.width) {
    case FlameWidth::change: break;
    case FlameWidth::growth: return concat(what, ": ", q.growth(root.grew), " of growth");
    case FlameWidth::baseline: return value(" before: ", root.value.baseline);
    case FlameWidth::current: return value(" after: ", root.value.current);
    case FlameWidth::both:
      return value(": ", root.value.baseline).append(" before, ").append(q.value(root.value.current)).append(" after");
  }
  if (root.weight == 0) return std::string(what).append(": nothing came, nothing went");
  std::string text = std::string(what).append(": ");
  text.append(root.grew == 0 ? std::string("nothing") : q.value(root.grew)).append(" came, ");
  return text.append(root.shrank == 0 ? std::string("nothing") : q.size(root.shrank)).append(" went");
}

/// "a" to "z", then "aa" and so on.
std::string letter(std::size_t n) {
  std::string text(1, static_cast<char>('a' + n % 26));
  for (n /= 26; n > 0; n /= 26) text.insert(text.begin(), static_cast<char>('a' + --n % 26));
  return text;
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
    name_ends();
  }

  void name_ends() {
    picture_.anchors = prefix_.empty() ? std::string() : prefix_ + "m";
    picture_.letters.assign(picture_.layout.marks.size(), "");
    picture_.links.assign(picture_.layout.marks.size(), "");
    std::size_t letters = 0;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      const std::size_t mark = table_.rows[i];
      if (!prefix_.empty()) picture_.links[mark] = flame_row_anchor(prefix_, i);
      if (!has_room_for_name(picture_.layout.marks[mark], words_, picture_.row_height, canvas_) &&
          picture_.layout.marks[mark].w >= kLeastLetter)
        picture_.letters[mark] = letter(letters++);
    }
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
  const bool two =
      story.two_sided && story.tree.width != FlameWidth::baseline && story.tree.width != FlameWidth::current;
  return {printable(story.title), title_of(story, words),
          two                  ? "Which parts are new, which are gone?"
          : story.tree.by_role ? "What is the memory for, and which call paths hold it?"
                               : "Which call paths hold it?",
          printable(story.source).append("  \u00b7  ").append(printable(story.version))};
}

double draw_flame_content(const FlameStory& story, Canvas& canvas, double top, double bottom,
                          const std::string& prefix) {
  return FlameContent(story, canvas, prefix, kLeastBox).draw(top, bottom);
}

Result<std::string> draw_flame(const FlameStory& story, PictureForm form, Paper paper, double scale) {
  if (story.tree.boxes.empty()) return Error{ErrorCode::usage, "flame graph of a tree without root, expected one"};
  const std::string prefix = form == PictureForm::pdf ? "p1-f" : "";
  const double least = form == PictureForm::svg ? kLeastBoxOnScreen : kLeastBox;
  return draw_single_page({flame_frame(story), story.version, story.created_at_ns,
                           [&](Canvas& canvas, double top, double bottom) {
                             return FlameContent(story, canvas, prefix, least).draw(top, bottom);
                           }},
                          form, paper, scale);
}

}  // namespace snapdiff::render
