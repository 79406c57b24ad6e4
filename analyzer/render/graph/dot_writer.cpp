#include <cstdio>
#include <cstdlib>

#include "analyzer/render/graph/graph_layout.hpp"
#include "analyzer/render/graph/graphviz.hpp"

namespace snapdiff::render {
namespace {

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
