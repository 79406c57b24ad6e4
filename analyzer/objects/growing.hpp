#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/objects/path_shapes.hpp"

namespace snapdiff::objects {

/// Objects by shape, one column a snapshot; all columns as long as the tree.
using ShapeSums = std::vector<std::vector<ObjectSum>>;

/// A place that grows: from each snapshot to the next each of `held` gained enough.
struct GrowingShape {
  std::uint32_t shape = 0;
  std::vector<std::uint32_t> held;  ///< children; the shape itself where it is a root
};
/// The topmost ones of each chain, in order of their shapes. None for fewer than two snapshots.
std::vector<GrowingShape> find_growing(const ShapeTree& tree, const ShapeSums& sums, std::int64_t loops);

inline constexpr std::size_t kMostShares = 64;  ///< one bit each of a word per object

/// Who of the places holds what hangs only on them (algorithms: leak share). Shares add up to `hanging`.
struct LeakShares {
  struct Share {
    double objects = 0;
    std::int64_t bytes = 0;
    ObjectSum exclusive;
  };
  std::vector<Share> places;  ///< parallel to what was asked
  ObjectSum hanging;
};
/// `places`: shapes, at most kMostShares. `shape_of` as find_shapes() gave it for this graph.
LeakShares leak_shares(const ObjectGraph& graph, std::span<const std::uint32_t> roots,
                       const std::vector<std::uint32_t>& shape_of, const std::vector<std::uint32_t>& places,
                       std::uint32_t shapes);

}  // namespace snapdiff::objects
