#include "analyzer/graph/growth_graph.hpp"

#include <algorithm>
#include <unordered_map>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/graph/growth_model.hpp"

namespace snapdiff::graph {
namespace {

using Data = GrowthModel::Data;

constexpr std::size_t kNamedHidden = 8;
/// A residual edge is left out when another way leads there and it carries less than this share
/// of what its target got: it would only be a line across the page.
constexpr double kRedundantShare = 0.05;

void add(Weight& sum, const Weight& weight) {
  sum.grew += weight.grew;
  sum.shrank += weight.shrank;
}

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
  if (near.in[node] >= Neighbours::kMany || near.out[node] >= Neighbours::kMany || data.nodes[node].culprit >= 0)
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

/// The candidates to draw: kept[c] for each candidate, root included.
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

/// Turns the kept candidates into what is drawn.
class Drawing {
 public:
  Drawing(const Data& data, std::size_t max_nodes)
      : data_(data), kept_(choose_nodes(data, max_nodes)), edges_(edges_between(data, kept_)) {}

  Result<GrowthGraph> make() {
    out_.metric = data_.report->metric;
    out_.unit = data_.report->unit;
    out_.total = data_.total;
    add_nodes();
    measure_dominators();
    drop_light_edges();
    add_edges();
    draw_spine();
    map_rows();
    if (Status status = account(); !status) return std::move(status).error();
    return std::move(out_);
  }

 private:
  void add_nodes() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t c = 0; c < kept_.size(); ++c) {
      if (kept_[c] != 0) order.push_back(c);
    }
    std::sort(order.begin() + 1, order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t x = data_.nodes[a].cumulative.importance();
      const std::uint64_t y = data_.nodes[b].cumulative.importance();
      return x != y ? x > y : data_.less(a, b);
    });
    drawn_.assign(kept_.size(), kNone);
    for (const std::uint32_t c : order) {
      drawn_[c] = static_cast<std::uint32_t>(out_.nodes.size());
      out_.nodes.push_back(data_.nodes[c]);
      candidate_.push_back(c);
    }
    for (Node& node : out_.nodes) {
      std::uint32_t c = node.dominator;
      while (kept_[c] == 0) c = data_.nodes[c].dominator;
      node.dominator = drawn_[c];
    }
    out_.nodes[0].spine = true;
    out_.hidden_nodes = data_.moved_nodes - (out_.nodes.size() - 1);
  }

  void measure_dominators() {
    std::vector<std::uint64_t> through(out_.nodes.size(), 0);
    std::vector<std::uint32_t> seen(out_.nodes.size(), kNone);
    std::vector<std::uint32_t> on_path;
    const auto part = [this](std::uint32_t node, const Weight& weight) {
      return out_.nodes[node].cumulative.grew > 0 ? static_cast<std::uint64_t>(weight.grew) : weight.importance();
    };
    for (std::uint32_t p = 0; p < data_.paths.size(); ++p) {
      const Path& path = data_.paths[p];
      if (path.weight.importance() == 0) continue;
      on_path.assign(1, 0);
      seen[0] = p;
      for (const Step& step : data_.steps_of(path)) {
        const std::uint32_t node = drawn_[step.node];
        if (node == kNone || seen[node] == p) continue;
        seen[node] = p;
        on_path.push_back(node);
      }
      for (const std::uint32_t node : on_path) {
        if (seen[out_.nodes[node].dominator] == p) through[node] += part(node, path.weight);
      }
    }
    for (std::uint32_t n = 0; n < out_.nodes.size(); ++n) {
      const std::uint64_t whole = part(n, out_.nodes[n].cumulative);
      out_.nodes[n].through_dominator = whole == 0 ? 1.0 : static_cast<double>(through[n]) / static_cast<double>(whole);
    }
  }

  void drop_light_edges() {
    const double least = data_.options.edge_fraction * static_cast<double>(data_.total.importance());
    std::vector<std::uint32_t> heaviest_in(kept_.size(), kNone);
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      std::uint32_t& best = heaviest_in[edges_[e].to];
      if (best == kNone || heavier(edges_[e], edges_[best])) best = e;
    }
    std::vector<std::uint8_t> keep(edges_.size(), 1);
    std::vector<std::uint32_t> residual;
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (heaviest_in[edges_[e].to] == e) continue;
      if (static_cast<double>(edges_[e].weight.importance()) < least) {
        keep[e] = 0;
      } else if (!edges_[e].direct &&
                 static_cast<double>(edges_[e].weight.importance()) <
                     kRedundantShare * static_cast<double>(data_.nodes[edges_[e].to].cumulative.importance())) {
        residual.push_back(e);
      }
    }
    std::ranges::sort(residual, [this](std::uint32_t a, std::uint32_t b) { return heavier(edges_[b], edges_[a]); });
    for (const std::uint32_t e : residual) {
      keep[e] = 0;
      if (!reaches(edges_[e].from, edges_[e].to, keep)) keep[e] = 1;
    }
    std::vector<KeptEdge> left;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (keep[e] != 0) left.push_back(edges_[e]);
    }
    out_.hidden_edges = edges_.size() - left.size();
    edges_ = std::move(left);
  }

  bool reaches(std::uint32_t from, std::uint32_t to, const std::vector<std::uint8_t>& keep) const {
    std::vector<std::uint8_t> seen(kept_.size(), 0);
    std::vector<std::uint32_t> open{from};
    seen[from] = 1;
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      // edges_ is sorted by `from`.
      auto e = std::ranges::lower_bound(edges_, node, {}, &KeptEdge::from);
      for (; e != edges_.end() && e->from == node; ++e) {
        if (keep[static_cast<std::size_t>(e - edges_.begin())] == 0 || seen[e->to] != 0) continue;
        if (e->to == to) return true;
        seen[e->to] = 1;
        open.push_back(e->to);
      }
    }
    return false;
  }

  bool heavier(const KeptEdge& a, const KeptEdge& b) const {
    const std::uint64_t x = a.weight.importance();
    const std::uint64_t y = b.weight.importance();
    if (x != y) return x > y;
    if (a.to != b.to) return by_name(a.to, b.to);
    return a.from != b.from && by_name(a.from, b.from);
  }
  bool by_name(std::uint32_t a, std::uint32_t b) const {
    if (a == 0 || b == 0) return a == 0 && b != 0;
    return data_.less(a, b);
  }

  void add_edges() {
    for (const KeptEdge& edge : edges_) {
      Edge drawn;
      drawn.from = drawn_[edge.from];
      drawn.to = drawn_[edge.to];
      drawn.weight = edge.weight;
      drawn.residual = !edge.direct;
      if (drawn.residual) name_hidden(edge, drawn);
      out_.edges.push_back(std::move(drawn));
    }
    std::ranges::sort(out_.edges, [](const Edge& a, const Edge& b) {
      const std::uint64_t x = a.weight.importance();
      const std::uint64_t y = b.weight.importance();
      if (x != y) return x > y;
      return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
  }

  /// Walks the heaviest stack over the edge once more, now with all its frames.
  void name_hidden(const KeptEdge& edge, Edge& drawn) const {
    const auto run = data_.runs[data_.paths[edge.path].row];
    std::vector<std::uint32_t> between;
    std::uint32_t last = 0;
    std::uint32_t before = kNone;
    for (const std::uint32_t function : run) {
      const std::uint32_t node = data_.recursion.loop[function];
      const std::uint32_t c = data_.candidate[node];
      if (c != kNone && kept_[c] != 0) {
        if (last == edge.from && c == edge.to) break;
        last = c;
        between.clear();
      } else if (node != before) {
        between.push_back(c == kNone ? function : data_.function[c]);
      }
      before = node;
    }
    drawn.hidden_count = between.size();
    drawn.hidden_varies = edge.varies;
    for (std::size_t i = 0; i < between.size() && i < kNamedHidden; ++i)
      drawn.hidden_frames.push_back(node_name(data_.functions.frame(between[i])));
  }

  /// From the root along the heaviest edge, until more is allocated right here than goes on.
  void draw_spine() {
    std::uint32_t node = 0;
    for (;;) {
      Edge* best = nullptr;
      for (Edge& edge : out_.edges) {  // sorted: the first is the heaviest, ties by the target's order
        if (edge.from != node || out_.nodes[edge.to].spine) continue;
        best = &edge;
        break;
      }
      if (best == nullptr || best->weight.importance() == 0) return;
      if (node != 0 && out_.nodes[node].flat.importance() > best->weight.importance()) return;
      best->spine = true;
      out_.nodes[best->to].spine = true;
      node = best->to;
    }
  }

  void map_rows() {
    for (const std::uint32_t p : data_.row_path) {
      std::uint32_t node = 0;
      for (const Step& step : data_.steps_of(data_.paths[p])) {
        if (drawn_[step.node] != kNone) node = drawn_[step.node];
      }
      out_.row_node.push_back(node);
    }
  }

  Status account() {
    for (const Node& node : out_.nodes) add(out_.drawn_flat, node.flat);
    for (const Path& path : data_.paths) {
      const auto steps = data_.steps_of(path);
      const bool drawn = !path.tail_gap && (steps.empty() || kept_[steps.back().node] != 0);
      if (!drawn) add(out_.hidden_flat, path.weight);
    }
    Weight sum = out_.drawn_flat;
    add(sum, out_.hidden_flat);
    if (sum == out_.total) return ok();
    return Error{ErrorCode::internal, "growth graph does not add up: drawn and hidden " + std::to_string(sum.net()) +
                                          ", total " + std::to_string(out_.total.net())};
  }

  const Data& data_;
  std::vector<std::uint8_t> kept_;
  std::vector<KeptEdge> edges_;
  std::vector<std::uint32_t> drawn_;      ///< per candidate: drawn node, kNone
  std::vector<std::uint32_t> candidate_;  ///< per drawn node
  GrowthGraph out_;
};

}  // namespace

Result<GrowthGraph> GrowthModel::trim(std::size_t max_nodes) const { return Drawing(*data_, max_nodes).make(); }

std::string node_name(const FrameView& frame) {
  if (frame.function.empty() || frame.pseudo) return recorded_frame_text(frame);
  std::string name = short_function_name(frame.function);
  return name.empty() ? std::string(frame.function) : name;
}

Result<GrowthGraph> build_growth_graph(const GrowthReport& report, const GraphOptions& options) {
  Result<GrowthModel> model = GrowthModel::read(report, options);
  if (!model) return std::move(model).error();
  return model->trim(options.max_nodes);
}

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
  std::ranges::sort(edges, {}, [](const KeptEdge& edge) { return std::pair(edge.from, edge.to); });
  return edges;
}

}  // namespace snapdiff::graph
