#include <algorithm>
#include <utility>

#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/objects/root_set.hpp"
#include "analyzer/objects/type_names.hpp"

namespace snapdiff::objects {
namespace {

/// Places of the dominator tree by type; numbers are those of RetainedTree::nodes.
class TypeTree {
 public:
  explicit TypeTree(RetainedTree& out) : out_(out), type_{0} { out_.nodes.resize(1); }

  std::uint32_t child(std::uint32_t parent, std::uint32_t type) {
    if (parent != 0 && type_[parent] == type) return parent;
    const std::uint64_t hash = mix64((std::uint64_t{parent} << 32) | type);
    const std::uint32_t found =
        index_.find(hash, [&](std::uint32_t n) { return out_.nodes[n].parent == parent && type_[n] == type; });
    if (found != HashIndex::kAbsent) return found;
    const auto made = static_cast<std::uint32_t>(out_.nodes.size());
    RetainedNode node;
    node.parent = parent;
    out_.nodes.push_back(std::move(node));
    type_.push_back(type);
    index_.insert(hash, made);
    return made;
  }

  Status add(const SnapshotRef& ref, std::int64_t Change::*side) {
    const Snapshot& snapshot = *ref.snapshot;
    const ObjectGraph& graph = *snapshot.graph;
    const Result<DominatorTree> tree = dominator_tree(graph, find_roots(graph).nodes);
    if (!tree) return Error(tree.error()).about(ref.ref);
    const std::vector<std::uint32_t> types = type_names(graph, *snapshot.dictionary, names_);
    std::vector<std::pair<std::size_t, std::uint32_t>> above;  // where a subtree ends, its place by type
    for (std::size_t place = 0; place < tree->size(); ++place) {
      while (!above.empty() && above.back().first <= place) above.pop_back();
      const std::uint32_t node = tree->order[place];
      const std::int64_t bytes = out_.has_bytes ? graph.self_bytes[node] : 1;
      if (bytes < 0)
        return Error{ErrorCode::limit, "size of an object: found a negative one, expected none", {}, ref.ref};
      const std::uint32_t here = child(above.empty() ? 0 : above.back().second, types[graph.type[node]]);
      out_.nodes[here].self.*side += bytes;
      ++(out_.nodes[here].objects.*side);
      if (tree->objects[place] > 1) above.emplace_back(place + tree->objects[place], here);
    }
    return ok();
  }

  /// Names, and retained of self: children come after their parents.
  void finish() {
    for (std::size_t n = 0; n < out_.nodes.size(); ++n) {
      out_.nodes[n].type = names_.text(type_[n]);
      out_.nodes[n].retained = out_.nodes[n].self;
    }
    for (std::size_t n = out_.nodes.size(); n-- > 1;) {
      RetainedNode& parent = out_.nodes[out_.nodes[n].parent];
      parent.retained += out_.nodes[n].retained;
    }
  }

 private:
  RetainedTree& out_;
  Names names_;
  std::vector<std::uint32_t> type_;
  HashIndex index_;
};

}  // namespace

Result<RetainedTree> retained_tree(const SnapshotRef& baseline, const SnapshotRef& current) {
  std::vector<SnapshotRef> both;
  if (baseline.snapshot != nullptr) both.push_back(baseline);
  both.push_back(current);
  if (Status status = check_graphs(both); !status) return std::move(status).error();
  RetainedTree out;
  out.baseline = baseline;
  out.current = current;
  out.has_bytes = std::all_of(both.begin(), both.end(),
                              [](const SnapshotRef& ref) { return !ref.snapshot->graph->self_bytes.empty(); });
  TypeTree tree(out);
  if (out.has_baseline()) {
    if (Status status = tree.add(baseline, &Change::baseline); !status) return std::move(status).error();
  }
  if (Status status = tree.add(current, &Change::current); !status) return std::move(status).error();
  tree.finish();
  return out;
}

}  // namespace snapdiff::objects
