#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/objects/root_set.hpp"
#include "analyzer/objects/type_names.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::objects {
namespace {

/// Rows of a report by kind and name.
class Rows {
 public:
  explicit Rows(RetainedReport& out) : out_(out) {}
  std::vector<std::uint32_t> of(const ObjectGraph& graph, const Dictionary& d) {
    std::vector<std::uint32_t> rows;
    for (std::size_t t = 0; t < graph.types.size(); ++t) {
      const std::string_view kind = d.strings[graph.types.kind[t]];
      const std::string_view name = d.strings[graph.types.name[t]];
      const auto [at, is_new] =
          rows_.try_emplace({std::string(kind), std::string(name)}, static_cast<std::uint32_t>(out_.rows.size()));
      if (is_new) {
        RetainedRow row;
        row.kind = kind;
        row.type = name;
        row.at.resize(out_.snapshots.size());
        out_.rows.push_back(std::move(row));
      }
      rows.push_back(at->second);
    }
    return rows;
  }

 private:
  RetainedReport& out_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> rows_;
};

/// Every sum is of distinct objects of one heap, so that one check is enough.
Status check_sum(const ObjectGraph& graph) {
  std::int64_t total = 0;
  for (const std::int64_t bytes : graph.self_bytes) {
    if (bytes < 0 || !checked_add(total, bytes, total))
      return Error{ErrorCode::limit, "object sizes: found a negative one or a sum beyond 2^63-1, expected neither"};
  }
  return ok();
}

/// Objects that a root reaches only through a soft reference.
ObjectSum held_softly(const ObjectGraph& graph, const Dictionary& d, const DominatorTree& tree) {
  ObjectSum sum;
  std::vector<bool> seen;
  std::vector<std::uint32_t> open;
  for (const std::uint32_t node : tree.order) {
    for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
      if ((graph.label[edge] & kEdgeIsWeak) == 0 || (graph.label[edge] & kEdgeIsIndex) != 0 ||
          d.strings[StringId{graph.label[edge] & kEdgeLabel}] != kSoftReferent)
        continue;
      open.push_back(graph.to[edge]);
    }
  }
  if (open.empty()) return sum;
  seen.resize(graph.size());
  for (const std::uint32_t node : tree.order) seen[node] = true;
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    sum += {1, bytes_of(graph, node)};
    for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
      if ((graph.label[edge] & kEdgeIsWeak) == 0) open.push_back(graph.to[edge]);
    }
  }
  return sum;
}

Status fill(RetainedReport& out, std::size_t snapshot, const std::vector<std::uint32_t>& rows) {
  const ObjectGraph& graph = *out.snapshots[snapshot].snapshot->graph;
  if (Status status = check_sum(graph); !status) return status;
  const RootSet roots = find_roots(graph);
  const Result<DominatorTree> tree = dominator_tree(graph, roots.nodes);
  if (!tree) return tree.error();
  HeapFacts& heap = out.heaps[snapshot];
  heap.rule = roots.rule;
  heap.roots = static_cast<std::int64_t>(roots.nodes.size());
  heap.references = static_cast<std::int64_t>(graph.to.size());
  for (const std::uint32_t label : graph.label) heap.weak += (label & kEdgeIsWeak) != 0 ? 1 : 0;

  std::vector<TypeTotals> totals(graph.types.size());
  std::vector<std::uint32_t> covered(graph.types.size());  // up to here an object of the type dominates
  for (std::uint32_t place = 0; place < tree->size(); ++place) {
    const std::uint32_t node = tree->order[place];
    const std::uint32_t type = graph.type[node];
    totals[type].self += {1, bytes_of(graph, node)};
    if (place < covered[type]) continue;
    covered[type] = place + tree->objects[place];
    totals[type].retained += {tree->objects[place], tree->retained_bytes(place)};
  }
  ObjectSum all;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    all += {1, bytes_of(graph, node)};
    if ((graph.flags[node] & kObjectDetached) == 0) continue;
    heap.detached += {1, bytes_of(graph, node)};
    totals[graph.type[node]].detached += {1, bytes_of(graph, node)};
  }
  for (std::size_t type = 0; type < totals.size(); ++type) {
    heap.reachable += totals[type].self;
    if (totals[type] != TypeTotals{}) out.rows[rows[type]].at.set(snapshot, totals[type]);
  }
  heap.unreachable = {all.objects - heap.reachable.objects, all.bytes - heap.reachable.bytes};
  heap.soft = held_softly(graph, *out.snapshots[snapshot].snapshot->dictionary, *tree);
  return ok();
}

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

constexpr std::uint64_t kFewShared = 20;  // less than one in 20 objects of the smaller heap is still there

/// Per node of the last graph: came after the first snapshot and stayed, is in the last, and of three or more snapshots
/// in an earlier one than the last too. Distinguished by their ids; nothing where these do not persist, or do not fit
/// (an object would have changed its type).
std::optional<std::vector<bool>> find_fresh(const std::vector<SnapshotRef>& snapshots, Notes& notes) {
  if (!ids_hold(snapshots)) return std::nullopt;
  Names names;
  const Snapshot& last = *snapshots.back().snapshot;
  const ObjectGraph& graph = *last.graph;
  const std::vector<std::uint32_t> last_types = type_names(graph, *last.dictionary, names);
  std::vector<bool> fresh(graph.size(), snapshots.size() == 2);
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
        fresh[node] = false;
        continue;
      }
      const auto found = std::lower_bound(known.begin(), known.end(), std::pair(graph.id[node], std::uint32_t{0}));
      if (found == known.end() || found->first != graph.id[node]) continue;
      ++shared;
      if (found->second != last_types[graph.type[node]]) ++changed;
      fresh[node] = i > 0;
    }
  }
  // A few objects change their type while they live (strings are flattened); whole heaps do not. Nor is nearly all of
  // a heap of one process replaced between two snapshots, while it holds as much as before.
  const std::size_t first = snapshots.front().snapshot->graph->size();
  if (shared * kFewShared < std::min<std::uint64_t>(first, graph.size())) {
    notes.add(Severity::warning,
              "hardly an object has an id of the first snapshot: ids do not last here (Bun), or these are several "
              "processes; which objects are new is not known");
    return std::nullopt;
  }
  if (changed * 20 <= shared) return fresh;
  notes.add(Severity::warning,
            "objects of one id have other types from snapshot to snapshot: taken for several processes, so "
            "that objects are not identified by their ids");
  return std::nullopt;
}

void add_fresh(RetainedReport& out, const std::vector<std::uint32_t>& last_rows) {
  const std::optional<std::vector<bool>> fresh = find_fresh(out.snapshots, out.notes);
  if (!fresh) return;
  out.fresh.emplace();
  const ObjectGraph& graph = *out.snapshots.back().snapshot->graph;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    if (!(*fresh)[node]) continue;
    *out.fresh += {1, bytes_of(graph, node)};
    out.rows[last_rows[graph.type[node]]].fresh += {1, bytes_of(graph, node)};
  }
}

/// What a row is ordered by: growth, or of one snapshot the value; in bytes, or objects where there
/// are no sizes.
std::pair<std::int64_t, std::int64_t> weight(const RetainedReport& report, const RetainedRow& row) {
  const auto value = [&](const TypeTotals& totals) {
    return report.has_bytes ? totals.retained.bytes : totals.retained.objects;
  };
  const std::int64_t last = value(row.last());
  return {report.snapshots.size() > 1 ? last - value(row.first()) : last, last};
}

}  // namespace

Status check_graphs(const std::vector<SnapshotRef>& snapshots) {
  if (snapshots.empty()) return Error{ErrorCode::usage, "0 snapshots: expected one or more with an object graph"};
  for (const SnapshotRef& ref : snapshots) {
    if (ref.snapshot->graph != nullptr) continue;
    return Error{ErrorCode::usage,
                 "no references between objects in this snapshot: expected an object graph (V8, HPROF, objgraph DOT, "
                 "native), read from its file, as the store keeps none",
                 std::nullopt, ref.ref};
  }
  return ok();
}

Result<RetainedReport> retained(const std::vector<SnapshotRef>& snapshots) {
  if (Status status = check_graphs(snapshots); !status) return std::move(status).error();
  RetainedReport out;
  out.snapshots = snapshots;
  out.heaps.resize(snapshots.size());
  out.has_bytes = true;
  Rows rows(out);
  std::vector<std::uint32_t> rows_of;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const Snapshot& snapshot = *snapshots[i].snapshot;
    out.has_bytes = out.has_bytes && !snapshot.graph->self_bytes.empty();
    out.sizes_estimated = out.sizes_estimated || snapshot.graph->sizes_estimated;
    rows_of = rows.of(*snapshot.graph, *snapshot.dictionary);
    if (Status status = fill(out, i, rows_of); !status) return std::move(status).error().about(snapshots[i].ref);
  }
  add_fresh(out, rows_of);
  std::sort(out.rows.begin(), out.rows.end(), [&](const RetainedRow& a, const RetainedRow& b) {
    const auto x = weight(out, a);
    const auto y = weight(out, b);
    if (x != y) return x > y;
    return std::tie(a.type, a.kind) < std::tie(b.type, b.kind);
  });
  return out;
}

}  // namespace snapdiff::objects
