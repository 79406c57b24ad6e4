#include "analyzer/graph/dominators.hpp"

#include <algorithm>
#include <numeric>

namespace snapdiff::graph {
namespace {

using Edges = std::span<const std::pair<std::uint32_t, std::uint32_t>>;

/// Neighbours of node n: target[begin[n] .. begin[n + 1]).
struct Adjacency {
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> target;
  std::span<const std::uint32_t> of(std::uint32_t node) const {
    return std::span(target).subspan(begin[node], begin[node + 1] - begin[node]);
  }
};

Adjacency adjacency(std::uint32_t nodes, Edges edges, bool forward) {
  Adjacency out;
  out.begin.assign(std::size_t{nodes} + 1, 0);
  for (const auto& [from, to] : edges) ++out.begin[std::size_t{forward ? from : to} + 1];
  std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
  out.target.resize(edges.size());
  std::vector<std::size_t> next(out.begin.begin(), out.begin.end() - 1);
  for (const auto& [from, to] : edges) out.target[next[forward ? from : to]++] = forward ? to : from;
  return out;
}

/// Depth-first numbering from node 0. Everything below is in these numbers.
struct Preorder {
  std::vector<std::uint32_t> number;  ///< per node, kUnreachable where not reached
  std::vector<std::uint32_t> node;    ///< per number
  std::vector<std::uint32_t> parent;  ///< per number, itself a number
};

Preorder preorder(std::uint32_t nodes, const Adjacency& successors) {
  Preorder out;
  out.number.assign(nodes, kUnreachable);
  std::vector<std::pair<std::uint32_t, std::size_t>> path;
  const auto enter = [&](std::uint32_t node, std::uint32_t parent) {
    out.number[node] = static_cast<std::uint32_t>(out.node.size());
    out.node.push_back(node);
    out.parent.push_back(parent);
    path.emplace_back(node, 0);
  };
  enter(0, 0);
  while (!path.empty()) {
    const std::uint32_t node = path.back().first;
    const auto next = successors.of(node);
    if (path.back().second == next.size()) {
      path.pop_back();
      continue;
    }
    const std::uint32_t to = next[path.back().second++];
    if (out.number[to] == kUnreachable) enter(to, out.number[node]);
  }
  return out;
}

/// Link-eval forest with path compression on an explicit stack.
class Forest {
 public:
  explicit Forest(const std::vector<std::uint32_t>& parent) : ancestor_(parent), best_(parent.size()) {
    std::iota(best_.begin(), best_.end(), 0U);
  }
  /// The vertex with the least semidominator on the path from v up to, not including, the root
  /// of its tree. Vertices below `linked` are not linked yet.
  std::uint32_t evaluate(std::uint32_t v, std::uint32_t linked, const std::vector<std::uint32_t>& semi) {
    if (v < linked) return v;
    path_.clear();
    while (ancestor_[v] >= linked) {
      path_.push_back(v);
      v = ancestor_[v];
    }
    while (!path_.empty()) {
      const std::uint32_t below = path_.back();
      path_.pop_back();
      if (semi[best_[v]] < semi[best_[below]]) best_[below] = best_[v];
      ancestor_[below] = ancestor_[v];
      v = below;
    }
    return best_[v];
  }

 private:
  std::vector<std::uint32_t> ancestor_;
  std::vector<std::uint32_t> best_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(std::uint32_t nodes, Edges edges) {
  const Preorder order = preorder(nodes, adjacency(nodes, edges, true));
  const Adjacency predecessors = adjacency(nodes, edges, false);
  const auto reached = static_cast<std::uint32_t>(order.node.size());

  std::vector<std::uint32_t> semi(reached);
  std::iota(semi.begin(), semi.end(), 0U);
  Forest forest(order.parent);
  for (std::uint32_t w = reached; w-- > 1;) {
    semi[w] = order.parent[w];
    for (const std::uint32_t predecessor : predecessors.of(order.node[w])) {
      const std::uint32_t v = order.number[predecessor];
      if (v == kUnreachable) continue;
      semi[w] = std::min(semi[w], semi[forest.evaluate(v, w + 1, semi)]);
    }
  }
  std::vector<std::uint32_t> idom = order.parent;
  for (std::uint32_t w = 1; w < reached; ++w) {
    while (idom[w] > semi[w]) idom[w] = idom[idom[w]];
  }

  std::vector<std::uint32_t> out(nodes, kUnreachable);
  for (std::uint32_t w = 0; w < reached; ++w) out[order.node[w]] = order.node[idom[w]];
  return out;
}

}  // namespace snapdiff::graph
