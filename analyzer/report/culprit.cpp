#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kLabelColumn = 10;        // column of the first text, as above tables
constexpr std::size_t kWidestName = 400;        // columns; names of templates fill pages
constexpr std::size_t kMostValuesShown = 24;    // of a series; a sparkline has as few
constexpr std::size_t kMostFramesOfStack = 16;  // of one stack, from its leaf

/// "main.leakBacklog  /src/main.go:33": a frame with its whole path.
std::string whole_frame(const FrameView& frame, const Glyphs& glyphs) {
  std::string text = cut_name(printable(recorded_frame_text(frame), glyphs.utf8), kWidestName, glyphs.ellipsis);
  if (frame.file.empty()) return text;
  text += "  " + printable(frame.file, glyphs.utf8);
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  return text;
}

/// A frame among others: shortened, with the name of its file.
std::string short_frame(const FrameView& frame, const Glyphs& glyphs) {
  const std::string site = site_text(frame, glyphs);
  const std::string name = cut_name(frame_name(frame, glyphs), kWidestName, glyphs.ellipsis);
  return site.empty() ? name : name + " " + site;
}

class CulpritText {
 public:
  CulpritText(const GrowthReport& report, const Culprit& culprit, const Style& style)
      : report_(report), culprit_(culprit), style_(style), glyphs_(glyphs_for(style.utf8)) {}

  std::string all() {
    out_ = pad_right(culprit_.text.label, kLabelColumn) + plain_text(culprit_.text.name, style_.utf8);
    if (!culprit_.text.place.empty()) out_ += "  " + plain_text(culprit_.text.place, style_.utf8);
    out_ += "\n";
    figures();
    line("pace", plain_text(culprit_.text.pace, style_.utf8));
    line("why", printable(culprit_.verdict.reason, style_.utf8));
    values();
    path();
    sites();
    stacks();
    holder();
    return std::move(out_);
  }

 private:
  void line(std::string_view label, const std::string& text) {
    if (!text.empty()) out_ += pad_right(label, kLabelColumn) + text + "\n";
  }
  std::string value(std::int64_t amount, bool sign = false) const { return value_text(amount, report_.unit, sign); }

  void figures() {
    const Change& change = culprit_.value;
    if (change.growth() == 0) return line("holds", value(change.current));
    std::string text =
        value(change.baseline) + spaced(glyphs_.arrow) + value(change.current) + "  (" + value(change.growth(), true);
    if (culprit_.error > 0)
      text +=
          " " + std::string(glyphs_.plus_minus) + " " + value(static_cast<std::int64_t>(std::llround(culprit_.error)));
    if (report_.has_objects) text += ", " + counted(culprit_.objects.growth(), "object", {}, true);
    line(metric_label(report_.metric), text + ")");
    if (!culprit_.text.share.empty())
      line("share", plain_text(Span{culprit_.text.share, false}, style_.utf8) +
                        (change.growth() < 0 ? " of what was freed" : " of what grew"));
    line("spread", plain_text(Span{culprit_.text.spread, false}, style_.utf8));
  }

  void values() {
    const std::vector<std::int64_t>& all = culprit_.values;
    if (all.size() < 3) return;
    const std::size_t step = (all.size() + kMostValuesShown - 1) / kMostValuesShown;
    std::string text;
    for (std::size_t i = 0; i < all.size(); i += step) text += (text.empty() ? "" : ", ") + value(all[i]);
    if ((all.size() - 1) % step != 0) text += ", " + value(all.back());
    if (step > 1) text += " (each " + std::to_string(step) + "th of " + std::to_string(all.size()) + " and the last)";
    line("values", text);
  }

  void path() {
    const char* label = culprit_.is_owner ? "holds" : "path";
    for (const FrameView& frame : culprit_.path) {
      line(label, whole_frame(frame, glyphs_));
      label = "";
    }
    if (!culprit_.text.via.empty()) line("calls", plain_text(culprit_.text.via, style_.utf8));
    if (!culprit_.own) line("note", "no frame of these stacks is the program's own code");
  }

  void sites() {
    const char* label = "allocates";
    for (const Culprit::Site& site : culprit_.sites) {
      line(label, value(site.growth, true) + "  " + whole_frame(site.frame, glyphs_));
      label = "";
    }
  }

  void stacks() {
    if (report_.options.by != GroupBy::stack) return;
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t row : culprit_.rows) {
      if (row < report_.rows.size()) rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return magnitude(report_.rows[a].value.growth()) > magnitude(report_.rows[b].value.growth());
    });
    const std::size_t first = std::min(rows.size(), style_.first_row);
    const std::size_t shown = style_.max_rows == 0 ? rows.size() : std::min(rows.size(), first + style_.max_rows);
    std::vector<FrameView> frames;
    for (std::size_t i = first; i < shown; ++i) {
      const GrowthRow& row = report_.rows[rows[i]];
      report_.frames(row, frames);
      std::string text = value(row.value.growth(), true) + " ";
      for (std::size_t f = 0; f < std::min(frames.size(), kMostFramesOfStack); ++f)
        text += (f == 0 ? " " : " " + std::string(glyphs_.caller) + " ") + short_frame(frames[f], glyphs_);
      if (frames.size() > kMostFramesOfStack)
        text += " " + std::string(glyphs_.caller) + " " + counted(frames.size() - kMostFramesOfStack, "caller");
      line(i == first ? "stacks" : "", text);
    }
    if (rows.size() > shown) line("", counted(rows.size() - shown, "more stack"));
  }

  void holder() {
    if (culprit_.is_owner) return line("holder", plain_text(culprit_.text.name, style_.utf8));
    const bool has_graph = report_.current.snapshot != nullptr && report_.current.snapshot->graph != nullptr;
    line("holder", has_graph ? "not one container" : "not in these files: object graphs alone say who holds memory");
  }

  const GrowthReport& report_;
  const Culprit& culprit_;
  const Style& style_;
  Glyphs glyphs_;
  std::string out_;
};

}  // namespace

std::string write_culprit(const GrowthReport& report, const Culprit& culprit, const Style& style) {
  return CulpritText(report, culprit, style).all();
}

}  // namespace snapdiff::report
