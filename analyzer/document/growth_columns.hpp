#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/document/column.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/trend.hpp"

/// The table of growth, of diff and of trend: its columns, and which of them each form has.
namespace snapdiff::document {

/// A table: whose it is, and how it is looked at.
///   trend             null in a diff
///   verdicts          parallel to the rows, or empty
///   for_people        what says nothing is blank
///   wide              there is room for sites, verdicts and sparklines
///   cumulative_leads  values before and after are of groups with all that they call
struct GrowthView {
  const GrowthReport& report;
  const TrendReport* trend = nullptr;
  std::span<const Verdict> verdicts = {};
  bool for_people = false, wide = false, cumulative_leads = false;

  mutable std::vector<FrameView> frames = {};  ///< of the cell that was asked for last
  mutable std::vector<std::int64_t> numbers = {};

  bool grouped() const { return report.options.by != GroupBy::stack; }
  bool judged() const { return trend == nullptr || trend->series.steps.size() >= kJudgedFrom; }
  bool has_series() const { return report.series_length > 0; }
};

/// A line: a row of the report, a stack that only one end lists, what completes the sum, or the total.
struct GrowthLine {
  using View = GrowthView;
  enum class Kind : std::uint8_t { row, listed_once, rest, total };
  const GrowthView& view;
  Kind kind = Kind::row;
  std::uint32_t number = 0;    ///< of the row, or of the stack in GrowthReport::listed_once
  std::string_view name = {};  ///< "[2 others]", "TOTAL"
  Change value = {}, objects = {};
  std::optional<double> error = {};
  std::string_view tag = {};  ///< "[ = ]": in a table for people

  bool is_row() const { return kind == Kind::row; }
  const GrowthRow& row() const { return view.report.rows[number]; }
  /// Cumulative values do not add up over rows: sums have none, the total has its own.
  std::optional<Change> cumulative() const;
  /// Values before and after as the table shows them: flat, or cumulative where those lead.
  std::optional<Change> leading() const { return view.cumulative_leads ? cumulative() : std::optional(value); }
  /// Of the row, or of the total of a trend; null elsewhere.
  const Verdict* verdict() const;
};

GrowthLine row_line(const GrowthView& view, std::uint32_t row);
GrowthLine listed_once_line(const GrowthView& view, std::uint32_t number);
/// `name` has to outlive the line.
GrowthLine rest_line(const GrowthView& view, std::string_view name, const Change& value, const Change& objects);
/// Amounts of no row: "[unattributed]", and "[filtered out]" where there is something.
std::vector<GrowthLine> unlisted_lines(const GrowthView& view);
GrowthLine total_line(const GrowthView& view);

/// Known values of a stack that only one end lists.
std::optional<std::int64_t> known_baseline(const ListedOnce& row);
std::optional<std::int64_t> known_current(const ListedOnce& row, const GrowthReport& report);

/// The part that one round trip of a scenario leaves of this growth over the whole series, cut to a whole number.
std::int64_t per_loop(const TrendReport& trend, std::int64_t growth);

using GrowthColumn = Column<GrowthLine>;
using GrowthField = Field<GrowthLine>;
using GrowthPlace = Place<GrowthLine>;

/// In JSON, JSON Lines and CSV.
std::span<const GrowthField> growth_fields(bool of_trend);
/// On a terminal, and in Markdown.
std::span<const GrowthPlace> growth_screen(bool of_trend);
std::span<const GrowthPlace> growth_markdown(bool of_trend);
/// In the HTML page, behind the name; assets/columns.js shows them for other pairs of snapshots.
std::span<const GrowthPlace> growth_page();
/// In PDF, behind the name. Widths are in points; names get the rest of the line.
std::span<const GrowthPlace> growth_print();

}  // namespace snapdiff::document
