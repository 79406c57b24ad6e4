#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/objects/fresh.hpp"
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

void add(ObjectSum& sum, std::int64_t bytes) {
  ++sum.objects;
  sum.bytes += bytes;
}

/// Every sum is of distinct objects of one heap, so that one check is enough.
Status check_sum(const ObjectGraph& graph) {
  std::int64_t total = 0;
  for (const std::int64_t bytes : graph.self_bytes) {
    if (bytes < 0 || !checked_add(total, bytes, total))
      return Error{ErrorCode::limit, "object sizes: found a negative one or a sum beyond 2^63-1, expected neither"};
  }
  return ok();
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
    add(totals[type].self, bytes_of(graph, node));
    if (place < covered[type]) continue;
    covered[type] = place + tree->objects[place];
    totals[type].retained.objects += tree->objects[place];
    totals[type].retained.bytes += tree->retained_bytes(place);
  }
  ObjectSum all;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    add(all, bytes_of(graph, node));
    if ((graph.flags[node] & kObjectDetached) == 0) continue;
    add(heap.detached, bytes_of(graph, node));
    add(totals[graph.type[node]].detached, bytes_of(graph, node));
  }
  for (std::size_t type = 0; type < totals.size(); ++type) {
    heap.reachable.objects += totals[type].self.objects;
    heap.reachable.bytes += totals[type].self.bytes;
    out.rows[rows[type]].at[snapshot] = totals[type];
  }
  heap.unreachable = {all.objects - heap.reachable.objects, all.bytes - heap.reachable.bytes};
  return ok();
}

void add_fresh(RetainedReport& out, const std::vector<std::uint32_t>& last_rows) {
  const FreshObjects found = find_fresh(out.snapshots, out.notes);
  if (!found.known) return;
  out.fresh.emplace();
  const ObjectGraph& graph = *out.snapshots.back().snapshot->graph;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    if (!found.fresh[node]) continue;
    add(*out.fresh, bytes_of(graph, node));
    add(out.rows[last_rows[graph.type[node]]].fresh, bytes_of(graph, node));
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
