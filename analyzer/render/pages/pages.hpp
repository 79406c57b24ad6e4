#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/graph/graph_scene.hpp"
#include "analyzer/render/paint/page_plan.hpp"

/// The pages of the report. Page 1 is the answer, page 2 the graph first -> last, page 3 the table; the full report
/// goes on with one per consecutive pair, then the inputs where page 3 has no place for them.
namespace snapdiff::render {

inline constexpr int kGraphPage = 2;
inline constexpr int kTablePage = 3;

/// A scene and the scale at which it fits.
struct FittedScene {
  GraphScene scene;
  double scale = 1;
  std::size_t max_nodes = 0;  ///< with which it was made
};

/// The largest graph that fits into w by h with legible text: scaled down to a floor first, then
/// with less detail, then with fewer nodes. `first_try` bounds the nodes.
Result<FittedScene> fit_scene(const graph::GrowthModel& model, Typesetter& type, std::size_t first_try, double w,
                              double h);
/// The same of any graph: `trim` makes the one of at most so many nodes.
using Trim = std::function<Result<graph::GrowthGraph>(std::size_t max_nodes)>;
Result<FittedScene> fit_scene(const Trim& trim, Typesetter& type, std::size_t first_try, double w, double h,
                              const SceneWords& words);
/// Draws it at `y`, in the middle of the page.
void draw_scaled(const FittedScene& fitted, Canvas& canvas, double y, const SceneLinks& links);
inline constexpr double kGraphTop = kTop + 94;
inline constexpr double kLegendTop = kBottom - kLegendHeight - 4;

/// Height that page 2 has for its graph.
double graph_page_room();

/// "p2-n7" and the like.
std::string page_prefix(int page);
std::string row_anchor(int page, std::size_t row);

/// Large numbers beside each other.
struct KeyFigure {
  std::string name, value, detail;
  Color color = kInk;
};
std::vector<KeyFigure> key_figures(const Story& story);
/// `y`: 4 below the rule above them. Returns the rule below.
double draw_figures(const std::vector<KeyFigure>& figures, Canvas& canvas, double y);

/// Whether page 3 holds all inputs.
bool inputs_fit_table_page(const Story& story);
int input_pages(const Story& story);

/// Key figures, the largest changes by stack, the inputs, what is to be known of them. `graph_rows` is row_node of the
/// graph on page 2: rows link there.
void draw_table_page(const Story& story, PdfDocument& document, const std::vector<std::size_t>& rows,
                     const std::vector<std::uint32_t>& graph_rows, int pages);
/// Rows that this page shows; they are the same when it is drawn.
std::vector<std::size_t> table_page_rows(const Story& story, Typesetter& type);
void draw_graph_page(PdfDocument& document, const FittedScene& fitted, const std::vector<std::size_t>& summary);
Status draw_pair_page(const Story& story, std::size_t pair, PdfDocument& document, const graph::GraphOptions& options,
                      std::size_t& nodes_hint);
void plan_input_pages(const Story& story, PagePlan& plan);

}  // namespace snapdiff::render
