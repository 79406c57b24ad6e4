#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/text_tools.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kAnyWidth = 1000;  // nothing is cut
constexpr std::string_view kFuzzyMark = "  fuzzy";
constexpr std::string_view kMergedMark = "  merged";

/// Rows that were matched across builds by no more than similarity, or that stand for several stacks, say so.
constexpr std::string_view match_mark(MatchTier tier) {
  return tier == MatchTier::fuzzy ? kFuzzyMark : tier == MatchTier::merged ? kMergedMark : std::string_view();
}

constexpr std::string_view kNoiseMark = "  ~";

using Cell = Sheet::Cell;

std::string tag_of(RowClass row_class) {
  switch (row_class) {
    case RowClass::added: return "[NEW]";
    case RowClass::gone: return "[DEL]";
    case RowClass::same: return "[ = ]";
    case RowClass::grew:
    case RowClass::shrank: break;
  }
  return {};
}

/// A function is new or gone by all that it calls too.
std::string group_tag(const CumulativeChange& cumulative) {
  const Change& value = cumulative.value;
  if (value.growth() == 0) return cumulative.grew == 0 && cumulative.shrank == 0 ? "[ = ]" : "";
  return value.baseline == 0 ? "[NEW]" : value.current == 0 ? "[DEL]" : "";
}

/// A row, or one that completes the sum. Cumulative values don't add up over rows; the flat column does.
struct GrowthLine {
  std::string name;       ///< "[2 others]", "TOTAL"; else the row's stack or key
  std::uint32_t row = 0;  ///< where there is no name
  Change flat = {}, objects = {};
  std::optional<Change> cumulative = {}, cumulative_objects = {};
  std::optional<double> error = {};
  std::string tag = {};
  bool is_row() const { return name.empty(); }
};

class GrowthSheet {
 public:
  GrowthSheet(const GrowthReport& report, const Selection& selection, RowVerdicts verdicts, const Style& style)
      : report_(report),
        selection_(selection),
        verdicts_(verdicts),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        grouped_(report.options.by != GroupBy::stack),
        wide_(style.width >= kWide),
        suspected_(report.rows.size(), 0) {
    for (const Suspect& suspect : report.suspects) {
      for (const std::uint32_t row : suspect.rows) {
        if (row < suspected_.size()) suspected_[row] = 1;
      }
    }
    for (const std::uint32_t row : selection.rows) lines_.push_back(row_line(row));
    add_fixed_lines();
  }

  std::string text() const {
    Sheet sheet(last_header(), style_.thousands);
    const bool error_beside = with_error() && !wide_;
    const bool with_series = wide_ && report_.series_length > 1 && !grouped_;
    values(sheet, error_beside);
    if (report_.has_objects && !error_beside)
      sheet.column({"objects", 8, true, " "}, lines_, [&](const GrowthLine& line) {
        const std::optional<Change> objects = cumulative_leads() ? line.cumulative_objects : line.objects;
        return objects ? Cell{growth_count_text(objects->growth())} : Cell{};
      });
    if (wide_ && !grouped_ && !with_series) {
      sheet.column({std::string(glyphs_.plus_minus), 4, true, "  "}, lines_,
                   [&](const GrowthLine& line) { return Cell{error_text(line)}; });
      sites(sheet);
    }
    if (!report_.instances.empty())
      of_rows(sheet, {"grew on", 7, true, "  "},
              [&](std::uint32_t row) { return Cell{instances_text(report_.instances[row])}; });
    if (with_series) series(sheet);
    const std::size_t rest = sheet.rest_width(style_.width);
    const std::vector<std::string> stacks = grouped_ ? std::vector<std::string>() : stack_texts(rest);
    for (std::size_t i = 0; i < lines_.size(); ++i) name(lines_[i], rest, stacks, i, sheet.rows()[i]);
    return sheet.text(style_.colour);
  }

  std::string markdown() const {
    Sheet sheet(grouped_ ? std::string(to_text(report_.options.by)) : "stack (leaf first)");
    growth(sheet, grouped_ ? "flat" : "growth", "", false);
    if (grouped_) growth(sheet, "cum", "", true);
    const auto amount = [&](const std::string& header, std::int64_t Change::*side) {
      sheet.column({header}, lines_, [&](const GrowthLine& line) { return Cell{value(line.flat.*side, false)}; });
    };
    amount("before", &Change::baseline);
    amount("after", &Change::current);
    if (report_.has_objects)
      sheet.column({"objects"}, lines_,
                   [](const GrowthLine& line) { return Cell{growth_count_text(line.objects.growth())}; });
    if (with_error()) of_rows(sheet, {"±"}, [&](std::uint32_t row) { return Cell{rounded(report_.rows[row].error)}; });
    of_rows(sheet, {"class", 0, false},
            [&](std::uint32_t row) { return Cell{std::string(to_text(report_.rows[row].row_class))}; });
    if (!verdicts_.empty())
      of_rows(sheet, {"verdict", 0, false},
              [&](std::uint32_t row) { return Cell{literal(printable(verdicts_[row].word))}; });
    const std::vector<std::string> names = row_texts(report_, selection_.rows, kMarkdownName, glyphs_);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const GrowthLine& line = lines_[i];
      sheet.rows()[i].last = line.is_row()          ? literal(names[i]) + (noise(line, true) ? " (within error)" : "")
                             : line.name == "TOTAL" ? "**TOTAL**"
                                                    : literal(line.name);
    }
    return sheet.markdown();
  }

 private:
  bool with_error() const { return report_.has_error && !grouped_; }
  bool cumulative_leads() const { return grouped_ && style_.cumulative; }

  GrowthLine row_line(std::uint32_t row) const {
    const GrowthRow& r = report_.rows[row];
    GrowthLine line{"", row, r.value, r.objects, {}, {}, r.error, tag_of(r.row_class)};
    if (grouped_) {
      const CumulativeChange& cumulative = report_.cumulative[row];
      line.tag = group_tag(cumulative);
      line.cumulative = cumulative.value;
      line.cumulative_objects = cumulative.objects;
    }
    return line;
  }

  void add_fixed_lines() {
    const Others& others = selection_.others;
    lines_.push_back({others_name(others), 0, others.value, others.objects});
    if (with_error()) lines_.back().error = others.error;
    if (!others.changed && others.rows > 0) lines_.back().tag = "[ = ]";
    lines_.push_back({std::string(kUnattributed), 0, report_.unattributed, report_.unattributed_objects});
    if (report_.filtered != Change{} || report_.filtered_objects != Change{})
      lines_.push_back({"[filtered out]", 0, report_.filtered, report_.filtered_objects});
    const Change& objects = report_.total_objects;
    lines_.push_back({"TOTAL", 0, report_.total, objects, report_.total, objects});
  }

  /// Growth, error and class beside it, before and after.
  void values(Sheet& sheet, bool error_beside) const {
    const bool cumulative = cumulative_leads();
    growth(sheet, !grouped_ ? "growth" : cumulative ? "cum" : "flat", "", cumulative);
    if (grouped_) growth(sheet, cumulative ? "flat" : "cum", " ", !cumulative);
    if (error_beside)
      sheet.column({"error", 8, true, spaced(glyphs_.plus_minus)}, lines_,
                   [&](const GrowthLine& line) { return Cell{error_text(line)}; });
    const bool with_tags =
        std::ranges::any_of(lines_, [](const GrowthLine& line) { return line.is_row() && !line.tag.empty(); });
    if (with_tags)
      sheet.column({"", 5, false, " "}, lines_, [](const GrowthLine& line) { return Cell{line.tag, Paint::dim}; });
    const auto side = [&](const std::string& header, std::size_t width, const std::string& separator,
                          std::int64_t Change::*of) {
      sheet.column({header, width, true, separator}, lines_, [&](const GrowthLine& line) {
        const std::optional<Change> change = cumulative ? line.cumulative : line.flat;
        return change ? Cell{value((*change).*of, false), Paint::dim} : Cell{};
      });
    };
    side("before", error_beside ? 8 : 9, error_beside ? "   " : " ", &Change::baseline);
    side("after", 8, spaced(glyphs_.arrow), &Change::current);
  }

  void growth(Sheet& sheet, const std::string& header, const std::string& separator, bool cumulative) const {
    sheet.column({header, 10, true, separator}, lines_, [&](const GrowthLine& line) {
      const std::optional<Change> change = cumulative ? line.cumulative : line.flat;
      return change ? Cell{value(change->growth(), true), growth_paint(change->growth())} : Cell{};
    });
  }

  /// What only rows have.
  template <class CellOf>
  void of_rows(Sheet& sheet, Sheet::Column column, const CellOf& cell_of) const {
    sheet.column(std::move(column), lines_,
                 [&](const GrowthLine& line) { return line.is_row() ? cell_of(line.row) : Cell{}; });
  }

  /// Where each row allocates; not of reports without files, which need the space.
  void sites(Sheet& sheet) const {
    std::vector<FrameView> frames;
    std::vector<std::string> texts(lines_.size());
    for (std::size_t i = 0; i < selection_.rows.size(); ++i) {
      report_.frames(report_.rows[lines_[i].row], frames);
      texts[i] = cut_name(stack_cell(frames, kAnyWidth, glyphs_).site, kSiteWidth, glyphs_.ellipsis);
    }
    if (std::ranges::all_of(texts, [](const std::string& text) { return text.empty(); })) return;
    sheet.column({"allocated at", 18, false, "  "}, texts, [](const std::string& text) {
      return Cell{text, Paint::dim};
    });
  }

  void series(Sheet& sheet) const {
    of_rows(sheet, {"1 " + std::string(glyphs_.dash) + " " + std::to_string(report_.series_length), 8, false, "  "},
            [&](std::uint32_t row) {
              const std::vector<std::int64_t> values = report_.series.values(row);
              return Cell{sparkline(values.data(), values.size(), kSparkWidth, style_.utf8)};
            });
    if (verdicts_.empty()) return;
    of_rows(sheet, {"verdict", 8, false, "  "}, [&](std::uint32_t row) {
      const std::string& word = verdicts_[row].word;
      return Cell{printable(word, style_.utf8), verdict_paint(word)};
    });
  }

  std::string last_header() const {
    if (grouped_) {
      return report_.options.by == GroupBy::label ? printable(report_.options.label_key, style_.utf8)
                                                  : std::string(to_text(report_.options.by));
    }
    const bool marked = std::ranges::any_of(lines_, [&](const GrowthLine& line) { return noise(line, false); });
    return marked ? "stack (leaf first; ~ within error)" : "stack (leaf first)";
  }

  bool noise(const GrowthLine& line, bool of_groups) const {
    return line.is_row() && (of_groups || !grouped_) && within_error(report_, report_.rows[line.row]);
  }

  std::string value(std::int64_t number, bool sign) const { return value_text(number, report_.unit, sign); }

  std::string rounded(double error) const {
    return std::isnan(error) ? "n/a" : value(std::llround(std::min(error, 9e18)), false);
  }

  std::string error_text(const GrowthLine& line) const {
    if (!line.error) return {};
    if (!report_.has_error) return report_.exact ? "0" : "n/a";
    return rounded(*line.error);
  }

  /// Of the shown rows.
  std::vector<std::string> stack_texts(std::size_t width) const {
    const auto row = [&](std::size_t i) -> const GrowthRow& { return report_.rows[selection_.rows[i]]; };
    return stack_cells(
        selection_.rows.size(), [&](std::size_t i, std::vector<FrameView>& frames) { report_.frames(row(i), frames); },
        [&](std::size_t i) {
          const std::size_t marks =
              (within_error(report_, row(i)) ? kNoiseMark.size() : 0U) + match_mark(row(i).tier).size();
          return width > marks ? width - marks : 0;
        },
        glyphs_);
  }

  void name(const GrowthLine& line, std::size_t width, const std::vector<std::string>& stacks, std::size_t shown,
            Sheet::Row& row) const {
    row.dim = noise(line, false);
    if (!line.is_row()) {
      row.last = line.name;
      return;
    }
    const GrowthRow& r = report_.rows[line.row];
    if (grouped_) {
      row.last = key_text(report_.keys[r.key], report_.options.by, width, glyphs_);
      return;
    }
    row.last = stacks[shown];
    row.last += match_mark(r.tier);
    if (row.dim) row.last += kNoiseMark;
    if (suspected_[line.row] != 0) row.last_paint = Paint::bold;
  }

  const GrowthReport& report_;
  const Selection& selection_;
  RowVerdicts verdicts_;
  const Style& style_;
  Glyphs glyphs_;
  bool grouped_;
  bool wide_;
  std::vector<char> suspected_;  // per row: below a suspect
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

std::size_t last_snapshot(const GrowthReport& report) {
  return report.series_length > 2 ? report.series_length - 1 : 1;
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
    return Sheet::Cell{value_or_unknown(known_baseline(row, report), report.unit)};
  });
  sheet.column({"after", 9, true, spaced(glyphs.arrow)}, shown, [&](const ListedOnce& row) {
    return Sheet::Cell{value_or_unknown(known_current(row, report), report.unit)};
  });
  return sheet;
}

}  // namespace

std::string growth_table(const GrowthReport& report, const Selection& selection, RowVerdicts verdicts,
                         const Style& style) {
  if (std::string spread = spread_table(report, selection, style); !spread.empty()) return spread;
  return GrowthSheet(report, selection, verdicts, style).text();
}

std::string growth_rows(const GrowthReport& report, RowVerdicts verdicts, const Style& style) {
  const Selection selection = select_rows(report, style, unchanged_rows(report, style));
  return GrowthSheet(report, selection, verdicts, unwrapped(style)).markdown();
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

std::optional<std::int64_t> known_baseline(const ListedOnce& row, const GrowthReport&) {
  return row.first == 0 ? std::optional(row.value.baseline) : std::nullopt;
}

std::optional<std::int64_t> known_current(const ListedOnce& row, const GrowthReport& report) {
  return row.last == last_snapshot(report) ? std::optional(row.value.current) : std::nullopt;
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
