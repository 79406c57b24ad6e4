#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "analyzer/base/number_text.hpp"
#include "analyzer/document/growth_columns.hpp"
#include "analyzer/document/match_words.hpp"
#include "analyzer/report/cells.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/text_tools.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

using Cell = Sheet::Cell;
using document::GrowthLine;
using document::GrowthView;

constexpr std::string_view kFuzzyMark = "  fuzzy";
constexpr std::string_view kMergedMark = "  merged";
constexpr std::string_view kNoiseMark = "  ~";

/// Rows that were matched across builds by no more than similarity, or that stand for several stacks, say so.
constexpr std::string_view match_mark(MatchTier tier) {
  return tier == MatchTier::fuzzy ? kFuzzyMark : tier == MatchTier::merged ? kMergedMark : std::string_view();
}

/// The table of a diff or a trend for people: its columns are declared in document/growth_columns.cpp; here its lines
/// get their names.
class GrowthSheet {
 public:
  GrowthSheet(GrowthView view, const Selection& selection, const Style& style)
      : view_(std::move(view)),
        report_(view_.report),
        selection_(selection),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        others_(others_name(selection.others)) {
    view_.for_people = true;
    for (const std::uint32_t row : selection.rows) lines_.push_back(row_line(view_, row));
    const Others& others = selection.others;
    if (others.rows > 0) {
      lines_.push_back(rest_line(view_, others_, others.value, others.objects));
      if (report_.has_error && !view_.grouped()) lines_.back().error = others.error;
      if (!others.changed) lines_.back().tag = "[ = ]";
    }
    for (const GrowthLine& line : unlisted_lines(view_)) {
      if (line.value != Change{} || line.objects != Change{}) lines_.push_back(line);
    }
    lines_.push_back(total_line(view_));
  }

  std::string text() {
    view_.wide = style_.width >= kWide;
    view_.cumulative_leads = view_.grouped() && style_.cumulative && !of_trend();
    Sheet sheet(last_header(), style_.thousands);
    add_columns(sheet, document::growth_screen(of_trend()), lines_, series_title(), {report_.unit, glyphs_});
    const std::size_t rest = sheet.rest_width(style_.width);
    const std::vector<std::string> names = row_names(rest);
    const std::vector<char> marked = below_culprits();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Sheet::Row& row = sheet.rows()[i];
      row.dim = !view_.grouped() && is_noise(lines_[i]);
      row.last = i < names.size() ? names[i] : std::string(lines_[i].name);
      if (i >= names.size() || view_.grouped() || of_trend()) continue;
      row.last += match_mark(lines_[i].row().tier);
      if (row.dim) row.last += kNoiseMark;
      if (marked[lines_[i].number] != 0) row.last_paint = Paint::bold;
    }
    return sheet.text(style_.colour);
  }

  std::string markdown() {
    Sheet sheet(std::string(view_.grouped() ? to_text(report_.options.by) : document::row_title(report_)));
    add_columns(sheet, document::growth_markdown(of_trend()), lines_, series_title(), {report_.unit, glyphs_, true});
    const std::vector<std::string> names = row_texts(report_, selection_.rows, kMarkdownName, glyphs_);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const GrowthLine& line = lines_[i];
      sheet.rows()[i].last = line.is_row()          ? literal(names[i]) + (is_noise(line) ? " (within error)" : "")
                             : line.name == "TOTAL" ? "**TOTAL**"
                                                    : literal(line.name);
    }
    return sheet.markdown();
  }

 private:
  bool of_trend() const { return view_.trend != nullptr; }

  std::string series_title() const {
    return "1 " + std::string(glyphs_.dash) + " " + std::to_string(report_.series_length);
  }

  std::string last_header() const {
    if (report_.options.by == GroupBy::label) return printable(report_.options.label_key, style_.utf8);
    if (view_.grouped()) return std::string(to_text(report_.options.by));
    const bool marked = std::ranges::any_of(lines_, [&](const GrowthLine& line) { return is_noise(line); });
    return marked ? "stack (leaf first; ~ within error)" : std::string(document::row_title(report_));
  }

  /// Growth of a row that may be chance; a trend says so by its verdicts.
  bool is_noise(const GrowthLine& line) const {
    return !of_trend() && line.is_row() && within_error(report_, line.row());
  }

  /// Of the rows, in what the columns leave.
  std::vector<std::string> row_names(std::size_t width) const {
    if (of_trend() || view_.grouped()) return row_texts(report_, selection_.rows, width, glyphs_);
    return stack_cells(
        selection_.rows.size(),
        [&](std::size_t i, std::vector<FrameView>& frames) { report_.frames(lines_[i].row(), frames); },
        [&](std::size_t i) {
          const std::size_t marks =
              (is_noise(lines_[i]) ? kNoiseMark.size() : 0U) + match_mark(lines_[i].row().tier).size();
          return width > marks ? width - marks : 0;
        },
        glyphs_);
  }

  /// Per row: it is below a culprit.
  std::vector<char> below_culprits() const {
    std::vector<char> out(report_.rows.size(), 0);
    if (view_.grouped()) return out;
    for (const Culprit* culprit : marked_of(report_)) {
      for (const std::uint32_t row : culprit->rows) {
        if (row < out.size()) out[row] = 1;
      }
    }
    return out;
  }

  GrowthView view_;
  const GrowthReport& report_;
  const Selection& selection_;
  const Style& style_;
  Glyphs glyphs_;
  std::string others_;
  std::vector<GrowthLine> lines_;
};

/// By function, where the stacks that would be shown hold less than half of what changed; "" elsewhere.
std::string spread_table(const GrowthReport& report, const Selection& selection, const Style& style) {
  if (report.options.by != GroupBy::stack || report.story == nullptr || report.story->functions.empty()) return {};
  double shown = 0;
  for (const std::uint32_t row : selection.rows)
    shown += std::abs(static_cast<double>(report.rows[row].value.growth()));
  const double all = static_cast<double>(report.grew) - static_cast<double>(report.shrank);
  if (style.max_rows == 0 || shown >= all / 2) return {};
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::string out = wrapped("By function, with all that it calls, since no " + std::to_string(style.max_rows) +
                                " stacks hold half of the change; -n 0 shows all stacks.",
                            style.width, 0) +
                    "\n\n";
  const std::span<const FunctionGrowth> functions =
      std::span(report.story->functions).first(shown_of(report.story->functions.size(), style));
  std::vector<FunctionGrowth> lines(functions.begin(), functions.end());
  lines.push_back({{}, report.total.growth(), report.total.current, 0});
  const auto is_total = [&](const FunctionGrowth& one) { return &one == &lines.back(); };
  Sheet sheet("function", style.thousands);
  const auto value = [&](std::int64_t number, bool sign) { return value_text(number, report.unit, sign); };
  sheet.column({"growth", 9, true, ""}, lines, [&](const FunctionGrowth& one) {
    return Cell{value(one.growth, true), growth_paint(one.growth)};
  });
  sheet.column({"before", 9, true, "  "}, lines,
               [&](const FunctionGrowth& one) { return Cell{value(one.current - one.growth, false)}; });
  sheet.column({"after", 9, true, spaced(glyphs.arrow)}, lines,
               [&](const FunctionGrowth& one) { return Cell{value(one.current, false)}; });
  sheet.column({"share", 5, true, "  "}, lines,
               [&](const FunctionGrowth& one) { return Cell{is_total(one) ? std::string() : share_text(one.share)}; });
  const std::size_t rest = sheet.rest_width(style.width);
  for (std::size_t i = 0; i < functions.size(); ++i)
    sheet.rows()[i].last = stack_cell(std::array{functions[i].function}, rest, glyphs).text;
  sheet.rows().back().last = "TOTAL";
  return out + sheet.text(style.colour);
}

/// "+2.3 MiB in 3 … 8": what is known of it between, where that is more than one snapshot.
std::string known_growth(const ListedOnce& row, const GrowthReport& report, const Glyphs& glyphs) {
  if (row.first == row.last) return {};
  return value_text(row.value.growth(), report.unit, true) + " in " + std::to_string(row.first + 1) + " " +
         std::string(glyphs.ellipsis) + " " + std::to_string(row.last + 1);
}

std::string stack_of(const ListedOnce& row, const GrowthReport& report, std::size_t width, const Glyphs& glyphs) {
  std::vector<FrameView> frames;
  report.view->frames(row.stack, frames);
  return stack_cell(frames, width, glyphs).text;
}

std::string value_or_unknown(const std::optional<std::int64_t>& value, const std::string& unit) {
  return value ? value_text(*value, unit) : "?";
}

std::string listed_once_heading(const GrowthReport& report) {
  return counted(report.listed_once.size(), "stack") + " listed at one end only, growth unknown";
}

std::span<const ListedOnce> shown_rows(const GrowthReport& report, const Style& style) {
  return std::span(report.listed_once).first(shown_of(report.listed_once.size(), style));
}

Sheet known_values(const GrowthReport& report, std::span<const ListedOnce> shown, const Glyphs& glyphs,
                   std::string_view thousands) {
  Sheet sheet("stack (leaf first)", thousands);
  sheet.column({"before", 9, true, ""}, shown, [&](const ListedOnce& row) {
    return Sheet::Cell{value_or_unknown(document::known_baseline(row), report.unit)};
  });
  sheet.column({"after", 9, true, spaced(glyphs.arrow)}, shown, [&](const ListedOnce& row) {
    return Sheet::Cell{value_or_unknown(document::known_current(row, report), report.unit)};
  });
  return sheet;
}

}  // namespace

std::string growth_table(const GrowthReport& report, const Selection& selection, RowVerdicts verdicts,
                         const Style& style) {
  if (std::string spread = spread_table(report, selection, style); !spread.empty()) return spread;
  return GrowthSheet({.report = report, .verdicts = verdicts}, selection, style).text();
}

std::string growth_rows(const GrowthReport& report, RowVerdicts verdicts, const Style& style) {
  const Selection selection = select_rows(report, style, unchanged_rows(report, style));
  return GrowthSheet({.report = report, .verdicts = verdicts}, selection, unwrapped(style)).markdown();
}

std::string trend_table(const TrendReport& trend, const Style& style) {
  const GrowthView view{.report = trend.series.overall, .trend = &trend, .verdicts = trend.verdicts};
  const Selection selection = select_rows(trend, style);
  GrowthSheet sheet(view, selection, style);
  return style.form == Form::markdown ? sheet.markdown() : sheet.text();
}

std::string sparkline(const std::int64_t* values, std::size_t count, std::size_t width, bool utf8) {
  constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (count == 0) return {};
  const std::size_t bars = std::min(count, std::max<std::size_t>(width, 1));
  std::vector<std::int64_t> heights(bars, 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t& height = heights[i * bars / count];
    height = std::max(height, values[i]);
  }
  const auto most = static_cast<double>(*std::ranges::max_element(heights));
  std::string text;
  for (const std::int64_t height : heights) {
    const double share = most > 0 ? static_cast<double>(height) / (most * 1.0001) : 0;
    if (height <= 0) {
      text += utf8 ? "_" : "0";
    } else if (utf8) {
      text += kBars[std::min<std::size_t>(7, static_cast<std::size_t>(8 * share))];
    } else {
      text += static_cast<char>('1' + std::min(8, static_cast<int>(9 * share)));
    }
  }
  return text;
}

std::string listed_once_text(const GrowthReport& report, const Style& style) {
  if (report.listed_once.empty()) return {};
  const Glyphs glyphs = glyphs_for(style.utf8);
  const std::span<const ListedOnce> shown = shown_rows(report, style);
  Sheet sheet = known_values(report, shown, glyphs, style.thousands);
  if (std::ranges::any_of(report.listed_once, [](const ListedOnce& row) { return row.first != row.last; }))
    sheet.column({"known", 9, true, "  "}, shown, [&](const ListedOnce& row) {
      return Sheet::Cell{known_growth(row, report, glyphs), growth_paint(row.value.growth())};
    });
  const std::size_t width = sheet.rest_width(style.width);
  for (std::size_t i = 0; i < shown.size(); ++i) sheet.rows()[i].last = stack_of(shown[i], report, width, glyphs);
  if (shown.size() < report.listed_once.size())
    sheet.add().last = others_text(report.listed_once.size() - shown.size());
  return "\n" + listed_once_heading(report) + ":\n\n" + sheet.text(style.colour);
}

std::string listed_once_markdown(const GrowthReport& report, const Style& style) {
  if (report.listed_once.empty()) return {};
  const Glyphs glyphs = glyphs_for(true);
  const std::span<const ListedOnce> shown = shown_rows(report, style);
  Sheet sheet = known_values(report, shown, glyphs, {});
  for (std::size_t i = 0; i < shown.size(); ++i)
    sheet.rows()[i].last = literal(stack_of(shown[i], report, kMarkdownName, glyphs));
  return "\n" + listed_once_heading(report) + ":\n\n" + sheet.markdown();
}

}  // namespace snapdiff::report
