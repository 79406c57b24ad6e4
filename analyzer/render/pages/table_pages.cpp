#include <algorithm>

#include "analyzer/render/pages/growth_table.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kTablePagesMostPages = 3;
constexpr double kTablePagesTableTop = kTop + 66;
constexpr std::size_t kTablePagesUnchangedRows = 12;

/// Rows of one page.
GrowthTable table_of(const PostmortemPages& pages, std::size_t part) {
  GrowthTable table;
  table.report = &pages.story.overall;
  table.verdicts = pages.story.verdicts.empty() ? nullptr : &pages.story.verdicts;
  table.title = "Growth per stack, first \u2192 last";
  table.remark = pages.story.overall.exact ? "largest change first; \u00b10 because every allocation was recorded"
                 : pages.story.overall.has_error
                     ? "largest change first; \u00b1 is one standard deviation; ~ may be chance"
                     : "largest change first; how far sampling may mislead is not known";
  table.before = "first";
  table.after = "last";
  table.two_lines = true;
  table.goes_on = part + 1 < pages.parts.size();
  for (std::size_t i = 0; i < part; ++i)
    table.earlier.insert(table.earlier.end(), pages.parts[i].begin(), pages.parts[i].end());
  table.rows = pages.parts[part];
  for (const std::size_t row : table.rows) {
    table.anchors.push_back(row_anchor(kTablePage, row));
    const std::uint32_t node = row < pages.row_node.size() ? pages.row_node[row] : 0;
    const std::uint32_t tile = row < pages.tile_node.size() ? pages.tile_node[row] : 0;
    table.links.push_back(tile != 0   ? node_anchor(kTilePrefix, tile)
                          : node != 0 ? node_anchor(page_prefix(kGraphPage), node)
                                      : std::string());
  }
  return table;
}

}  // namespace

void choose_table_rows(PostmortemPages& pages) {
  GrowthTable table;
  table.report = &pages.story.overall;
  table.two_lines = true;
  const double room = kBottom - 8 - kTablePagesTableTop;
  const auto fits = [&] {
    std::size_t rows = 1;
    while (table_height(table, rows + 1) <= room) ++rows;
    return rows;
  };
  const std::size_t with_sums = fits();
  table.goes_on = true;
  const std::size_t without = fits();
  const std::vector<std::size_t> chosen =
      choose_rows(pages.story.overall, with_sums + (kTablePagesMostPages - 1) * without, kTablePagesUnchangedRows,
                  passing_row(pages.story.overall));
  for (std::size_t at = 0; at < chosen.size() || pages.parts.empty();) {
    const std::size_t left = chosen.size() - at;
    // All but the last page have no sums.
    const std::size_t take = left <= with_sums ? left : std::min(without, left);
    pages.parts.emplace_back(chosen.begin() + static_cast<std::ptrdiff_t>(at),
                             chosen.begin() + static_cast<std::ptrdiff_t>(at + take));
    at += take;
  }
  // Rows that fill a page to its end leave the sums to a page of their own.
  if (pages.parts.back().size() > with_sums) pages.parts.emplace_back();
  pages.table_rows = chosen;
}

void plan_tables(PostmortemPages& pages) {
  pages.plan.add_each(pages.parts.size(), "stacks", "Growth by stack", "Growth by stack, continued",
                      "Which stacks grew, which shrank?", "Growth by stack",
                      [&pages](PdfDocument& document, std::size_t part) {
                        draw_table(table_of(pages, part), document.canvas(), kTablePagesTableTop);
                      });
}

}  // namespace snapdiff::render
