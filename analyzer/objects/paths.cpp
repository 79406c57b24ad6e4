#include <re2/re2.h>
#include <tuple>

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/objects/path_shapes.hpp"
#include "analyzer/objects/retained_objects.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::objects {
namespace {

constexpr std::size_t kMostRows = 10'000;
/// Rows times snapshots: more than 100 snapshots have fewer rows.
constexpr std::size_t kMostFigures = std::size_t{1} << 20;

/// Growth and last value of a column: bytes where there are sizes, else objects.
class Order {
 public:
  explicit Order(bool by_bytes) : by_bytes_(by_bytes) {}
  std::int64_t value(const ObjectSum& sum) const { return by_bytes_ ? sum.bytes : sum.objects; }
  /// From the first snapshot to the last.
  std::int64_t growth(const ObjectSum& first, const ObjectSum& last) const { return value(last) - value(first); }
  std::pair<std::int64_t, std::int64_t> weight(const std::vector<ObjectSum>& at) const {
    return {growth(at.front(), at.back()), value(at.back())};
  }

 private:
  bool by_bytes_;
};

/// `mine`: nothing for each shape, before and after; lent, as it is large.
Status add_snapshot(const Snapshot& snapshot, const RootSet& roots, ShapeTree& tree, ShapeSums& sums,
                    std::vector<std::uint32_t>& shape_of, std::vector<ObjectSum>& mine) {
  const ObjectGraph& graph = *snapshot.graph;
  std::vector<std::uint32_t>().swap(shape_of);
  shape_of = find_shapes(snapshot, roots, tree);
  sums.begin_snapshot();
  mine.resize(tree.size());
  std::vector<std::uint32_t> used;
  std::int64_t total = 0;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    const std::int64_t bytes = bytes_of(graph, node);
    if (bytes < 0 || !checked_add(total, bytes, total))
      return Error{ErrorCode::limit, "object sizes: found a negative one or a sum beyond 2^63-1, expected neither"};
    if (shape_of[node] == kNoNode) continue;
    ObjectSum& sum = mine[shape_of[node]];
    if (sum.objects == 0) used.push_back(shape_of[node]);
    sum += ObjectSum{1, bytes};
  }
  for (const std::uint32_t shape : used) sums.set(shape, std::exchange(mine[shape], {}));
  return ok();
}

class Report {
 public:
  Report(PathReport& out, const ShapeTree& tree, const ShapeSums& sums)
      : out_(out), tree_(tree), sums_(sums), order_(out.has_bytes) {}

  void add_growing(const ObjectGraph& last, const RootSet& roots, const std::vector<std::uint32_t>& shape_of,
                   std::vector<int>& place_of) {
    std::vector<GrowingShape> places = find_growing(tree_, sums_, out_.loops);
    std::vector<std::int64_t> growth;
    for (const GrowingShape& place : places) {
      std::int64_t sum = 0;
      for (const std::uint32_t held : place.held) sum += order_.growth(sums_.first(held), sums_.last(held));
      growth.push_back(sum);
    }
    std::vector<std::size_t> by_growth(places.size());
    std::iota(by_growth.begin(), by_growth.end(), std::size_t{0});
    std::sort(by_growth.begin(), by_growth.end(), [&](std::size_t a, std::size_t b) {
      if (growth[a] != growth[b]) return growth[a] > growth[b];
      return tree_[places[a].shape].hash < tree_[places[b].shape].hash;
    });
    const std::size_t shared = std::min(places.size(), kMostShares);
    std::vector<std::uint32_t> shapes;
    for (std::size_t i = 0; i < shared; ++i) shapes.push_back(places[by_growth[i]].shape);
    LeakShares shares;
    if (shared > 0) shares = leak_shares(last, roots.nodes, shape_of, shapes, tree_.size());
    out_.hanging = shares.hanging;
    // Most share first; those without one keep their order after.
    std::vector<std::size_t> by_share(places.size());
    std::iota(by_share.begin(), by_share.end(), std::size_t{0});
    std::stable_sort(by_share.begin(), by_share.begin() + static_cast<std::ptrdiff_t>(shared),
                     [&](std::size_t a, std::size_t b) {
                       if (out_.has_bytes && shares.places[a].bytes != shares.places[b].bytes)
                         return shares.places[a].bytes > shares.places[b].bytes;
                       return shares.places[a].objects > shares.places[b].objects;
                     });
    if (by_share.size() > kMostRows) by_share.resize(kMostRows);
    for (const std::size_t i : by_share) {
      const GrowingShape& place = places[by_growth[i]];
      place_of[place.shape] = static_cast<int>(out_.growing.size());
      out_.growing.push_back(describe(place));
      if (i < shared) set_share(out_.growing.back(), shares.places[i]);
    }
  }

  void add_rows(const std::vector<std::uint8_t>& matches, const std::vector<int>& place_of, const ObjectGraph& last,
                const std::vector<std::uint32_t>& shape_of) {
    std::vector<std::uint32_t> shapes;
    for (std::uint32_t shape = 1; shape < tree_.size(); ++shape) {
      if (matches[tree_[shape].type] == 0) continue;
      shapes.push_back(shape);
      for (const auto& [snapshot, sum] : sums_.known(shape)) out_.total[snapshot] += sum;
    }
    const auto weight = [&](std::uint32_t shape) {
      const ObjectSum now = sums_.last(shape);
      return std::tuple(order_.growth(sums_.first(shape), now), order_.value(now), tree_[shape].hash);
    };
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return weight(a) > weight(b); };
    const std::size_t kept = std::min({shapes.size(), kMostRows, kMostFigures / sums_.snapshots() + 1});
    std::partial_sort(shapes.begin(), shapes.begin() + static_cast<std::ptrdiff_t>(kept), shapes.end(), before);
    for (std::size_t i = kept; i < shapes.size(); ++i) {
      ++out_.more_rows;
      for (const auto& [snapshot, sum] : sums_.known(shapes[i])) out_.more_at[snapshot] += sum;
    }
    shapes.resize(kept);
    std::vector<std::uint32_t> row_of(tree_.size(), kNoNode);
    for (const std::uint32_t shape : shapes) {
      row_of[shape] = static_cast<std::uint32_t>(out_.rows.size());
      PathRow row;
      row.path = tree_.path(shape, row.left_out);
      row.at = sums_.column(shape);
      row.growing = place_of[shape];
      out_.rows.push_back(std::move(row));
    }
    if (last.id.empty()) return;
    for (std::size_t node = 0; node < last.size(); ++node) {
      if (shape_of[node] == kNoNode || row_of[shape_of[node]] == kNoNode || last.id[node] == kNoObjectId) continue;
      PathRow& row = out_.rows[row_of[shape_of[node]]];
      if (!row.example) row.example = last.id[node];
    }
  }

 private:
  GrowingPlace describe(const GrowingShape& place) const {
    GrowingPlace out;
    out.path = tree_.path(place.shape, out.left_out);
    out.at = sums_.column(place.shape);
    for (const std::uint32_t held : place.held) out.held.push_back({tree_.step(held), sums_.column(held)});
    std::stable_sort(out.held.begin(), out.held.end(),
                     [&](const auto& a, const auto& b) { return order_.weight(a.at) > order_.weight(b.at); });
    return out;
  }

  void set_share(GrowingPlace& place, const LeakShares::Share& share) const {
    place.share_objects = share.objects;
    place.exclusive_objects = share.exclusive.objects;
    if (!out_.has_bytes) return;
    place.share_bytes = share.bytes;
    place.exclusive_bytes = share.exclusive.bytes;
  }

  PathReport& out_;
  const ShapeTree& tree_;
  const ShapeSums& sums_;
  Order order_;
};

Result<std::unique_ptr<RE2>> compile(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  auto expression = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!expression->ok())
    return Error{ErrorCode::usage,
                 "bad pattern: found '" + pattern + "', expected RE2 syntax (" + expression->error() + ")"};
  return expression;
}

/// Per name: it is of a matching type, or could be.
std::vector<std::uint8_t> find_matches(const Names& names, const RE2& pattern) {
  std::vector<std::uint8_t> out(names.size());
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    const std::string& text = names.text(id);
    out[id] = RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern) ? 1 : 0;
  }
  return out;
}

}  // namespace

Result<PathReport> paths(const std::vector<SnapshotRef>& snapshots, const PathOptions& options) {
  if (Status status = check_graphs(snapshots); !status) return std::move(status).error();
  const Result<std::unique_ptr<RE2>> pattern = compile(options.pattern);
  if (!pattern) return pattern.error();
  PathReport out;
  out.snapshots = snapshots;
  out.pattern = options.pattern;
  out.loops = std::max<std::int64_t>(options.loops, 1);
  out.has_bytes = true;
  out.more_at.resize(snapshots.size());
  out.total.resize(snapshots.size());
  ShapeTree tree;
  ShapeSums sums;
  std::vector<ObjectSum> mine;
  std::vector<std::uint32_t> shape_of;
  RootSet roots;
  for (const SnapshotRef& ref : snapshots) {
    out.has_bytes = out.has_bytes && !ref.snapshot->graph->self_bytes.empty();
    roots = find_roots(*ref.snapshot->graph);
    if (Status status = add_snapshot(*ref.snapshot, roots, tree, sums, shape_of, mine); !status)
      return std::move(status).error().about(ref.ref);
  }

  const Snapshot& last = *snapshots.back().snapshot;
  const std::vector<std::uint8_t> matches = find_matches(tree.names(), **pattern);
  const std::vector<std::uint32_t> types = type_names(*last.graph, *last.dictionary, tree.names());
  for (std::size_t node = 0; node < last.graph->size(); ++node) {
    if (shape_of[node] == kNoNode && matches[types[last.graph->type[node]]] != 0)
      out.unreachable += ObjectSum{1, bytes_of(*last.graph, node)};
  }
  Report report(out, tree, sums);
  std::vector<int> place_of(tree.size(), -1);
  report.add_growing(*last.graph, roots, shape_of, place_of);
  for (std::uint32_t shape = 1; shape < tree.size(); ++shape) {  // what lies on a path through a place is of it
    if (place_of[shape] < 0) place_of[shape] = place_of[tree[shape].parent];
  }
  report.add_rows(matches, place_of, *last.graph, shape_of);
  return out;
}

}  // namespace snapdiff::objects
