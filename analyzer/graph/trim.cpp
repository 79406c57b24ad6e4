#include "analyzer/graph/trim.hpp"

#include <algorithm>
#include <unordered_map>

namespace snapdiff::graph {
namespace {

/// A frame says nothing new when it has one caller and one callee and passes on this share of what
/// it got.
constexpr double kPassShare = 0.99;

/// Per node its only edge in and its only edge out; what is lighter than the rest of kPassShare does
/// not count.
struct Neighbours {
  static constexpr std::uint32_t kMany = kNone - 1;
  std::vector<std::uint32_t> in, out;  ///< edge numbers, kNone, kMany
  Neighbours(const GrowthModel::Data& data, const std::vector<KeptEdge>& edges)
      : in(data.nodes.size(), kNone), out(data.nodes.size(), kNone) {
    const auto count = [&](std::uint32_t node, std::uint32_t e, std::uint32_t& only) {
      const double least = (1 - kPassShare) * static_cast<double>(data.nodes[node].cumulative.importance());
      if (static_cast<double>(edges[e].weight.importance()) > least) only = only == kNone ? e : kMany;
    };
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      count(edges[e].to, e, in[edges[e].to]);
      count(edges[e].from, e, out[edges[e].from]);
    }
  }
};

bool passes_through(const GrowthModel::Data& data, const std::vector<KeptEdge>& edges, const Neighbours& near,
                    std::uint32_t node) {
  if (near.in[node] >= Neighbours::kMany || near.out[node] >= Neighbours::kMany || data.nodes[node].suspect >= 0)
    return false;
  const double enough = kPassShare * static_cast<double>(data.nodes[node].cumulative.importance());
  return static_cast<double>(edges[near.in[node]].weight.importance()) >= enough &&
         static_cast<double>(edges[near.out[node]].weight.importance()) >= enough;
}

/// Which frames of a run of pass-through frames stay: near the root they are start-up code; near
/// the leaf they are closest to the allocation.
struct ChainEnds {
  std::size_t head, tail, least_hidden;
};
ChainEnds ends_of(bool from_root, bool to_leaf) {
  if (from_root) return {0, to_leaf ? std::size_t{2} : std::size_t{0}, to_leaf ? std::size_t{2} : std::size_t{1}};
  return {1, to_leaf ? std::size_t{2} : std::size_t{1}, 2};
}

/// Hides the inner frames of each run of pass-through frames. Returns how many stay in all.
std::size_t fold(const GrowthModel::Data& data, std::vector<std::uint8_t>& kept) {
  const std::vector<KeptEdge> edges = edges_between(data, kept);
  const Neighbours near(data, edges);
  std::vector<std::uint8_t> passes(data.nodes.size(), 0);
  for (std::uint32_t n = 1; n < data.nodes.size(); ++n)
    passes[n] = kept[n] != 0 && passes_through(data, edges, near, n) ? 1 : 0;

  std::vector<std::uint32_t> chain;
  for (std::uint32_t top = 1; top < data.nodes.size(); ++top) {
    if (passes[top] == 0 || passes[edges[near.in[top]].from] != 0) continue;
    chain.clear();
    std::uint32_t node = top;
    while (passes[node] != 0 && chain.size() < data.nodes.size()) {
      chain.push_back(node);
      node = edges[near.out[node]].to;
    }
    const ChainEnds ends = ends_of(edges[near.in[top]].from == 0, near.out[node] == kNone);
    if (chain.size() < ends.head + ends.tail + ends.least_hidden) continue;
    for (std::size_t i = ends.head; i + ends.tail < chain.size(); ++i) kept[chain[i]] = 0;
  }
  return static_cast<std::size_t>(std::count(kept.begin() + 1, kept.end(), 1));
}

}  // namespace

std::vector<KeptEdge> edges_between(const GrowthModel::Data& data, const std::vector<std::uint8_t>& kept) {
  std::vector<KeptEdge> edges;
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  std::vector<std::uint32_t> last_path;
  for (std::uint32_t p = 0; p < data.paths.size(); ++p) {
    const Path& path = data.paths[p];
    if (path.weight.importance() == 0) continue;
    std::uint32_t from = 0;
    std::uint64_t between = 0;
    bool varies = false;
    for (const Step& step : data.steps_of(path)) {
      if (step.gap != 0) between = mix64(between + step.gap) | 1U;
      varies = varies || step.gap == kGapVaries;
      if (kept[step.node] == 0) {
        between = mix64(between + data.functions.hash(data.function[step.node])) | 1U;
        continue;
      }
      if (step.node == from) {
        between = 0;
        varies = false;
        continue;
      }
      const std::uint64_t key = (std::uint64_t{from} << 32) | step.node;
      const auto [slot, fresh] = index.try_emplace(key, static_cast<std::uint32_t>(edges.size()));
      if (fresh) {
        edges.push_back({from, step.node, {}, false, p, between, false});
        last_path.push_back(kNone);
      }
      KeptEdge& edge = edges[slot->second];
      if (between == 0) edge.direct = true;
      if (between != edge.between || varies) edge.varies = true;
      if (last_path[slot->second] != p) {
        last_path[slot->second] = p;
        edge.weight.grew += path.weight.grew;
        edge.weight.shrank += path.weight.shrank;
        const Path& best = data.paths[edge.path];
        const std::uint64_t have = best.weight.importance();
        const std::uint64_t now = path.weight.importance();
        if (now > have || (now == have && path.hash < best.hash)) {
          edge.path = p;
          edge.between = between;
        }
      }
      from = step.node;
      between = 0;
      varies = false;
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const KeptEdge& a, const KeptEdge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  return edges;
}

std::vector<std::uint8_t> choose_nodes(const GrowthModel::Data& data, std::size_t max_nodes) {
  std::vector<std::uint8_t> kept;
  const auto drawn_with = [&](std::size_t count) {
    kept.assign(data.nodes.size(), 0);
    kept[0] = 1;
    for (std::size_t i = 0; i < count; ++i) kept[data.rank[i]] = 1;
    return fold(data, kept);
  };
  std::size_t enough = data.rank.size();
  if (drawn_with(enough) <= max_nodes) return kept;
  // Folding makes the number drawn almost, not strictly, rise with the number kept: any count
  // that fits is right, and the search is the same for the same input.
  std::size_t fits = std::min(data.always_kept, data.rank.size());
  while (fits + 1 < enough) {
    const std::size_t middle = fits + (enough - fits) / 2;
    if (drawn_with(middle) <= max_nodes) {
      fits = middle;
    } else {
      enough = middle;
    }
  }
  drawn_with(fits);
  return kept;
}

}  // namespace snapdiff::graph
