#include "analyzer/objects/path_shapes.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace snapdiff::objects {
namespace {

std::vector<bool> find_grown(const ShapeTree& tree, const ShapeSums& sums, std::int64_t loops) {
  std::vector<bool> grew(tree.size());
  const auto gained = [loops](const ObjectSum& before, const ObjectSum& after) {
    return after.objects - before.objects >= loops;
  };
  for (std::uint32_t shape = 1; shape < tree.size(); ++shape) {
    // A shape that grows from each snapshot to the next is in all snapshots but the first.
    if (sums.snapshots() < 2 || sums.known(shape).size() + 1 < sums.snapshots()) continue;
    const std::vector<ObjectSum> at = sums.column(shape);
    grew[shape] = std::adjacent_find(at.begin(), at.end(), std::not_fn(gained)) == at.end();
  }
  return grew;
}

/// Visits what `begin` leads to, once each; `may_enter` says which objects are not to be passed.
template <class MayEnter>
void spread(const ObjectGraph& graph, std::vector<std::uint32_t>& open, MayEnter may_enter) {
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
      if ((graph.label[edge] & kEdgeIsWeak) == 0 && may_enter(graph.to[edge])) open.push_back(graph.to[edge]);
    }
  }
}

}  // namespace

std::vector<GrowingShape> find_growing(const ShapeTree& tree, const ShapeSums& sums, std::int64_t loops) {
  const std::vector<bool> grew = find_grown(tree, sums, loops);
  std::vector<std::uint32_t> entry(tree.size(), kNoNode);
  std::vector<bool> growing(tree.size());
  for (std::uint32_t shape = 1; shape < tree.size(); ++shape) {
    // Roots have no holder that could be named: they stand for themselves.
    if (grew[shape]) growing[tree[shape].parent == 0 ? shape : tree[shape].parent] = true;
  }
  std::vector<GrowingShape> out;
  for (std::uint32_t shape = 1; shape < tree.size(); ++shape) {
    if (!growing[shape] || growing[tree[shape].parent]) continue;
    entry[shape] = static_cast<std::uint32_t>(out.size());
    out.push_back({shape, {}});
  }
  for (std::uint32_t shape = 1; shape < tree.size(); ++shape) {
    const std::uint32_t holder = tree[shape].parent == 0 ? shape : tree[shape].parent;
    if (grew[shape] && entry[holder] != kNoNode) out[entry[holder]].held.push_back(shape);
  }
  return out;
}

LeakShares leak_shares(const ObjectGraph& graph, std::span<const std::uint32_t> roots,
                       const std::vector<std::uint32_t>& shape_of, const std::vector<std::uint32_t>& places,
                       std::uint32_t shapes) {
  constexpr std::uint8_t kNone = 0xff;
  std::vector<std::uint8_t> place_of(shapes, kNone);
  for (std::size_t i = 0; i < places.size(); ++i) place_of[places[i]] = static_cast<std::uint8_t>(i);
  const auto place = [&](std::uint32_t node) { return shape_of[node] == kNoNode ? kNone : place_of[shape_of[node]]; };

  std::vector<bool> held_otherwise(graph.size());
  std::vector<std::uint32_t> open;
  const auto pass = [&](std::uint32_t node) {
    if (held_otherwise[node] || place(node) != kNone) return false;
    held_otherwise[node] = true;
    return true;
  };
  for (const std::uint32_t root : roots) {
    if (pass(root)) open.push_back(root);
  }
  spread(graph, open, pass);

  std::vector<std::uint64_t> holders(graph.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const auto take = [&](std::uint32_t node) {
      if (held_otherwise[node] || (holders[node] & bit) != 0) return false;
      holders[node] |= bit;
      return true;
    };
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
      if (place(node) == i && take(node)) open.push_back(node);
    }
    spread(graph, open, take);
  }

  LeakShares out;
  out.places.resize(places.size());
  for (std::size_t node = 0; node < graph.size(); ++node) {
    std::uint64_t left = holders[node];
    if (left == 0) continue;
    const int count = std::popcount(left);
    const std::int64_t bytes = bytes_of(graph, node);
    out.hanging += {1, bytes};
    for (std::int64_t rest = bytes % count; left != 0; left &= left - 1) {
      LeakShares::Share& share = out.places[static_cast<std::size_t>(std::countr_zero(left))];
      share.objects += 1.0 / count;
      share.bytes += bytes / count + (rest > 0 ? 1 : 0);
      rest -= rest > 0 ? 1 : 0;
      if (count == 1) share.exclusive += {1, bytes};
    }
  }
  return out;
}

}  // namespace snapdiff::objects
