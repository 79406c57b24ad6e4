#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/graph/growth_graph.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/paint/pdf_document.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/postmortem.hpp"

/// The post-mortem report: its pages are planned first, so that they can name each other, and drawn then.
namespace snapdiff::render {

/// What all pages are made from; outlives the plan.
struct PostmortemPages {
  const Postmortem& report;
  const MemoryStory& memory;
  const graph::GraphOptions& options;
  Typesetter& type;
  Story story;                                  ///< of the judged part
  bool has_stacks = false;                      ///< else there are counters alone
  bool full = false;                            ///< with the appendix
  std::vector<std::size_t> table_rows;          ///< rows of the tables by stack
  std::vector<std::uint32_t> row_node;          ///< of the graph on one page, by row
  std::vector<std::uint32_t> tile_node;         ///< of the graph in tiles; empty without one
  std::vector<std::vector<std::size_t>> parts;  ///< table_rows by page
  PagePlan plan;
};

/// Of the graph in tiles.
inline constexpr const char* kTilePrefix = "tiled-";

inline std::string suspect_key(std::size_t number) { return std::string("suspect ").append(std::to_string(number)); }

/// The inputs in order, with their totals where there is a metric.
struct Input {
  SnapshotRef snapshot;
  std::optional<std::int64_t> total;
};
std::vector<Input> inputs_of(const Postmortem& report);

/// Fills table_rows and parts.
void choose_table_rows(PostmortemPages& pages);

/// Each adds its pages to the plan.
/// What happened: the answer, or of counters alone what they say.
void plan_answer(PostmortemPages& pages);
/// What was compared, how it was matched, where it ran; contents.
void plan_environment(PostmortemPages& pages);
void plan_narrative(PostmortemPages& pages);
void plan_totals(PostmortemPages& pages);
Status plan_suspects(PostmortemPages& pages);
/// The graph on one page, and in tiles where that one leaves nodes out.
Status plan_graph(PostmortemPages& pages);
Status plan_flame(PostmortemPages& pages);
void plan_tables(PostmortemPages& pages);
void plan_functions(PostmortemPages& pages);
/// Why the allocation failed; only of reports with a failure.
void plan_failure(PostmortemPages& pages);
void plan_devices(PostmortemPages& pages);
void plan_counters(PostmortemPages& pages);
void plan_unknown(PostmortemPages& pages);
void plan_inputs(PostmortemPages& pages);
void plan_glossary(PostmortemPages& pages);

/// Baseline of what follows a page's title.
inline constexpr double kLead = kTop + 56;

/// A section's title with a line below it, and a remark at its right. y is the baseline.
void draw_section(Canvas& canvas, double y, const std::string& title, const std::string& remark = "");
/// The same as a block.
Block section_block(const std::string& title, const std::string& remark = "");

}  // namespace snapdiff::render
