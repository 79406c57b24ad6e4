#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/graph/graph_scene.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/pdf_document.hpp"
#include "snapdiff/growth.hpp"

/// The pages of the report: page 1 is the answer, page 2 the graph first -> last, page 3 the table.
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
/// The same of any graph: `trim` limits its nodes to a number.
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

/// The node at which a graph draws a row, by its row_node; 0: none.
inline std::uint32_t node_of_row(const std::vector<std::uint32_t>& row_node, std::size_t row) {
  return row < row_node.size() ? row_node[row] : 0;
}
/// The nodes at which `rows` are drawn lead to these in the table that begins on `page`.
void link_nodes(SceneLinks& links, const graph::GrowthGraph& graph, const std::vector<std::size_t>& rows, int page);

/// Large numbers beside each other.
struct KeyFigure {
  std::string name, value, detail;
  Color color = kInk;
};
std::vector<KeyFigure> key_figures(const Story& story);
/// `y`: 4 below the rule above them. Returns the rule below.
double draw_figures(const std::vector<KeyFigure>& figures, Canvas& canvas, double y);

/// Key figures, the largest changes by stack, the inputs, what is to be known of them. `graph_rows` is row_node of the
/// graph on page 2: rows link there.
void draw_table_page(const Story& story, PdfDocument& document, const std::vector<std::size_t>& rows,
                     const std::vector<std::uint32_t>& graph_rows);
/// Rows that this page shows; they are the same when it is drawn.
std::vector<std::size_t> table_page_rows(const Story& story, Typesetter& type);
void draw_graph_page(PdfDocument& document, const FittedScene& fitted, const std::vector<std::size_t>& summary);

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

/// The title of the answer's page: the line that makes all else secondary, else the headline.
std::string answer_title(const GrowthReport& report);

/// Page 1 of every report: the headline, the timeline with the culprits' bands, the culprits, the next command. It lays
/// out what the story of the comparison says.
/// From the line below the title down; returns the lowest baseline. `remark`: a line above all else, may be empty.
double draw_answer(const Story& story, Canvas& canvas, const std::string& remark);

/// The line that makes all else secondary, if any. Returns the lower edge, else y.
double draw_events(const GrowthReport& report, Canvas& canvas, double y);

/// The content of a table of growth, and the targets of its rows.
struct GrowthTable {
  const GrowthReport* report = nullptr;
  const std::vector<Verdict>* verdicts = nullptr;  ///< parallel to the report's rows; null: classes instead
  std::string title, remark;
  std::string before = "before", after = "after";  ///< heads of the two value columns
  bool two_lines = false;                          ///< name and callers below each other, with sparkline
  std::vector<std::size_t> rows;                   ///< rows of the report, in order
  std::vector<std::string> anchors, links;         ///< parallel to rows; may be shorter
};

/// Rows that a table of at most `most` rows shows: those that changed, the one that was allocated and freed,
/// then unchanged ones up to `unchanged`.
std::vector<std::size_t> choose_rows(const GrowthReport& report, std::size_t most, std::size_t unchanged,
                                     std::ptrdiff_t passing);

/// Height of draw_table() for this number of rows.
double table_height(const GrowthTable& table, std::size_t rows);
/// Title, head, rows, then others, unattributed, filtered and TOTAL: every byte of growth is in one
/// line. Returns the lower edge.
double draw_table(const GrowthTable& table, Canvas& canvas, double y);

}  // namespace snapdiff::render
