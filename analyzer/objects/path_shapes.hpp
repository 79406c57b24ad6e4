#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/objects/root_set.hpp"
#include "analyzer/objects/type_names.hpp"

namespace snapdiff::objects {

inline constexpr std::uint32_t kPathEnd = 16;  ///< steps of a long path that are shown at either end

/// All that one sees on the shortest path to an object: labels and types. Ids of Names; references by
/// index are all labelled kIndexLabel.
struct Shape {
  std::uint32_t parent = 0;
  std::uint32_t label = 0;
  std::uint32_t type = 0;
  std::uint32_t depth = 0;  ///< steps from the root
  std::uint32_t start = 0;  ///< where the first kPathEnd steps lead to; 0 for a shorter path
  std::uint64_t hash = 0;   ///< of the whole path, the same in every run
};

/// Shapes of all snapshots; a parent comes before its children. Shape 0 is above the roots.
class ShapeTree {
 public:
  ShapeTree() : shapes_(1), index_label_(names_.id("[x]")) {}

  const Shape& operator[](std::uint32_t shape) const { return shapes_[shape]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(shapes_.size()); }
  Names& names() { return names_; }
  const Names& names() const { return names_; }
  std::uint32_t index_label() const { return index_label_; }

  /// The shape one step further. A step like the one before it (a linked list) leads to the same shape.
  std::uint32_t child(std::uint32_t parent, std::uint32_t label, std::uint32_t type);

  /// The steps to a shape, root side first. Of a long path the middle is left out and counted.
  std::vector<PathStep> path(std::uint32_t shape, std::size_t& left_out) const;
  PathStep step(std::uint32_t shape) const {
    return {names_.text(shapes_[shape].label), names_.text(shapes_[shape].type)};
  }

 private:
  Names names_;
  std::vector<Shape> shapes_;
  HashIndex index_;
  RecentRows recent_;
  std::uint32_t index_label_;
};

/// Shortest paths from the roots along references that are not weak: per node its shape, kNoNode where no root
/// reaches it. Length counts only among paths with equally few steps through objects of the engine (code, object
/// shapes, synthetic roots) and roots that pass (stack frames): a named path goes before. Objects of one level are
/// visited in the order of their paths' hashes, so that who claims a shared object does not depend on where objects lie
/// in the file.
std::vector<std::uint32_t> find_shapes(const Snapshot& snapshot, const RootSet& roots, ShapeTree& tree);

/// Objects by shape and snapshot. Most may be nothing: of thousands of snapshots each may have shapes of its own.
class ShapeSums {
 public:
  std::size_t snapshots() const { return snapshots_; }
  void begin_snapshot() { ++snapshots_; }
  /// Of the snapshot begun last; once for each shape.
  void set(std::uint32_t shape, const ObjectSum& sum) {
    if (known_.size() <= shape) known_.resize(shape + std::size_t{1});
    known_[shape].emplace_back(snapshots_ - 1, sum);
  }
  /// The sums that are not zero, with their snapshots.
  std::span<const std::pair<std::size_t, ObjectSum>> known(std::uint32_t shape) const {
    return shape < known_.size() ? std::span(known_[shape]) : std::span<const std::pair<std::size_t, ObjectSum>>();
  }
  ObjectSum first(std::uint32_t shape) const {
    const auto all = known(shape);
    return !all.empty() && all.front().first == 0 ? all.front().second : ObjectSum{};
  }
  ObjectSum last(std::uint32_t shape) const {
    const auto all = known(shape);
    return !all.empty() && all.back().first + 1 == snapshots_ ? all.back().second : ObjectSum{};
  }
  std::vector<ObjectSum> column(std::uint32_t shape) const {
    std::vector<ObjectSum> out(snapshots_);
    for (const auto& [snapshot, sum] : known(shape)) out[snapshot] = sum;
    return out;
  }

 private:
  std::size_t snapshots_ = 0;
  std::vector<std::vector<std::pair<std::size_t, ObjectSum>>> known_;  ///< by shape
};

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
