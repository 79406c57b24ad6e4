#include "analyzer/objects/fresh.hpp"

#include <algorithm>
#include <utility>

namespace snapdiff::objects {
namespace {

bool ids_hold(const std::vector<SnapshotRef>& snapshots) {
  for (const SnapshotRef& ref : snapshots) {
    const ObjectGraph& graph = *ref.snapshot->graph;
    if (!graph.ids_persist || graph.id.empty()) return false;
    const auto& first = snapshots.front().snapshot->facts;
    const auto& facts = ref.snapshot->facts;
    if (facts.format != first.format || (facts.pid && first.pid && *facts.pid != *first.pid)) return false;
  }
  return snapshots.size() > 1;
}

}  // namespace

FreshObjects find_fresh(const std::vector<SnapshotRef>& snapshots, Notes& notes) {
  FreshObjects out;
  if (!ids_hold(snapshots)) return out;
  Names names;
  const Snapshot& last = *snapshots.back().snapshot;
  const ObjectGraph& graph = *last.graph;
  const std::vector<std::uint32_t> last_types = type_names(graph, *last.dictionary, names);
  out.fresh.assign(graph.size(), snapshots.size() == 2);
  std::uint64_t shared = 0;
  std::uint64_t changed = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> known;
  // From the one before the last back to the first, of which nothing may be left.
  for (std::size_t i = snapshots.size() - 1; i-- > 0;) {
    const Snapshot& snapshot = *snapshots[i].snapshot;
    const ObjectGraph& before = *snapshot.graph;
    const std::vector<std::uint32_t> types = type_names(before, *snapshot.dictionary, names);
    known.clear();
    for (std::size_t node = 0; node < before.size(); ++node) {
      if (before.id[node] != kNoObjectId) known.emplace_back(before.id[node], types[before.type[node]]);
    }
    std::sort(known.begin(), known.end());
    for (std::size_t node = 0; node < graph.size(); ++node) {
      if (graph.id[node] == kNoObjectId) {
        out.fresh[node] = false;
        continue;
      }
      const auto found = std::lower_bound(known.begin(), known.end(), std::pair(graph.id[node], std::uint32_t{0}));
      if (found == known.end() || found->first != graph.id[node]) continue;
      ++shared;
      if (found->second != last_types[graph.type[node]]) ++changed;
      out.fresh[node] = i > 0;
    }
  }
  // A few objects change their type while they live (strings are flattened); whole heaps do not.
  out.known = changed * 20 <= shared;
  if (!out.known)
    notes.add(Severity::warning,
              "objects of one id have other types from snapshot to snapshot: taken for several processes, so "
              "that objects are not identified by their ids");
  return out;
}

}  // namespace snapdiff::objects
