#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/graph/graph_scene.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/pdf_document.hpp"
#include "snapdiff/growth.hpp"

/// The pages of the report: page 1 is the answer with the table, then comes the graph first -> last.
namespace snapdiff::render {

/// In the names of what links lead to.
inline constexpr int kGraphPage = 2;
inline constexpr int kTablePage = 1;

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
/// The same of any graph: `trim` limits its nodes to a number.
using Trim = std::function<Result<graph::GrowthGraph>(std::size_t max_nodes)>;
Result<FittedScene> fit_scene(const Trim& trim, Typesetter& type, std::size_t first_try, double w, double h,
                              const SceneWords& words);
/// Draws it at `y`, in the middle of the page.
void draw_scaled(const FittedScene& fitted, Canvas& canvas, double y, const SceneLinks& links);
inline constexpr double kGraphTop = kTop + 94;

inline constexpr double kLegendTop = kBottom - kLegendHeight - 4;

/// "p2-n7" and the like.
std::string page_prefix(int page);
std::string row_anchor(int page, std::size_t row);

/// The node at which a graph draws a row, by its row_node; 0: none.
inline std::uint32_t node_of_row(const std::vector<std::uint32_t>& row_node, std::size_t row) {
  return row < row_node.size() ? row_node[row] : 0;
}
/// The nodes at which `rows` are drawn lead to these in the table that begins on `page`.
void link_nodes(SceneLinks& links, const graph::GrowthGraph& graph, const std::vector<std::size_t>& rows, int page);

/// The inputs and what is to be known of them: height, with the space above it, and drawing.
double below_graph(const Story& story, Typesetter& type);
void draw_below_graph(const Story& story, Canvas& canvas);

/// The texts around a graph that is a picture of its own. All printable().
struct PictureText {
  std::string program, title, foot;
  SceneWords words;
  std::vector<std::string> notes = {};  ///< below the foot
};

/// SVG or PNG. Errors: internal.
Result<std::string> draw_graph(graph::GrowthGraph graph, const PictureText& text, PictureForm form, Typesetter& type);

/// Errors: internal.
Result<std::string> graph_as_dot(const graph::GrowthGraph& graph, const PictureText& text);

/// Remarks of a comparison on its inputs, below a picture of it: a page is read without the terminal's words.
/// The gravest first, "warning: ..." and the like in front of all that is more than a remark. printable().
std::vector<std::string> note_texts(const Notes& notes);

/// Height of the lines that draw_notes() draws; 0 without notes. Long notes are wrapped, many are counted.
double notes_height(const std::vector<std::string>& notes, Typesetter& type);

/// From y, the upper edge, down.
void draw_notes(const std::vector<std::string>& notes, Canvas& canvas, double y);

/// The title of page 1: the line that makes all else secondary, else the headline.
std::string answer_title(const GrowthReport& report);

/// The lines that make all else secondary, if any.
std::vector<Block> event_blocks(const GrowthReport& report, Typesetter& type);

/// The content of a table of growth. A row leads to its node in the graph, and the other way round.
struct GrowthTable {
  const GrowthReport* report = nullptr;
  const std::vector<Verdict>* verdicts = nullptr;  ///< parallel to the report's rows; null: classes instead
  std::string remark;
  std::vector<std::size_t> rows;             ///< rows of the report, in order
  std::vector<std::uint32_t> row_node = {};  ///< of the graph; may be empty
};

/// The largest changes by stack, as many as fit `room`; without rows where that is too little to be of use.
GrowthTable stack_table(const Story& story, double room);

/// Rows that a table of at most `most` rows shows: those that changed, the one that was allocated and freed,
/// then unchanged ones up to `unchanged`.
std::vector<std::size_t> choose_rows(const GrowthReport& report, std::size_t most, std::size_t unchanged,
                                     std::ptrdiff_t passing);

/// Height of draw_table() for this number of rows.
double table_height(const GrowthTable& table, std::size_t rows);
/// Title, head, rows, then others, unattributed, filtered and TOTAL: every byte of growth is in one
/// line. Returns the lower edge.
double draw_table(const GrowthTable& table, Canvas& canvas, double y);

/// The pages of a comparison: planned first, in the order of these functions, and drawn then, since rows of the table
/// and nodes of the graph lead to each other. Outlives the plan.
struct ComparisonPages {
  const Story& story;
  Typesetter& type;
  PagePlan& plan;
  GrowthTable table = {};
};
/// Page 1 of every report: what the story of the comparison says, from the line below the title down: the figures, the
/// timeline with the culprits' bands, the culprits, the next command, then the table. The timeline is as high as the
/// page leaves room. `remark`: a line above all else, may be empty.
void plan_answer(ComparisonPages& pages, const std::string& question, const std::string& remark);
/// The graph; the table, where page 1 has no room for it.
Status plan_graph(ComparisonPages& pages, const graph::GraphOptions& options);

}  // namespace snapdiff::render
