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

/// The source of all pages; outlives the plan.
struct PostmortemPages {
  const Postmortem& report;
  const std::string& source;  ///< inputs, for the foot where no stacks are compared
  const graph::GraphOptions& options;
  Typesetter& type;
  Story story;              ///< of the judged part
  bool has_stacks = false;  ///< else there are counters alone
  PagePlan plan = {};
  ComparisonPages growth{story, type, plan};
};

/// Each adds its pages to the plan.
/// The answer; of counters alone their narrative.
void plan_answer(PostmortemPages& pages);
void plan_narrative(PostmortemPages& pages);
/// Why the allocation failed; only of reports with a failure.
void plan_failure(PostmortemPages& pages);
/// What RSS consists of, first and last; only of reports that know it.
void plan_resident(PostmortemPages& pages);
void plan_counters(PostmortemPages& pages);
void plan_unknown(PostmortemPages& pages);

/// Baseline of what follows a page's title.
inline constexpr double kLead = kTop + 56;

/// A section's title with a line below it, and a remark at its right. y is the baseline.
void draw_section(Canvas& canvas, double y, const std::string& title, const std::string& remark = "");
/// The same as a block.
Block section_block(const std::string& title, const std::string& remark = "");

}  // namespace snapdiff::render
