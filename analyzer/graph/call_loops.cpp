#include "analyzer/graph/call_loops.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <numeric>

namespace snapdiff::graph {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// A round merges what repeats inside a stack; what repeats after it was not visible before.
/// Four rounds settle every real stack seen; a repeat that is left over is counted once per stack
/// all the same, only drawn as an edge upwards.
constexpr int kRounds = 4;

/// Edges of one pass that lie between two occurrences of a node in one stack, sorted, unique.
class RepeatFinder {
 public:
  RepeatFinder(std::uint32_t functions, std::vector<std::uint8_t>& direct) : last_(functions), direct_(direct) {}

  std::vector<Pair> find(const StackRuns& stacks, const std::vector<std::uint32_t>& loop, bool first_round) {
    std::vector<Pair> edges;
    std::ranges::fill(last_, Seen{});
    for (std::size_t row = 0; row < stacks.size(); ++row)
      scan(stacks[row], loop, static_cast<std::uint32_t>(row + 1), first_round, edges);
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
  }

 private:
  void scan(std::span<const std::uint32_t> stack, const std::vector<std::uint32_t>& loop, std::uint32_t stamp,
            bool first_round, std::vector<Pair>& edges) {
    bool repeats = false;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      const std::uint32_t node = loop[stack[i]];
      Seen& last = last_[node];
      if (last.stamp == stamp) {
        if (last.position + 1 == i) {
          if (first_round) direct_[stack[i]] = 1;
        } else {
          if (!repeats) depth_.assign(stack.size() + 1, 0);
          repeats = true;
          ++depth_[last.position];
          --depth_[i];
        }
      }
      last = {stamp, static_cast<std::uint32_t>(i)};
    }
    if (!repeats) return;
    std::int64_t open = 0;
    for (std::size_t i = 0; i + 1 < stack.size(); ++i) {
      open += depth_[i];
      const Pair edge{loop[stack[i]], loop[stack[i + 1]]};
      if (open > 0 && edge.first != edge.second && (edges.empty() || edges.back() != edge)) edges.push_back(edge);
    }
    // Deep recursion repeats few edges very often.
    if (edges.size() > compact_at_) {
      std::ranges::sort(edges);
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
      compact_at_ = std::max<std::size_t>(compact_at_, edges.size() * 2);
    }
  }

  /// Where a node was met last: in which stack (plus one) and at which place.
  struct Seen {
    std::uint32_t stamp = 0;
    std::uint32_t position = 0;
  };
  std::vector<Seen> last_;
  std::vector<std::int64_t> depth_;
  std::vector<std::uint8_t>& direct_;
  std::size_t compact_at_ = 1U << 20;
};

/// Component of each node, numbered by anything stable for one call.
std::vector<std::uint32_t> components(std::uint32_t nodes, const std::vector<Pair>& edges) {
  using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                   boost::no_property, std::uint32_t, std::uint32_t>;
  const Graph graph(boost::edges_are_sorted, edges.begin(), edges.end(), nodes);
  std::vector<std::uint32_t> component(nodes);
  const auto index = boost::get(boost::vertex_index, graph);
  boost::strong_components(graph, boost::make_iterator_property_map(component.begin(), index));
  return component;
}

}  // namespace

Recursion collapse_recursion(const StackRuns& stacks, std::uint32_t functions) {
  Recursion out;
  out.loop.resize(functions);
  std::iota(out.loop.begin(), out.loop.end(), 0U);
  out.direct.assign(functions, 0);
  out.nodes = functions;

  RepeatFinder finder(functions, out.direct);
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Pair> edges = finder.find(stacks, out.loop, round == 0);
    if (edges.empty()) break;
    const std::vector<std::uint32_t> component = components(out.nodes, edges);
    for (std::uint32_t& node : out.loop) node = component[node];
    out.nodes = component.empty() ? 0 : *std::ranges::max_element(component) + 1;
  }
  return out;
}

}  // namespace snapdiff::graph
