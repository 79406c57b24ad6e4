#include "analyzer/render/graph/retained_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace snapdiff::render {
namespace {

using graph::Edge;
using graph::GrowthGraph;
using graph::Node;
using graph::Weight;

constexpr std::uint32_t kHidden = std::numeric_limits<std::uint32_t>::max();

Weight flat_of(const RetainedNode& node) {
  const std::int64_t growth = node.self.growth();
  return {std::max<std::int64_t>(growth, 0), std::min<std::int64_t>(growth, 0)};
}

/// Parents are before children: one pass from the end.
std::vector<Weight> cumulative_of(const RetainedTree& tree) {
  std::vector<Weight> out;
  for (const RetainedNode& node : tree.nodes) out.push_back(flat_of(node));
  for (std::size_t n = out.size(); n-- > 1;) {
    out[tree.nodes[n].parent].grew += out[n].grew;
    out[tree.nodes[n].parent].shrank += out[n].shrank;
  }
  return out;
}

/// A parent passes at least what its child does and is before it, so that the first ones make a tree.
std::vector<std::uint32_t> choose(const std::vector<Weight>& cumulative, double fraction, std::size_t max_nodes) {
  std::vector<std::uint32_t> order(cumulative.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (a == 0 || b == 0) return a == 0 && b != 0;
    if (cumulative[a].importance() != cumulative[b].importance())
      return cumulative[a].importance() > cumulative[b].importance();
    return a < b;
  };
  const std::size_t kept = std::min(order.size(), max_nodes + 1);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), before);
  order.resize(kept);
  const double least = fraction * static_cast<double>(cumulative[0].importance());
  while (order.size() > 1) {
    const std::uint64_t importance = cumulative[order.back()].importance();
    if (importance != 0 && static_cast<double>(importance) >= least) break;
    order.pop_back();
  }
  std::sort(order.begin(), order.end());
  return order;
}

Node node_of(const RetainedTree& tree, const RetainedNode& from, const Weight& cumulative) {
  Node node;
  node.name = from.type.empty() ? "(no name)" : from.type;
  node.full_name = node.name;
  node.cumulative = cumulative;
  node.flat = flat_of(from);
  node.value = from.retained;
  node.flat_value = from.self;
  node.flat_objects = from.objects.growth();
  if (tree.has_bytes && node.flat_objects != 0 && from.self.growth() % node.flat_objects == 0)
    node.object_bytes = std::max<std::int64_t>(from.self.growth() / node.flat_objects, 0);
  node.added = tree.has_baseline() && from.retained.baseline == 0 && from.objects.baseline == 0;
  node.gone = tree.has_baseline() && from.retained.current == 0 && from.objects.current == 0;
  return node;
}

/// From the root to the heavier side, down to where a place has more of its own than it passes on.
void mark_spine(GrowthGraph& out) {
  std::vector<std::uint32_t> heaviest(out.nodes.size(), kHidden);
  for (std::uint32_t e = 0; e < out.edges.size(); ++e) {
    std::uint32_t& best = heaviest[out.edges[e].from];
    if (best == kHidden || out.edges[e].weight.importance() > out.edges[best].weight.importance()) best = e;
  }
  out.nodes[0].spine = true;
  for (std::uint32_t n = 0; heaviest[n] != kHidden;) {
    Edge& edge = out.edges[heaviest[n]];
    if (out.nodes[n].flat.importance() >= edge.weight.importance()) break;
    edge.spine = true;
    n = edge.to;
    out.nodes[n].spine = true;
  }
}

}  // namespace

Result<GrowthGraph> retained_graph(const RetainedTree& tree, const graph::GraphOptions& options,
                                   std::size_t max_nodes) {
  const std::vector<Weight> cumulative = cumulative_of(tree);
  const std::vector<std::uint32_t> kept = choose(cumulative, options.node_fraction, max_nodes);
  std::vector<std::uint32_t> number(tree.nodes.size(), kHidden);
  GrowthGraph out;
  out.unit = tree.has_bytes ? "bytes" : "count";
  out.metric = tree.has_bytes ? "retained bytes" : "retained objects";
  out.total = cumulative[0];
  for (const std::uint32_t n : kept) {
    number[n] = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes.push_back(node_of(tree, tree.nodes[n], cumulative[n]));
    out.drawn_flat.grew += out.nodes.back().flat.grew;
    out.drawn_flat.shrank += out.nodes.back().flat.shrank;
    if (n == 0) continue;
    const std::uint32_t parent = number[tree.nodes[n].parent];
    if (parent == kHidden) return Error{ErrorCode::internal, "place drawn without the one that dominates it"};
    out.nodes.back().dominator = parent;
    Edge edge;
    edge.from = parent;
    edge.to = number[n];
    edge.weight = cumulative[n];
    out.edges.push_back(std::move(edge));
  }
  for (std::size_t n = 1; n < tree.nodes.size(); ++n) {
    if (number[n] != kHidden || cumulative[n].importance() == 0) continue;
    ++out.hidden_nodes;
    ++out.hidden_edges;
    out.hidden_flat.grew += flat_of(tree.nodes[n]).grew;
    out.hidden_flat.shrank += flat_of(tree.nodes[n]).shrank;
  }
  if (out.drawn_flat.grew + out.hidden_flat.grew != out.total.grew ||
      out.drawn_flat.shrank + out.hidden_flat.shrank != out.total.shrank)
    return Error{ErrorCode::internal, "drawn and hidden places do not add up to the heap"};
  mark_spine(out);
  return out;
}

}  // namespace snapdiff::render
