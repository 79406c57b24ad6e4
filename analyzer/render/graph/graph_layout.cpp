#include "analyzer/render/graph/graph_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analyzer/render/graph/graphviz.hpp"

namespace snapdiff::render {
namespace {

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
  if (far(out.front()) > far(out.back())) std::reverse(out.begin(), out.end());
  return out;
}

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

}  // namespace snapdiff::render
