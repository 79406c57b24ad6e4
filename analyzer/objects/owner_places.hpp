#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/objects/path_shapes.hpp"
#include "analyzer/objects/root_set.hpp"
#include "analyzer/objects/type_names.hpp"

namespace snapdiff::objects {

/// One heap with its dominator tree; place and type by position in the tree.
struct OwnedHeap {
  const Snapshot* snapshot = nullptr;
  RootSet roots;
  DominatorTree tree;
  std::vector<std::uint32_t> place;
};

/// Places of the dominator trees of two heaps, types under types: objects whose dominators have the same types are at
/// one place. Place 0 is above the roots; a parent comes before its children.
class OwnerPlaces {
 public:
  struct Place {
    std::uint32_t parent = 0;
    std::uint32_t type = 0;  ///< id of Names
    std::array<ObjectSum, 2> self;
    std::array<std::int64_t, 2> retained{};
    std::int64_t growth() const { return retained[1] - retained[0]; }
    std::int64_t self_growth() const { return self[1].bytes - self[0].bytes; }
    std::int64_t object_growth() const { return self[1].objects - self[0].objects; }
  };
  OwnerPlaces() : places_(1) {}

  /// Adds a heap as side 0 or 1. Errors: limit.
  Status add(const SnapshotRef& ref, std::size_t side, Names& names, OwnedHeap& heap);
  /// Retained of self. After the last add().
  void finish();

  const Place& operator[](std::uint32_t place) const { return places_[place]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }

 private:
  std::uint32_t child(std::uint32_t parent, std::uint32_t type);

  std::vector<Place> places_;
  HashIndex index_;
  RecentRows recent_;
};

/// Calls visit(position, net bytes) once for every object, those that it dominates first: what it retains without the
/// next objects of its own place (a linked list), which are counted for themselves.
template <class Visit>
void for_each_net(const OwnedHeap& heap, Visit visit) {
  const DominatorTree& tree = heap.tree;
  struct Open {
    std::size_t position, end;
    std::int64_t net;
  };
  std::vector<Open> open;
  const auto close = [&] {
    visit(open.back().position, open.back().net);
    open.pop_back();
  };
  const bool has_bytes = !heap.snapshot->graph->self_bytes.empty();
  for (std::size_t at = 0; at < tree.size(); ++at) {
    while (!open.empty() && open.back().end <= at) close();
    const std::int64_t retained = has_bytes ? tree.retained_bytes(at) : std::int64_t{tree.objects[at]};
    if (!open.empty() && heap.place[open.back().position] == heap.place[at]) open.back().net -= retained;
    if (tree.objects[at] > 1) {
      open.push_back({at, at + tree.objects[at], retained});
    } else {
      visit(at, retained);
    }
  }
  while (!open.empty()) close();
}

}  // namespace snapdiff::objects
