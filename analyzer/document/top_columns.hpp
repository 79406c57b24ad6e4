#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/document/column.hpp"
#include "snapdiff/growth.hpp"

/// The table of the heaviest rows of one snapshot: its columns, and which of them each form has.
namespace snapdiff::document {

struct TopView {
  const TopReport& report;
  bool for_people = false, wide = false, cumulative_leads = false;

  mutable std::vector<FrameView> frames = {};  ///< of the cell that was asked for last

  bool grouped() const { return report.options.by != GroupBy::stack; }
};

/// A row of the report; or what completes the sum, and the total, which have a name.
struct TopLine {
  using View = TopView;
  const TopView& view;
  std::uint32_t number = 0;
  std::string_view name = {};
  std::int64_t flat = 0;
  std::optional<std::int64_t> cumulative = {};  ///< cumulative values do not add up over rows
  std::optional<std::int64_t> objects = {};

  bool is_row() const { return name.empty(); }
  const TopRow& row() const { return view.report.rows[number]; }
};

TopLine row_line(const TopView& view, std::uint32_t row);
/// `name` has to outlive the line.
TopLine rest_line(const TopView& view, std::string_view name, std::int64_t value, std::optional<std::int64_t> objects);
/// "[unattributed]" and "[filtered out]", where there is something.
std::vector<TopLine> unlisted_lines(const TopView& view);

std::span<const Field<TopLine>> top_fields();
std::span<const Place<TopLine>> top_screen();
std::span<const Place<TopLine>> top_markdown();

}  // namespace snapdiff::document
