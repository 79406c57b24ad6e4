#pragma once

#include <string>
#include <vector>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/paint/canvas.hpp"

namespace snapdiff::render {

/// What a table of growth shows and where its rows link to.
struct GrowthTable {
  const GrowthReport* report = nullptr;
  const std::vector<Verdict>* verdicts = nullptr;  ///< parallel to the report's rows; null: classes instead
  std::string title, remark;
  std::string before = "before", after = "after";  ///< heads of the two value columns
  bool two_lines = false;                          ///< name and callers below each other, with sparkline
  std::vector<std::size_t> rows;                   ///< rows of the report, in order
  std::vector<std::string> anchors, links;         ///< parallel to rows; may be shorter
  std::vector<std::size_t> earlier;                ///< rows of this table on pages before; not among the others
  bool goes_on = false;                            ///< on a later page: no others and no TOTAL here
};

/// Rows that a table of at most `most` rows shows: those that changed, the one that was allocated and freed,
/// then unchanged ones up to `unchanged`.
std::vector<std::size_t> choose_rows(const GrowthReport& report, std::size_t most, std::size_t unchanged,
                                     std::ptrdiff_t passing);

/// Height of draw_table() with so many rows.
double table_height(const GrowthTable& table, std::size_t rows);
/// Title, head, rows, then others, unattributed, filtered and TOTAL: every byte of growth is in one
/// line. Returns the lower edge.
double draw_table(const GrowthTable& table, Canvas& canvas, double y);

}  // namespace snapdiff::render
