#include "analyzer/render/graph/graph_layout.hpp"

#include <graphviz/gvc.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#ifdef SNAPDIFF_GRAPHVIZ_BUILTINS
extern "C" {
extern gvplugin_library_t gvplugin_dot_layout_LTX_library;
}
#endif

/// The one place that touches Graphviz.
namespace snapdiff::render {
namespace {

/// Graphviz takes char* for texts it only reads.
inline char* cs(const char* text) { return const_cast<char*>(text); }
inline char* cs(const std::string& text) { return const_cast<char*>(text.c_str()); }

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
using GraphHandle = std::unique_ptr<Agraph_t, CloseGraph>;

std::mutex& graphviz_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Messages come in pieces ("Error", ": ", text). Guarded by the mutex.
std::string& collected() {
  static std::string text;
  return text;
}

int collect(char* piece) {
  constexpr std::size_t kMost = 1000;
  if (collected().size() < kMost) collected() += piece;
  return 0;
}

/// Holds the lock and collects messages while alive: Graphviz has global state, and two threads in it at once crash.
class GraphvizSession {
 public:
  GraphvizSession() : lock_(graphviz_mutex()) {
    collected().clear();
    agseterr(AGWARN);
    agseterrf(collect);
  }
  ~GraphvizSession() { agseterrf(nullptr); }
  GraphvizSession(const GraphvizSession&) = delete;
  GraphvizSession& operator=(const GraphvizSession&) = delete;

  /// Made at first use, kept for the whole process.
  GVC_t* context() {
#ifdef SNAPDIFF_GRAPHVIZ_BUILTINS
    // The layout linked in: else it is found through a file that only a package's post-install step
    // writes.
    static lt_symlist_t builtins[] = {{"gvplugin_dot_layout_LTX_library", &gvplugin_dot_layout_LTX_library},
                                      {nullptr, nullptr}};
    static GVC_t* const context = gvContextPlugins(builtins, 0);
#else
    static GVC_t* const context = gvContext();
#endif
    return context;
  }

  /// What Graphviz said since the session began, or `otherwise`.
  std::string message(const std::string& otherwise) const {
    std::string text = collected();
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    return text.empty() ? otherwise : text;
  }

 private:
  std::lock_guard<std::mutex> lock_;
};

/// dot would lay out a page millions of points wide without complaint, and run out of memory.
constexpr double kMaxBox = 2000;

std::string inches(double points) {
  char text[32] = {};
  std::snprintf(text, sizeof text, "%.4f", std::clamp(points, 1.0, kMaxBox) / 72);
  return text;
}

/// An empty table of fixed size: the only label whose size dot does not take from a font.
std::string blank_label(double w, double h) {
  char text[160] = {};
  std::snprintf(
      text, sizeof text,
      "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLPADDING=\"0\" CELLSPACING=\"0\" FIXEDSIZE=\"TRUE\" WIDTH=\"%.0f\" "
      "HEIGHT=\"%.0f\"><TR><TD></TD></TR></TABLE>",
      std::ceil(std::min(w, kMaxBox)), std::ceil(std::min(h, kMaxBox)));
  return text;
}

class FreeLayout {
 public:
  FreeLayout(GVC_t* context, Agraph_t* graph) : context_(context), graph_(graph) {}
  ~FreeLayout() { gvFreeLayout(context_, graph_); }
  FreeLayout(const FreeLayout&) = delete;
  FreeLayout& operator=(const FreeLayout&) = delete;

 private:
  GVC_t* context_;
  Agraph_t* graph_;
};

Agraph_t* describe(const LayoutGraph& in, std::vector<Agnode_t*>& nodes, std::vector<Agedge_t*>& edges) {
  Agraph_t* g = agopen(cs("growth"), Agdirected, nullptr);
  if (g == nullptr) return nullptr;
  const auto graph_attribute = [g](const char* name, const std::string& value) {
    agattr(g, AGRAPH, cs(name), cs(value));
  };
  graph_attribute("rankdir", "TB");
  graph_attribute("splines", "true");
  graph_attribute("ranksep", inches(in.rank_gap));
  graph_attribute("nodesep", inches(in.node_gap));
  // Bounds on the network simplex and on crossing minimisation: dense graphs stay under a second.
  graph_attribute("nslimit", "4");
  graph_attribute("nslimit1", "4");
  graph_attribute("mclimit", "1");
  agattr(g, AGNODE, cs("shape"), cs("box"));
  agattr(g, AGNODE, cs("fixedsize"), cs("true"));
  agattr(g, AGNODE, cs("label"), cs(""));
  Agsym_t* const width = agattr(g, AGNODE, cs("width"), cs("1"));
  Agsym_t* const height = agattr(g, AGNODE, cs("height"), cs("1"));
  Agsym_t* const group = agattr(g, AGNODE, cs("group"), cs(""));
  agattr(g, AGEDGE, cs("arrowhead"), cs("none"));
  Agsym_t* const weight = agattr(g, AGEDGE, cs("weight"), cs("1"));
  Agsym_t* const label = agattr(g, AGEDGE, cs("label"), cs(""));
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    Agnode_t* n = agnode(g, cs(std::to_string(i)), 1);
    agxset(n, width, cs(inches(in.nodes[i].w)));
    agxset(n, height, cs(inches(in.nodes[i].h)));
    if (in.nodes[i].spine) agxset(n, group, cs("spine"));
    nodes.push_back(n);
  }
  for (const LayoutGraph::Edge& edge : in.edges) {
    Agedge_t* e = agedge(g, nodes[edge.from], nodes[edge.to], cs(std::to_string(edges.size())), 1);
    agxset(e, weight, cs(edge.spine ? "40" : "2"));
    if (edge.label_w > 0) {
      char* const html = agstrdup_html(g, cs(blank_label(edge.label_w, edge.label_h)));
      agxset(e, label, html);
      agstrfree(g, html);
    }
    edges.push_back(e);
  }
  return g;
}

std::vector<Point> curve_of(Agedge_t* edge, Agnode_t* from, double top) {
  std::vector<Point> out;
  const splines* const all = ED_spl(edge);
  if (all == nullptr) return out;
  for (std::size_t b = 0; b < static_cast<std::size_t>(all->size); ++b) {
    const bezier& part = all->list[b];
    for (std::size_t i = b == 0 ? 0 : 1; i < static_cast<std::size_t>(part.size); ++i)
      out.push_back({part.list[i].x, top - part.list[i].y});
  }
  if (out.size() < 4) return {};
  // dot draws an edge that runs upwards from the lower end.
  const Point tail{ND_coord(from).x, top - ND_coord(from).y};
  const auto far = [&](Point p) { return std::hypot(p.x - tail.x, p.y - tail.y); };
  if (far(out.front()) > far(out.back())) std::ranges::reverse(out);
  return out;
}

/// In labels a backslash begins an escape (\N is the node's name, \l ends a line): double it.
std::string label_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string width_text(double width) {
  char text[32] = {};
  std::snprintf(text, sizeof text, "%.2f", width);
  return text;
}

std::string node_id(std::size_t i) { return std::string("n").append(std::to_string(i)); }

}  // namespace

Result<LayoutResult> lay_out(const LayoutGraph& in) {
  GraphvizSession session;
  GVC_t* const context = session.context();
  if (context == nullptr) return Error{ErrorCode::internal, "graph layout: Graphviz did not start"};
  std::vector<Agnode_t*> nodes;
  std::vector<Agedge_t*> edges;
  const GraphHandle graph(describe(in, nodes, edges));
  if (graph == nullptr) return Error{ErrorCode::internal, "graph layout: " + session.message("no graph")};
  if (gvLayout(context, graph.get(), "dot") != 0)
    return Error{ErrorCode::internal, "graph layout: " + session.message("dot failed")};
  const FreeLayout free_later(context, graph.get());

  LayoutResult out;
  const boxf box = GD_bb(graph.get());
  out.w = box.UR.x;
  out.h = box.UR.y;
  for (Agnode_t* n : nodes) out.nodes.push_back({ND_coord(n).x, box.UR.y - ND_coord(n).y});
  out.labels.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    out.edges.push_back(curve_of(edges[i], nodes[in.edges[i].from], box.UR.y));
    const textlabel_t* const label = ED_label(edges[i]);
    if (label != nullptr && label->set) out.labels[i] = {label->pos.x, box.UR.y - label->pos.y};
  }
  return out;
}

Result<std::string> write_dot(const std::string& title, const std::vector<DotNode>& nodes,
                              const std::vector<DotEdge>& edges) {
  GraphvizSession session;
  const GraphHandle graph(agopen(cs("growth"), Agdirected, nullptr));
  if (graph == nullptr) return Error{ErrorCode::internal, "graph as text: " + session.message("no graph")};
  Agraph_t* const g = graph.get();
  agattr(g, AGRAPH, cs("label"), cs(label_text(title)));
  agattr(g, AGRAPH, cs("fontname"), cs("Inter,DejaVu Sans,sans-serif"));
  agattr(g, AGRAPH, cs("rankdir"), cs("TB"));
  agattr(g, AGNODE, cs("shape"), cs("box"));
  agattr(g, AGNODE, cs("fontname"), cs("Inter,DejaVu Sans,sans-serif"));
  agattr(g, AGNODE, cs("fontsize"), cs("9"));
  for (const char* name : {"label", "tooltip", "fillcolor", "color"}) agattr(g, AGNODE, cs(name), cs(""));
  agattr(g, AGNODE, cs("style"), cs("filled"));
  agattr(g, AGNODE, cs("penwidth"), cs("1"));
  agattr(g, AGNODE, cs("peripheries"), cs("1"));
  agattr(g, AGEDGE, cs("fontname"), cs("Inter,DejaVu Sans,sans-serif"));
  agattr(g, AGEDGE, cs("fontsize"), cs("7"));
  agattr(g, AGEDGE, cs("arrowsize"), cs("0.5"));
  for (const char* name : {"label", "color"}) agattr(g, AGEDGE, cs(name), cs(""));
  agattr(g, AGEDGE, cs("style"), cs("solid"));
  agattr(g, AGEDGE, cs("penwidth"), cs("1"));

  std::vector<Agnode_t*> made;
  const auto set = [](void* object, const char* name, const std::string& value) { agset(object, cs(name), cs(value)); };
  for (const DotNode& node : nodes) {
    Agnode_t* const n = agnode(g, cs(node_id(made.size())), 1);
    set(n, "label", label_text(node.label));
    set(n, "tooltip", label_text(node.tooltip));
    set(n, "fillcolor", node.fill);
    set(n, "color", node.border);
    set(n, "style", node.gone ? "filled,dashed" : "filled");
    set(n, "penwidth", node.bold ? "2" : "1");
    set(n, "peripheries", node.added ? "2" : "1");
    made.push_back(n);
  }
  std::size_t count = 0;
  for (const DotEdge& edge : edges) {
    Agedge_t* const e =
        agedge(g, made[edge.from], made[edge.to], cs(std::string("e").append(std::to_string(count++))), 1);
    set(e, "label", label_text(edge.label));
    set(e, "color", edge.color);
    set(e, "penwidth", width_text(edge.width));
    set(e, "style", edge.residual ? "dotted" : edge.shrinks ? "dashed" : "solid");
  }

  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&bytes, &size);
  if (file == nullptr) return Error{ErrorCode::internal, "graph as text: no memory"};
  const int written = agwrite(g, file);
  std::fclose(file);
  const std::string out(bytes, size);
  std::free(bytes);
  if (written != 0) return Error{ErrorCode::internal, "graph as text: " + session.message("write failed")};
  return out;
}

}  // namespace snapdiff::render
