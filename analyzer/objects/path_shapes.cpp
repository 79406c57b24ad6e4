#include "analyzer/objects/path_shapes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace snapdiff::objects {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Numbers of objects out of a label, as V8's "part of key (Key @17) -> value (Value @19) pair in WeakMap":
/// they would distinguish what is one path.
std::string without_ids(std::string_view label) {
  std::string out;
  for (std::size_t i = 0; i < label.size(); ++i) {
    out += label[i];
    if (label[i] != '@' || i + 1 == label.size() || !is_digit(label[i + 1])) continue;
    while (i + 1 < label.size() && is_digit(label[i + 1])) ++i;
    out += 'x';
  }
  return out;
}

/// Ids of the labels of one snapshot, each looked up once.
class Labels {
 public:
  Labels(const Dictionary& d, ShapeTree& tree) : d_(d), tree_(tree), known_(d.strings.size(), kNoNode) {}
  std::uint32_t id(std::uint32_t label) {
    if ((label & kEdgeIsIndex) != 0) return tree_.index_label();
    return text(StringId{label & kEdgeLabel});
  }
  std::uint32_t text(StringId id) {
    std::uint32_t& known = known_[index_of(id)];
    if (known != kNoNode) return known;
    const std::string_view name = d_.strings[id];
    // V8 names the elements of its own tables by their number.
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_digit)) return known = tree_.index_label();
    return known = tree_.names().id(without_ids(name));
  }

 private:
  const Dictionary& d_;
  ShapeTree& tree_;
  std::vector<std::uint32_t> known_;
};

/// Puts the objects of a level in the order of their shapes' hashes.
class LevelOrder {
 public:
  void apply(std::vector<std::uint32_t>& level, const std::vector<std::uint32_t>& shape_of, const ShapeTree& tree) {
    if (level.size() < 2) return;
    begin_.resize(tree.size());
    distinct_.clear();
    for (const std::uint32_t node : level) {
      if (begin_[shape_of[node]]++ == 0) distinct_.push_back(shape_of[node]);
    }
    if (distinct_.size() > 1) {
      std::sort(distinct_.begin(), distinct_.end(),
                [&](std::uint32_t a, std::uint32_t b) { return tree[a].hash < tree[b].hash; });
      std::uint32_t begin = 0;
      for (const std::uint32_t shape : distinct_) begin += std::exchange(begin_[shape], begin);
      sorted_.resize(level.size());
      for (const std::uint32_t node : level) sorted_[begin_[shape_of[node]]++] = node;
      level.swap(sorted_);
    }
    for (const std::uint32_t shape : distinct_) begin_[shape] = 0;
  }

 private:
  std::vector<std::uint32_t> begin_;  // per shape, 0 between two calls
  std::vector<std::uint32_t> distinct_, sorted_;
};

std::uint64_t step_hash(std::uint64_t parent, std::uint64_t label, std::uint64_t type) {
  return mix64(mix64(parent * 0x9e3779b97f4a7c15ULL + label) * 0xd1342543de82ef95ULL + type);
}

/// Roots that last as long as a call or a collection: any other path says more.
bool is_passing_root(std::string_view kind) {
  constexpr std::array<std::string_view, 8> kPassing = {"Java frame",   "JNI local",    "native stack",
                                                        "thread block", "monitor used", "interned string",
                                                        "finalizing",   "unknown"};
  return std::find(kPassing.begin(), kPassing.end(), kind) != kPassing.end();
}

/// Per row of types: an object that an engine keeps for itself.
std::vector<std::uint8_t> engine_types(const ObjectGraph& graph, const Dictionary& d) {
  constexpr std::array<std::string_view, 4> kEngine = {"code", "hidden", "object shape", "synthetic"};
  std::vector<std::uint8_t> out;
  for (const StringId kind : graph.types.kind)
    out.push_back(std::find(kEngine.begin(), kEngine.end(), d.strings[kind]) != kEngine.end() ? 1 : 0);
  return out;
}

}  // namespace

std::uint32_t ShapeTree::child(std::uint32_t parent, std::uint32_t label, std::uint32_t type) {
  if (parent != 0 && shapes_[parent].label == label && shapes_[parent].type == type) return parent;
  std::uint32_t& recent = recent_.row(parent, label, type);
  if (recent != RecentRows::kAbsent) return recent;
  const std::uint64_t hash = step_hash(shapes_[parent].hash, names_.hash(label), names_.hash(type));
  const std::uint32_t found = index_.find(hash, [&](std::uint32_t s) {
    return shapes_[s].parent == parent && shapes_[s].label == label && shapes_[s].type == type;
  });
  if (found != HashIndex::kAbsent) return recent = found;
  const std::uint32_t made = size();
  const std::uint32_t depth = shapes_[parent].depth + 1;
  shapes_.push_back({parent, label, type, depth, depth == kPathEnd ? made : shapes_[parent].start, hash});
  index_.insert(hash, made);
  return recent = made;
}

std::vector<PathStep> ShapeTree::path(std::uint32_t shape, std::size_t& left_out) const {
  const std::uint32_t depth = shapes_[shape].depth;
  left_out = depth > 2 * kPathEnd ? depth - 2 * kPathEnd : 0;
  std::vector<PathStep> steps;
  std::uint32_t s = shape;
  while (s != 0) {
    steps.push_back(step(s));
    s = left_out > 0 && steps.size() == kPathEnd ? shapes_[shape].start : shapes_[s].parent;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::vector<std::uint32_t> find_shapes(const Snapshot& snapshot, const RootSet& roots, ShapeTree& tree) {
  const ObjectGraph& graph = *snapshot.graph;
  const std::vector<std::uint8_t> engine = engine_types(graph, *snapshot.dictionary);
  Labels labels(*snapshot.dictionary, tree);
  const std::vector<std::uint32_t> types = type_names(graph, *snapshot.dictionary, tree.names());
  std::vector<std::uint32_t> shape_of(graph.size(), kNoNode);
  std::vector<std::uint32_t> level, next, later;  // later: one engine step more than `level`
  std::size_t told = 0;
  for (const std::uint32_t root : roots.nodes) {
    std::uint32_t kind = 0;
    bool passing = engine[graph.type[root]] != 0;
    if (roots.rule == RootRule::told) {
      while (graph.roots[told].node < root) ++told;
      kind = labels.text(graph.roots[told].kind);
      if (kind == tree.index_label()) kind = 0;
      passing = passing || is_passing_root(tree.names().text(kind));
    }
    shape_of[root] = tree.child(0, kind, types[graph.type[root]]);
    (passing ? later : level).push_back(root);
  }
  LevelOrder order;
  while (!level.empty() || !later.empty()) {
    if (level.empty()) level.swap(later);
    order.apply(level, shape_of, tree);
    next.clear();
    for (const std::uint32_t node : level) {
      const std::uint32_t shape = shape_of[node];
      std::uint64_t last = ~std::uint64_t{0};  // what the reference before this one led to: arrays repeat it
      std::uint32_t last_child = 0;
      for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
        const std::uint32_t to = graph.to[edge];
        if (shape_of[to] != kNoNode || (graph.label[edge] & kEdgeIsWeak) != 0) continue;
        const std::uint32_t label = labels.id(graph.label[edge]);
        const std::uint32_t type = types[graph.type[to]];
        const std::uint64_t step = (std::uint64_t{label} << 32) | type;
        if (step != last) last_child = tree.child(shape, label, type);
        last = step;
        shape_of[to] = last_child;
        (engine[graph.type[to]] != 0 ? later : next).push_back(to);
      }
    }
    level.swap(next);
  }
  return shape_of;
}

}  // namespace snapdiff::objects
