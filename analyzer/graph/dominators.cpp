#include "analyzer/graph/dominators.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "snapdiff/checked.hpp"

namespace snapdiff::graph {
namespace {

/// Vertices are numbered in the order of the search, the virtual root is 0.
///   up    the parent in the search; once the vertex is linked, an ancestor in its tree; at last its
///         immediate dominator
///   low   first where its predecessors begin; once linked, the least semidominator on the way to
///         `up`; at last whatever is needed
struct Vertex {
  std::uint32_t up = 0;
  std::uint32_t low = 0;
};

/// A depth-first search. `number` per node; parents per vertex; `moves` records the search: a 0
/// goes back to the parent, a 1 enters the next vertex.
struct Search {
  std::vector<std::uint32_t> number;
  std::vector<Vertex> vertex;
  std::vector<bool> moves;
};

/// `v = {}` keeps the memory.
template <class Vector>
void release(Vector& v) {
  Vector().swap(v);
}

bool strong(const ObjectGraph& graph, std::uint64_t edge) { return (graph.label[edge] & kEdgeIsWeak) == 0; }

Result<Search> search(const ObjectGraph& graph, std::span<const std::uint32_t> roots) {
  Search out;
  std::vector<std::uint32_t> node{kUnreachable};
  {
    std::vector<bool> seen(graph.size());
    std::vector<Vertex>& vertex = out.vertex;
    // Memory that is reserved and not written costs nothing.
    node.reserve(graph.size() + 1);
    vertex.reserve(graph.size() + 1);
    vertex.push_back({});
    std::uint32_t at = 0;
    const auto enter = [&](std::uint32_t next) {
      seen[next] = true;
      vertex.push_back({at, 0});
      at = static_cast<std::uint32_t>(node.size());
      node.push_back(next);
      out.moves.push_back(true);
    };
    for (const std::uint32_t root : roots) {
      if (seen[root]) continue;
      enter(root);
      while (at != 0) {
        const std::uint64_t begin = graph.edge_begin[node[at]];
        const std::uint64_t end = graph.edge_begin[node[at] + 1];
        std::uint64_t edge = begin + vertex[at].low;
        while (edge < end && (seen[graph.to[edge]] || !strong(graph, edge))) ++edge;
        const std::uint64_t done = edge - begin + 1;
        if (done > kUnreachable) return Error{ErrorCode::limit, "object with 2^32 references: expected fewer"};
        if (edge < end) {
          vertex[at].low = static_cast<std::uint32_t>(done);
          enter(graph.to[edge]);
        } else {
          at = vertex[at].up;
          out.moves.push_back(false);
        }
      }
    }
  }
  out.number.assign(graph.size(), kUnreachable);
  for (std::size_t w = 1; w < node.size(); ++w) out.number[node[w]] = static_cast<std::uint32_t>(w);
  return out;
}

/// Predecessors by vertex: those of w are list[vertex[w].low .. vertex[w + 1].low), the last ones end
/// at `size`. Left out: tree edges and loops, and all of a root's, of which 0 alone matters.
struct Predecessors {
  std::vector<std::uint32_t> list;
  std::uint32_t size = 0;
};

/// Nearly every look at a node's number and vertex misses the caches: they are fetched for a batch of references
/// at once, not one after the other.
template <class Visit>
void for_each_other_edge(const ObjectGraph& graph, const Search& search, const std::vector<bool>& is_root,
                         Visit visit) {
  constexpr std::size_t kBatch = 64;
  std::array<std::uint32_t, kBatch> number{};
  std::size_t node = 0;
  for (std::size_t begin = 0; begin < graph.to.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, graph.to.size() - begin);
    for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(&search.number[graph.to[begin + i]]);
    for (std::size_t i = 0; i < count; ++i) {
      number[i] = search.number[graph.to[begin + i]];
      if (number[i] != kUnreachable) __builtin_prefetch(&search.vertex[number[i]]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      while (graph.edge_begin[node + 1] <= begin + i) ++node;
      const std::uint32_t from = search.number[node];
      const std::uint32_t to = number[i];
      if (from == kUnreachable || !strong(graph, begin + i)) continue;
      if (to == from || search.vertex[to].up == from || is_root[to]) continue;
      visit(from, to);
    }
  }
}

/// The list has room after what is left of it for one number of each vertex that is done, from the
/// last one on: semidominators take the place of predecessors.
Result<Predecessors> predecessors(const ObjectGraph& graph, Search& search, std::span<const std::uint32_t> roots) {
  std::vector<Vertex>& vertex = search.vertex;
  std::vector<bool> is_root(vertex.size());
  for (Vertex& v : vertex) v.low = 0;
  std::uint64_t total = 0;
  for (const std::uint32_t root : roots) {
    const std::uint32_t w = search.number[root];
    if (is_root[w] || vertex[w].up == 0) continue;
    is_root[w] = true;
    vertex[w].low = 1;
    ++total;
  }
  // Of a vertex right below the virtual root nothing else matters.
  for (std::size_t w = 1; w < vertex.size(); ++w) {
    if (vertex[w].up == 0) is_root[w] = true;
  }
  for_each_other_edge(graph, search, is_root, [&](std::uint32_t, std::uint32_t to) {
    ++total;
    ++vertex[to].low;
  });
  if (total >= kUnreachable)
    return Error{ErrorCode::limit, "object graph with " + std::to_string(total) +
                                       " references beside its tree: expected less than 2^32-1"};
  const auto vertices = static_cast<std::uint32_t>(vertex.size());
  std::uint64_t room = 0;
  std::uint32_t end = 0;
  for (std::uint32_t w = 0; w < vertices; ++w) {
    room = std::max<std::uint64_t>(room, std::uint64_t{end} + vertices - w);
    end += vertex[w].low;
    vertex[w].low = end;  // filled from the back
  }
  Predecessors out{std::vector<std::uint32_t>(std::max<std::uint64_t>(room, end)), end};
  for_each_other_edge(graph, search, is_root,
                      [&](std::uint32_t from, std::uint32_t to) { out.list[--vertex[to].low] = from; });
  for (const std::uint32_t root : roots) {
    const std::uint32_t w = search.number[root];
    if (vertex[w].up == 0 || !is_root[w]) continue;
    is_root[w] = false;
    out.list[--vertex[w].low] = 0;
  }
  return out;
}

/// The least semidominator on the way from `v` up to the root of its tree, that one left out. Vertices
/// from `linked` on are linked. The way is found back by turning its pointers round, then shortened.
std::uint32_t evaluate(std::vector<Vertex>& vertex, std::uint32_t v, std::uint32_t linked) {
  std::uint32_t below = kUnreachable;
  while (vertex[v].up >= linked) {
    const std::uint32_t above = vertex[v].up;
    vertex[v].up = below;
    below = v;
    v = above;
  }
  const std::uint32_t root = vertex[v].up;
  std::uint32_t least = vertex[v].low;
  while (below != kUnreachable) {
    Vertex& b = vertex[below];
    least = b.low = std::min(b.low, least);
    below = std::exchange(b.up, root);
  }
  return least;
}

/// Ancestors in the growing tree of dominators, found in steps that double: each vertex has, beside its dominator, a
/// farther ancestor (Myers, "An applicative random-access stack", 1983), 8 bytes a vertex. Built only where single
/// steps have turned out to be many: real heaps need few, a made-up one the square of its size.
class Shortcuts {
 public:
  bool empty() const { return far_.empty(); }

  /// For the vertices below `count`, whose `up` is their dominator.
  void build(const std::vector<Vertex>& vertex, std::uint32_t count) {
    far_.resize(vertex.size());
    depth_.resize(vertex.size());
    for (std::uint32_t w = 1; w < count; ++w) add(w, vertex[w].up);
  }
  void add(std::uint32_t w, std::uint32_t dominator) {
    const std::uint32_t far = far_[dominator];
    depth_[w] = depth_[dominator] + 1;
    far_[w] = depth_[dominator] - depth_[far] == depth_[far] - depth_[far_[far]] ? far_[far] : dominator;
  }
  /// The nearest of v and its ancestors that is not beyond `most`; ancestors have lesser numbers.
  std::uint32_t find(const std::vector<Vertex>& vertex, std::uint32_t v, std::uint32_t most) const {
    while (v > most) v = far_[v] > most ? far_[v] : vertex[v].up;
    return v;
  }

 private:
  std::vector<std::uint32_t> far_;
  std::vector<std::uint32_t> depth_;
};

/// Leaves in vertex[w].up the immediate dominator of w. Steps: m log n, by path compression in evaluate() and
/// by Shortcuts.
void find_dominators(Search& search, Predecessors before) {
  std::vector<Vertex>& vertex = search.vertex;
  const auto vertices = static_cast<std::uint32_t>(vertex.size());
  std::uint32_t* const semi = before.list.data() + (before.list.size() - vertices);
  std::uint32_t end = before.size;
  constexpr std::uint32_t kAhead = 24;
  for (std::uint32_t w = vertices; w-- > 1;) {
    const std::uint32_t begin = vertex[w].low;
    std::uint32_t least = vertex[w].up;
    for (std::uint32_t i = begin; i < end; ++i) {
      __builtin_prefetch(&vertex[before.list[std::max(i, kAhead) - kAhead]]);  // lists are used from the last one on
      const std::uint32_t v = before.list[i];
      least = std::min(least, v < w ? v : evaluate(vertex, v, w + 1));
    }
    end = begin;
    vertex[w].low = least;
    semi[w] = least;
  }
  // The search once more, for the parents: `low` of vertex d is the d-th of the present path.
  constexpr std::uint64_t kMostSteps = 16;  // a vertex, on average, before shortcuts are made
  std::uint64_t steps = 0;
  Shortcuts shortcuts;
  std::uint32_t depth = 0;
  std::size_t move = 0;
  vertex[0].low = 0;
  for (std::uint32_t w = 1; w < vertices; ++w) {
    while (!search.moves[move++]) --depth;
    std::uint32_t dominator = vertex[depth].low;
    if (shortcuts.empty()) {
      for (; dominator > semi[w]; ++steps) dominator = vertex[dominator].up;
      if (steps > kMostSteps * vertices) shortcuts.build(vertex, w);
    } else {
      dominator = shortcuts.find(vertex, dominator, semi[w]);
    }
    vertex[w].up = dominator;
    if (!shortcuts.empty()) shortcuts.add(w, dominator);
    vertex[++depth].low = w;
  }
}

/// From dominators to places.
DominatorTree arrange(Search found, std::size_t nodes) {
  std::vector<Vertex>& vertex = found.vertex;
  const auto vertices = static_cast<std::uint32_t>(vertex.size());
  release(found.moves);
  for (Vertex& v : vertex) v.low = 1;
  for (std::uint32_t w = vertices; w-- > 1;) vertex[vertex[w].up].low += vertex[w].low;
  {
    std::vector<std::uint32_t> next(vertices);  // the place of the next child; a dominator has a lesser number
    for (std::uint32_t w = 1; w < vertices; ++w) {
      const std::uint32_t place = next[vertex[w].up];
      next[vertex[w].up] += vertex[w].low;
      next[w] = place + 1;
    }
    for (std::uint32_t w = 1; w < vertices; ++w) vertex[w].up = next[w] - vertex[w].low;
  }
  DominatorTree out;
  out.order.resize(vertices - 1);
  for (std::size_t node = 0; node < nodes; ++node) {
    if (found.number[node] != kUnreachable) out.order[vertex[found.number[node]].up] = static_cast<std::uint32_t>(node);
  }
  release(found.number);
  out.objects.resize(vertices - 1);
  for (std::uint32_t w = 1; w < vertices; ++w) out.objects[vertex[w].up] = vertex[w].low;
  return out;
}

}  // namespace

Result<DominatorTree> dominator_tree(const ObjectGraph& graph, std::span<const std::uint32_t> roots) {
  Result<Search> found = search(graph, roots);
  if (!found) return std::move(found).error();
  {
    Result<Predecessors> before = predecessors(graph, *found, roots);
    if (!before) return std::move(before).error();
    find_dominators(*found, *std::move(before));
  }
  DominatorTree tree = arrange(*std::move(found), graph.size());
  if (graph.self_bytes.empty()) return tree;
  tree.bytes_before.resize(tree.size() + 1);
  for (std::size_t place = 0; place < tree.size(); ++place) {
    if (__builtin_add_overflow(tree.bytes_before[place], graph.self_bytes[tree.order[place]],
                               &tree.bytes_before[place + 1]))
      return Error{ErrorCode::limit, "sum of object sizes is beyond 2^63-1, expected it to fit in 64 bits"};
  }
  return tree;
}

std::vector<std::uint32_t> immediate_dominators(const DominatorTree& tree, std::size_t nodes) {
  std::vector<std::uint32_t> out(nodes, kUnreachable);
  std::vector<std::pair<std::size_t, std::uint32_t>> above;  // where a subtree ends, its node
  for (std::size_t place = 0; place < tree.size(); ++place) {
    while (!above.empty() && above.back().first <= place) above.pop_back();
    if (!above.empty()) out[tree.order[place]] = above.back().second;
    above.emplace_back(place + tree.objects[place], tree.order[place]);
  }
  return out;
}

std::vector<std::uint32_t> immediate_dominators(std::uint32_t nodes,
                                                std::span<const std::pair<std::uint32_t, std::uint32_t>> edges) {
  ObjectGraph graph;
  graph.type.assign(nodes, 0);
  graph.edge_begin.assign(std::size_t{nodes} + 1, 0);
  for (const auto& [from, to] : edges) ++graph.edge_begin[std::size_t{from} + 1];
  std::partial_sum(graph.edge_begin.begin(), graph.edge_begin.end(), graph.edge_begin.begin());
  graph.to.resize(edges.size());
  graph.label.assign(edges.size(), 0);
  std::vector<std::uint64_t> next(graph.edge_begin.begin(), graph.edge_begin.end() - 1);
  for (const auto& [from, to] : edges) graph.to[next[from]++] = to;
  constexpr std::uint32_t kRoot = 0;
  const Result<DominatorTree> tree = dominator_tree(graph, std::span(&kRoot, 1));
  if (!tree) throw std::length_error(tree.error().message);
  std::vector<std::uint32_t> out = immediate_dominators(*tree, nodes);
  out[kRoot] = kRoot;
  return out;
}

}  // namespace snapdiff::graph
