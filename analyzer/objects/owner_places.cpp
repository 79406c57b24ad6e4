#include "analyzer/objects/owner_places.hpp"

#include <utility>

#include "snapdiff/checked.hpp"

namespace snapdiff::objects {

std::uint32_t OwnerPlaces::child(std::uint32_t parent, std::uint32_t type) {
  if (parent != 0 && places_[parent].type == type) return parent;
  std::uint32_t& recent = recent_.row(parent, type, 0);
  if (recent != RecentRows::kAbsent) return recent;
  const std::uint64_t hash = mix64((std::uint64_t{parent} << 32) | type);
  const std::uint32_t found =
      index_.find(hash, [&](std::uint32_t p) { return places_[p].parent == parent && places_[p].type == type; });
  if (found != HashIndex::kAbsent) return recent = found;
  const std::uint32_t made = size();
  Place place;
  place.parent = parent;
  place.type = type;
  places_.push_back(place);
  index_.insert(hash, made);
  return recent = made;
}

Status OwnerPlaces::add(const SnapshotRef& ref, std::size_t side, Names& names, OwnedHeap& heap) {
  heap.snapshot = ref.snapshot.get();
  const ObjectGraph& graph = *heap.snapshot->graph;
  std::int64_t total = 0;
  for (const std::int64_t bytes : graph.self_bytes) {
    if (bytes < 0 || !checked_add(total, bytes, total))
      return Error{
          ErrorCode::limit, "object sizes: found a negative one or a sum beyond 2^63-1, expected neither", {}, ref.ref};
  }
  heap.roots = find_roots(graph);
  Result<DominatorTree> tree = dominator_tree(graph, heap.roots.nodes);
  if (!tree) return Error(tree.error()).about(ref.ref);
  heap.tree = std::move(*tree);
  const std::vector<std::uint32_t> types = type_names(graph, *heap.snapshot->dictionary, names);
  heap.place.resize(heap.tree.size());
  std::vector<std::pair<std::size_t, std::uint32_t>> above;  // where a subtree ends, its place
  for (std::size_t at = 0; at < heap.tree.size(); ++at) {
    while (!above.empty() && above.back().first <= at) above.pop_back();
    const std::uint32_t node = heap.tree.order[at];
    const std::uint32_t here = child(above.empty() ? 0 : above.back().second, types[graph.type[node]]);
    heap.place[at] = here;
    places_[here].self[side] += {1, graph.self_bytes.empty() ? 1 : graph.self_bytes[node]};
    if (heap.tree.objects[at] > 1) above.emplace_back(at + heap.tree.objects[at], here);
  }
  return ok();
}

void OwnerPlaces::finish() {
  for (Place& place : places_) place.retained = {place.self[0].bytes, place.self[1].bytes};
  for (std::uint32_t p = size(); p-- > 1;) {
    for (std::size_t side = 0; side < 2; ++side) places_[places_[p].parent].retained[side] += places_[p].retained[side];
  }
}

}  // namespace snapdiff::objects
