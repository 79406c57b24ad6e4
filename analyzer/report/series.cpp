#include <algorithm>
#include <cmath>
#include <functional>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

namespace {

constexpr std::size_t kBarWidth = 40;
constexpr std::string_view kOtherBuild = "  another build";

/// A series of this many snapshots still fits a tall terminal; longer ones show both ends.
constexpr std::size_t kMostSteps = 60;
constexpr std::size_t kStepsAtEnds = 20;

/// Rows that rose and fell back are listed below the table, the three largest.
constexpr std::size_t kMostPassing = 3;
constexpr double kPassingShare = 0.01;  // of the largest total

bool is_shown(std::size_t step, std::size_t count, const Style& style) {
  return style.max_rows == 0 || count <= kMostSteps || step < kStepsAtEnds || step + kStepsAtEnds >= count;
}

std::vector<Sheet::Cell> step_cells(const SeriesReport& series, std::size_t i) {
  const SeriesStep& step = series.steps[i];
  const std::string& unit = series.overall.unit;
  return {{std::to_string(i + 1)},
          {value_text(step.total, unit)},
          {i == 0 ? "" : value_text(step.growth, unit, true), growth_paint(step.growth)}};
}

std::string step_table(const SeriesReport& series, const Style& style) {
  const GrowthReport& overall = series.overall;
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::int64_t most = 1;
  for (const SeriesStep& step : series.steps) most = std::max(most, step.total);
  const bool heaviest = style.width >= kWide;

  Sheet table({{"step", 4, true, ""}, {metric_label(overall.metric), 8, true, "  "}, {"step", 9, true, "  "}},
              heaviest ? std::string(kBarWidth + 2, ' ') + "changed most" : "", style.thousands);
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    if (!is_shown(i, series.steps.size(), style)) {
      if (is_shown(i - 1, series.steps.size(), style)) {
        Sheet::Row& gap = table.add();
        gap.cells = {{std::string(glyphs.ellipsis)}};
        gap.last = counted(series.steps.size() - 2 * kStepsAtEnds, "more step") + ": -n 0 shows all";
      }
      continue;
    }
    const SeriesStep& step = series.steps[i];
    Sheet::Row& row = table.add();
    row.cells = step_cells(series, i);
    const double share = static_cast<double>(std::max<std::int64_t>(step.total, 0)) / static_cast<double>(most);
    row.last.assign(static_cast<std::size_t>(std::lround(static_cast<double>(kBarWidth) * share)), '#');
    if (heaviest && i > 0 && step.heaviest_growth != 0) {
      const std::string growth = value_text(step.heaviest_growth, overall.unit, true);
      row.last = pad_right(row.last, kBarWidth) + "  " + pad_left(growth, 9) + "  " +
                 stack_cell(step.heaviest, style.width - 83 - (step.other_build ? kOtherBuild.size() : 0), glyphs).text;
    }
    if (step.other_build) row.last += kOtherBuild;
    if (!step.restart.empty()) row.last += "  restart? " + printable(step.restart, style.utf8);
  }
  return table.text(style.colour);
}

struct PassingRow {
  std::uint32_t row = 0;
  std::size_t up = 0, down = 0;
  std::int64_t rise = 0, fall = 0;
};

/// Rows with nothing to show from first to last that were large in between.
std::vector<PassingRow> passing_rows(const SeriesReport& series) {
  const GrowthReport& overall = series.overall;
  const std::size_t length = overall.series_length;
  std::vector<PassingRow> found;
  if (length < 3) return found;
  std::int64_t most = 1;
  for (const SeriesStep& step : series.steps) most = std::max(most, step.total);
  std::vector<std::int64_t> scratch;
  for (std::uint32_t row = 0; row < overall.rows.size(); ++row) {
    if (overall.rows[row].value.growth() != 0) continue;
    const auto [lowest, highest] = overall.series.range(row);
    if (static_cast<double>(highest) - static_cast<double>(lowest) < kPassingShare * static_cast<double>(most))
      continue;
    const std::span<const std::int64_t> values = overall.series.row(row, scratch);
    PassingRow passing{row};
    for (std::size_t i = 1; i < length; ++i) {
      const std::int64_t change = values[i] - values[i - 1];
      if (change > passing.rise) {
        passing.rise = change;
        passing.up = i;
      }
      if (change < passing.fall) {
        passing.fall = change;
        passing.down = i;
      }
    }
    if (static_cast<double>(passing.rise) >= kPassingShare * static_cast<double>(most)) found.push_back(passing);
  }
  std::ranges::stable_sort(found, std::greater<>(), &PassingRow::rise);
  if (found.size() > kMostPassing) found.resize(kMostPassing);
  return found;
}

std::string passing_text(const SeriesReport& series, const Style& style) {
  const GrowthReport& overall = series.overall;
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::string out;
  constexpr std::size_t kNumbers = 66;  // what is after the name, in full
  const std::size_t room = std::max<std::size_t>(32, style.width > kNumbers ? style.width - kNumbers : 0);
  for (const PassingRow& passing : passing_rows(series)) {
    const std::string name = row_text(overall, overall.rows[passing.row], room, glyphs);
    const auto at = [&](std::int64_t change, std::size_t step) {
      return value_text(change, overall.unit, true) + " at " + std::to_string(step + 1);
    };
    const std::string up = at(passing.rise, passing.up);
    const std::string down = at(passing.fall, passing.down);
    out += wrapped_line(name + ": " + (passing.up < passing.down ? up + ", " + down : down + ", " + up) +
                            "; not part of first " + std::string(glyphs.arrow) + " last",
                        style);
  }
  return out.empty() ? out : "\n" + out;
}

std::string step_tables(const std::vector<GrowthReport>& steps, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::string out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const GrowthReport& step = steps[i];
    out += "\nstep " + std::to_string(i + 2) + "   " + snapshot_name(step.baseline, style.utf8) + " " +
           std::string(glyphs.arrow) + " " + snapshot_name(step.current, style.utf8) + "   " +
           value_text(step.total.growth(), step.unit, true) + "\n\n";
    out += growth_table(step, select_rows(step, style, unchanged_rows(step, style)), {}, style);
    out += listed_once_text(step, style);
    for (const std::string& note : note_lines(step, style.utf8)) out += wrapped_line(note, style);
  }
  return out;
}

std::string text_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                        const Style& style) {
  const GrowthReport& overall = series.overall;
  std::string out = headline_text(headline(series, style), style);
  out += "\n" + step_table(series, style);
  out += step_tables(steps, style);
  const Glyphs glyphs = glyphs_for(style.utf8);
  out += "\n";
  if (!steps.empty()) out += "first " + std::string(glyphs.arrow) + " last\n\n";
  out += growth_table(overall, select_rows(overall, style, unchanged_rows(overall, style)), verdicts, style);
  out += listed_once_text(overall, style);
  out += passing_text(series, style);
  return out + text_end(note_lines(overall, style.utf8), style);
}

std::string markdown_series(const SeriesReport& series, RowVerdicts verdicts, const Style& style) {
  const GrowthReport& report = series.overall;
  std::string out = markdown_title(report.baseline, report.current, report.metric, report.total, report.unit) +
                    markdown_head(headline(series, unwrapped(style)));
  Sheet sheet({{"step"}, {metric_label(report.metric)}, {"growth"}}, "snapshot", {});
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    const SeriesStep& step = series.steps[i];
    Sheet::Row& row = sheet.add();
    row.cells = step_cells(series, i);
    row.last = literal(snapshot_name(step.snapshot, true));
    if (step.other_build) row.last += " (another build)";
    if (!step.restart.empty()) row.last += " (restart? " + literal(printable(step.restart)) + ")";
  }
  return out + sheet.markdown() + "\n" + growth_rows(report, verdicts, style) + listed_once_markdown(report, style) +
         markdown_notes(note_lines(report, true));
}

}  // namespace

std::string write_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                         const Style& style) {
  const RowVerdicts known = verdicts.size() == series.overall.rows.size() ? verdicts : RowVerdicts();
  return in_form(
      style.form, [&] { return text_series(series, steps, known, style); },
      [&] { return markdown_series(series, known, style); }, [&] { return csv_diff(series.overall, known, style); },
      [&] { return json_series(series, steps, known, style); });
}

}  // namespace snapdiff::report
