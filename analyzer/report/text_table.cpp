#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/names.hpp"
#include "analyzer/report/story_lines.hpp"
#include "analyzer/report/table.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

namespace {

constexpr std::size_t kAnyWidth = 1000;  // nothing is cut
constexpr std::string_view kFuzzyMark = "  fuzzy";
constexpr std::string_view kMergedMark = "  merged";

/// Rows that were matched across builds by no more than likeness, or that stand for several stacks, say so.
constexpr std::string_view match_mark(MatchTier tier) {
  return tier == MatchTier::fuzzy ? kFuzzyMark : tier == MatchTier::merged ? kMergedMark : std::string_view();
}

constexpr std::string_view kNoiseMark = "  ~";

using TableColumn = TextTable::Column;
using Cell = TextTable::Cell;

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

/// One line of a growth table before it is laid out.
struct Line {
  std::string name_when_fixed;  ///< "[2 others]", "TOTAL"; else the row's key
  std::uint32_t row = 0;
  std::size_t shown = 0;  ///< place among the shown rows
  bool fixed = false;
  Change lead;
  bool has_lead = true;
  std::int64_t second = 0;  ///< cum where flat leads, flat where cum leads
  bool has_second = true;
  Change objects;
  bool has_objects = true;
  double error = 0;
  bool has_error = false;
  std::string tag;
};

class GrowthTable {
 public:
  GrowthTable(const GrowthReport& report, const Selection& selection, const std::vector<RowVerdict>& verdicts,
              const Style& style)
      : report_(report),
        selection_(selection),
        verdicts_(verdicts),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        grouped_(report.options.by != GroupBy::stack),
        wide_(style.width >= kWide),
        suspected_(report.rows.size(), 0) {
    if (wide_ && !grouped_ && !with_series()) find_sites();
    for (const Suspect& suspect : report.suspects) {
      for (const std::uint32_t row : suspect.rows) {
        if (row < suspected_.size()) suspected_[row] = 1;
      }
    }
  }

  std::string text() {
    for (const std::uint32_t row : selection_.rows) {
      lines_.push_back(row_line(row));
      lines_.back().shown = lines_.size() - 1;
    }
    add_fixed_lines();
    with_tags_ = std::any_of(lines_.begin(), lines_.end(), [](const Line& line) {
      return !line.fixed && (line.tag == "[NEW]" || line.tag == "[DEL]" || line.tag == "[ = ]");
    });
    TextTable table(columns(), last_header(), style_.thousands);
    for (const Line& line : lines_) fill(line, table.add());
    const std::size_t rest = table.rest_width(style_.width);
    const std::vector<std::string> stacks = grouped_ ? std::vector<std::string>() : stack_texts(rest);
    for (std::size_t i = 0; i < lines_.size(); ++i) name(lines_[i], rest, stacks, table.rows()[i]);
    return table.text(style_.colour);
  }

 private:
  bool with_series() const { return wide_ && report_.series_length > 1 && !grouped_; }
  bool with_error() const { return report_.has_error && !grouped_; }
  bool with_site() const { return !sites_.empty(); }

  /// Where each shown row allocates; none at all for reports without files, which need the room.
  void find_sites() {
    std::vector<FrameView> frames;
    bool any = false;
    for (const std::uint32_t row : selection_.rows) {
      report_.frames(report_.rows[row], frames);
      sites_.push_back(cut_name(stack_cell(frames, kAnyWidth, glyphs_).site, kSiteWidth, glyphs_.ellipsis));
      any = any || !sites_.back().empty();
    }
    if (!any) sites_.clear();
  }

  Line row_line(std::uint32_t row) const {
    const GrowthRow& r = report_.rows[row];
    Line line;
    line.row = row;
    line.lead = r.value;
    line.objects = r.objects;
    line.error = r.error;
    line.has_error = true;
    line.tag = tag_of(r.row_class);
    if (grouped_) {
      const CumulativeChange& cumulative = report_.cumulative[row];
      line.tag = group_tag(cumulative);
      line.second = cumulative.value.growth();
      if (style_.cumulative) {
        line.second = r.value.growth();
        line.lead = cumulative.value;
        line.objects = cumulative.objects;
      }
    }
    return line;
  }

  Line fixed_line(std::string name, const Change& value, const Change& objects) const {
    Line line;
    line.fixed = true;
    line.name_when_fixed = std::move(name);
    line.lead = value;
    line.objects = objects;
    line.has_second = false;
    if (grouped_ && style_.cumulative) {
      // Cumulative values don't add up over rows; the flat column does.
      line.has_lead = false;
      line.has_second = true;
      line.second = value.growth();
      line.has_objects = false;
    }
    return line;
  }

  void add_fixed_lines() {
    const Others& others = selection_.others;
    Line rest = fixed_line(others_name(others), others.value, others.objects);
    rest.error = others.error;
    rest.has_error = with_error();
    if (!others.changed && others.rows > 0) rest.tag = "[ = ]";
    lines_.push_back(std::move(rest));
    lines_.push_back(fixed_line(std::string(kUnattributed), report_.unattributed, report_.unattributed_objects));
    if (report_.filtered != Change{} || report_.filtered_objects != Change{}) {
      lines_.push_back(fixed_line("[filtered out]", report_.filtered, report_.filtered_objects));
    }
    Line total = fixed_line("TOTAL", report_.total, report_.total_objects);
    if (grouped_) {
      total.has_lead = total.has_second = total.has_objects = true;
      total.second = report_.total.growth();
    }
    lines_.push_back(std::move(total));
  }

  std::vector<TableColumn> columns() const {
    const std::string plus_minus = spaced(glyphs_.plus_minus);
    const std::string arrow = spaced(glyphs_.arrow);
    std::vector<TableColumn> columns{{grouped_ ? style_.cumulative ? "cum" : "flat" : "growth", 10, true, ""}};
    if (grouped_) columns.push_back({style_.cumulative ? "flat" : "cum", 10, true, " "});
    const bool error_beside = with_error() && !wide_;
    if (error_beside) columns.push_back({"error", 8, true, plus_minus});
    if (with_tags_) columns.push_back({"", 5, false, " "});
    columns.push_back({"before", error_beside ? std::size_t{8} : std::size_t{9}, true, error_beside ? "   " : " "});
    columns.push_back({"after", 8, true, arrow});
    if (report_.has_objects && !error_beside) columns.push_back({"objects", 8, true, " "});
    if (wide_ && !grouped_ && !with_series()) columns.push_back({std::string(glyphs_.plus_minus), 4, true, "  "});
    if (with_site()) columns.push_back({"allocated at", 18, false, "  "});
    if (!report_.instances.empty()) columns.push_back({"grew on", 7, true, "  "});
    if (with_series()) {
      columns.push_back(
          {"1 " + std::string(glyphs_.dash) + " " + std::to_string(report_.series_length), 8, false, "  "});
      if (!verdicts_.empty()) columns.push_back({"verdict", 8, false, "  "});
    }
    return columns;
  }

  std::string last_header() const {
    if (grouped_) {
      return report_.options.by == GroupBy::label ? printable(report_.options.label_key, style_.utf8)
                                                  : std::string(to_text(report_.options.by));
    }
    const bool marked = std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) { return noise(line); });
    return marked ? "stack (leaf first; ~ within error)" : "stack (leaf first)";
  }

  bool noise(const Line& line) const {
    return !line.fixed && !grouped_ && within_error(report_, report_.rows[line.row]);
  }

  std::string value(std::int64_t number, bool sign) const { return snapdiff::value_text(number, report_.unit, sign); }

  std::string error_text(const Line& line) const {
    if (!line.has_error) return {};
    if (!report_.has_error) return line.fixed ? "" : report_.exact ? "0" : "n/a";
    if (std::isnan(line.error)) return "n/a";
    return value(std::llround(std::min(line.error, 9e18)), false);
  }

  void fill(const Line& line, TextTable::Row& row) const {
    std::vector<Cell>& cells = row.cells;
    const std::int64_t growth = line.lead.growth();
    cells.push_back(line.has_lead ? Cell{value(growth, true), growth_paint(growth)} : Cell{});
    if (grouped_) cells.push_back(line.has_second ? Cell{value(line.second, true), growth_paint(line.second)} : Cell{});
    const bool error_beside = with_error() && !wide_;
    if (error_beside) cells.push_back({error_text(line), Paint::none});
    if (with_tags_) cells.push_back({line.tag, Paint::dim});
    cells.push_back(line.has_lead ? Cell{value(line.lead.baseline, false), Paint::dim} : Cell{});
    cells.push_back(line.has_lead ? Cell{value(line.lead.current, false), Paint::dim} : Cell{});
    if (report_.has_objects && !error_beside) {
      cells.push_back(line.has_objects ? Cell{snapdiff::growth_count_text(line.objects.growth()), Paint::none}
                                       : Cell{});
    }
    if (wide_ && !grouped_ && !with_series()) cells.push_back({error_text(line), Paint::none});
    if (with_site()) cells.push_back({line.fixed ? std::string() : sites_[line.shown], Paint::dim});
    if (!report_.instances.empty())
      cells.push_back({line.fixed ? std::string() : instances_text(report_.instances[line.row]), Paint::none});
    if (with_series()) {
      const std::vector<std::int64_t> values =
          line.fixed ? std::vector<std::int64_t>() : report_.series.values(line.row);
      cells.push_back({line.fixed ? std::string() : sparkline(values.data(), values.size(), kSparkWidth, style_.utf8),
                       Paint::none});
      if (!verdicts_.empty()) {
        const std::string word = line.fixed ? std::string() : verdicts_[line.row].word;
        cells.push_back({printable(word, style_.utf8), verdict_paint(word)});
      }
    }
    row.dim = noise(line);
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

  void name(const Line& line, std::size_t width, const std::vector<std::string>& stacks, TextTable::Row& row) const {
    if (line.fixed) {
      row.last = line.name_when_fixed;
      return;
    }
    const GrowthRow& r = report_.rows[line.row];
    if (grouped_) {
      row.last = key_text(report_.keys[r.key], report_.options.by, width, glyphs_);
      return;
    }
    row.last = stacks[line.shown];
    row.last += match_mark(r.tier);
    if (noise(line)) row.last += kNoiseMark;
    if (suspected_[line.row] != 0) row.last_paint = Paint::bold;
  }

  const GrowthReport& report_;
  const Selection& selection_;
  const std::vector<RowVerdict>& verdicts_;
  const Style& style_;
  Glyphs glyphs_;
  bool grouped_;
  bool wide_;
  std::vector<char> suspected_;     // per row: below a suspect
  std::vector<std::string> sites_;  // per shown row, or none
  bool with_tags_ = false;
  std::vector<Line> lines_;
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
  TextTable table({{"growth", 9, true, ""},
                   {"before", 9, true, "  "},
                   {"after", 9, true, spaced(glyphs.arrow)},
                   {"share", 5, true, "  "}},
                  "function", style.thousands);
  const std::size_t count = std::min(style.max_rows, report.story->functions.size());
  for (std::size_t i = 0; i < count; ++i) {
    const FunctionGrowth& one = report.story->functions[i];
    TextTable::Row& row = table.add();
    row.cells = {{snapdiff::value_text(one.growth, report.unit, true), growth_paint(one.growth)},
                 {snapdiff::value_text(one.current - one.growth, report.unit), Paint::none},
                 {snapdiff::value_text(one.current, report.unit), Paint::none},
                 {share_text(one.share), Paint::none}};
  }
  const std::size_t rest = table.rest_width(style.width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<FrameView, 1> frame{report.story->functions[i].function};
    table.rows()[i].last = stack_cell(frame, rest, glyphs).text;
  }
  return out + table.text(style.colour);
}

}  // namespace

std::string growth_table(const GrowthReport& report, const Selection& selection,
                         const std::vector<RowVerdict>& verdicts, const Style& style) {
  if (std::string spread = spread_table(report, selection, style); !spread.empty()) return spread;
  return GrowthTable(report, selection, verdicts, style).text();
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
  const auto most = static_cast<double>(*std::max_element(heights.begin(), heights.end()));
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

}  // namespace snapdiff::report
