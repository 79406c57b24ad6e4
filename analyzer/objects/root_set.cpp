#include "analyzer/objects/root_set.hpp"

namespace snapdiff::objects {

RootSet find_roots(const ObjectGraph& graph) {
  RootSet out;
  for (const ObjectRoot& root : graph.roots) {
    if (out.nodes.empty() || out.nodes.back() != root.node) out.nodes.push_back(root.node);
  }
  if (!out.nodes.empty() || graph.size() == 0) return out;
  const auto add_if = [&](auto is_root) {
    for (std::size_t node = 0; node < graph.size(); ++node) {
      if (is_root(node)) out.nodes.push_back(static_cast<std::uint32_t>(node));
    }
    return !out.nodes.empty();
  };
  out.rule = RootRule::flagged;
  if (add_if([&](std::size_t node) { return (graph.flags[node] & kObjectRoot) != 0; })) return out;
  std::vector<bool> held(graph.size());
  for (std::size_t node = 0; node < graph.size(); ++node) {
    for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
      if (graph.to[edge] != node && (graph.label[edge] & kEdgeIsWeak) == 0) held[graph.to[edge]] = true;
    }
  }
  out.rule = RootRule::unheld;
  if (add_if([&](std::size_t node) { return !held[node]; })) return out;
  out.rule = RootRule::first;
  out.nodes.push_back(0);
  return out;
}

}  // namespace snapdiff::objects
