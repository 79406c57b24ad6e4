#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/graph/growth_graph.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

/// The door of the render room: documents and pictures of diffs. Graphviz gives positions, cairo
/// and pango paint; both stay inside. Same input, same fonts: same bytes.
namespace snapdiff::render {

/// Everything one document shows.
struct Story {
  GrowthReport overall;             ///< first -> last, by stack
  std::vector<SeriesStep> steps;    ///< one per snapshot; two or more
  std::vector<GrowthReport> pairs;  ///< consecutive pairs, by stack; empty for two snapshots
  /// Verdict per overall row, parallel to overall.rows; empty below 8 snapshots.
  struct Verdict {
    std::string word;  ///< GROWING, STEP, ... (verdict.md)
    std::string reason;
  };
  std::vector<Verdict> verdicts;
  std::string title;               ///< series or program name for the page head
  std::string version;             ///< "snapdiff 0.1"
  std::string order_note;          ///< "12 snapshots, ordered by the number in the file name; ..."
  std::int64_t created_at_ns = 0;  ///< document date: SOURCE_DATE_EPOCH or the newest input
};

enum class Paper { a4, letter };

/// One PDF: summary page, graph first -> last, then a page per consecutive pair.
/// Errors: io (no fonts installed: names the package), internal. Returns the file's bytes.
Result<std::string> to_pdf(const Story& story, const graph::GraphOptions& options, Paper paper = Paper::a4);

/// The first -> last graph alone. PNG at `scale` pixels a point.
Result<std::string> to_svg(const Story& story, const graph::GraphOptions& options);
Result<std::string> to_png(const Story& story, const graph::GraphOptions& options, double scale = 2.0);
Result<std::string> to_dot(const Story& story, const graph::GraphOptions& options);

}  // namespace snapdiff::render
