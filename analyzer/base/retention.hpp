#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/notes.hpp"

/// Who keeps whom alive in object graphs, as reports and pictures show it. Texts are bytes as found.
namespace snapdiff {

/// How a type is called where people read it: plain objects by their name, others with their kind.
inline std::string type_text(std::string_view kind, std::string_view name) {
  if (kind.empty() || kind == "object" || kind == "instance") return std::string(name);
  std::string kind_text = std::string("(").append(kind).append(")");
  if (name.empty() || name == kind_text) return kind_text;
  return std::string(name).append(" ").append(kind_text);
}

/// What was taken for the roots of a graph.
///   told     the format names them
///   flagged  it only marks objects as roots
///   unheld   it does neither: objects that no other one holds
///   first    every object is held by another one: object 0
enum class RootRule : std::uint8_t { told, flagged, unheld, first };
constexpr std::string_view to_text(RootRule rule) {
  constexpr std::string_view kNames[] = {"told", "flagged", "unheld", "first"};
  return kNames[static_cast<std::size_t>(rule)];
}

/// Objects and their own bytes (0 where the format has no sizes).
struct ObjectSum {
  std::int64_t objects = 0;
  std::int64_t bytes = 0;

  ObjectSum& operator+=(const ObjectSum& more) {
    objects += more.objects;
    bytes += more.bytes;
    return *this;
  }
  friend bool operator==(const ObjectSum&, const ObjectSum&) = default;
};

/// One heap as a whole. reachable + unreachable: every object once.
struct HeapFacts {
  RootRule rule = RootRule::told;
  std::int64_t roots = 0;  ///< objects held from outside
  std::int64_t references = 0;
  std::int64_t weak = 0;  ///< of these, not followed
  ObjectSum reachable;    ///< == what the roots retain
  ObjectSum unreachable;
  ObjectSum soft;      ///< of these, what soft references lead to: collected before memory runs out
  ObjectSum detached;  ///< out of their document, reachable or not
};

/// Objects of one type in one heap.
///   retained  what would go if all of them went at once, each counted once along a dominator chain:
///             the sum over those that no other object of the type dominates. A lower bound: objects
///             that two of them share, neither dominating, belong to whoever dominates both. Shares
///             of different types overlap, so that they do not add up to the heap.
struct TypeTotals {
  ObjectSum self;  ///< reachable ones
  ObjectSum retained;
  ObjectSum detached;
  friend bool operator==(const TypeTotals&, const TypeTotals&) = default;
};

/// Totals by snapshot, of which most may be nothing: a type of one snapshot in a series of thousands.
class TotalsBySnapshot {
 public:
  void resize(std::size_t snapshots) { size_ = snapshots; }
  std::size_t size() const { return size_; }
  /// In the order of snapshots.
  void set(std::size_t snapshot, const TypeTotals& totals) {
    if (known_.empty() || known_.back().first != snapshot) known_.emplace_back(snapshot, TypeTotals{});
    known_.back().second = totals;
  }
  TypeTotals operator[](std::size_t snapshot) const {
    const auto at = std::lower_bound(known_.begin(), known_.end(), snapshot,
                                     [](const auto& known, std::size_t wanted) { return known.first < wanted; });
    return at != known_.end() && at->first == snapshot ? at->second : TypeTotals{};
  }
  /// The totals that are not zero, with their snapshots.
  const std::vector<std::pair<std::size_t, TypeTotals>>& known() const { return known_; }

 private:
  std::size_t size_ = 0;
  std::vector<std::pair<std::size_t, TypeTotals>> known_;
};

struct RetainedRow {
  std::string kind;  ///< the format's class of kinds, or ""
  std::string type;
  TotalsBySnapshot at;
  ObjectSum fresh;  ///< RetainedReport::fresh of this type

  TypeTotals first() const { return at[0]; }
  TypeTotals last() const { return at[at.size() - 1]; }
};

/// A container that keeps more than before, and what it keeps. Both ends of a comparison, or one heap alone.
///   holder    how the container is called: "OrderCache.byId (HashMap)", "sessions (Map)"
///   above     the named reference that leads there: "Shop.CACHE", "HelmetWrapper"; "" where `holder` says it
///   type      what it holds more of: the program's own type where there is one
///   types     type_text() of all types of which this container holds most of the growth; no type is in two owners
///   retained  what the gained objects keep alive, at both ends; owners do not overlap
///   held      objects of `type` there
///   detached  of these, objects out of their document; `detached_type` says which
struct Owner {
  std::string holder, above, type;
  bool own = true;  ///< `type` or the container is the program's own
  std::vector<std::string> types;
  Change retained;
  Change held;
  Change detached;
  std::string detached_type;
};
/// Types of one or more heaps. Rows: every type met, most growth of retained bytes (of one heap: most
/// retained) first.
struct RetainedReport {
  std::vector<SnapshotRef> snapshots;  ///< oldest first; one or more
  std::vector<HeapFacts> heaps;        ///< parallel
  bool has_bytes = false;              ///< all of them record sizes
  bool sizes_estimated = false;        ///< sizes of some are computed, not recorded
  std::vector<RetainedRow> rows;
  /// Objects that were not in the first snapshot, are in the last, and, of three or more, were in an
  /// earlier one than the last too. Empty where objects cannot be distinguished.
  std::optional<ObjectSum> fresh;
  std::vector<Owner> owners;  ///< OwnerReport of both ends, where it was asked for
  Notes notes;
};

/// One step of a path: `label` of the reference ("" at the start: then a kind of root, or nothing),
/// and the type that it leads to. References by index are all "[x]".
struct PathStep {
  std::string label;
  std::string type;
  friend bool operator==(const PathStep&, const PathStep&) = default;
};

/// All objects whose shortest path from a root looks the same.
struct PathRow {
  std::vector<PathStep> path;            ///< root side first
  std::size_t left_out = 0;              ///< steps in the middle of a path that is too long to be kept whole
  std::vector<ObjectSum> at;             ///< by snapshot
  int growing = -1;                      ///< the entry of PathReport::growing it runs through, -1 for none
  std::optional<std::uint64_t> example;  ///< id of one of the objects in the last snapshot
};

/// Objects at one place that hold more with every snapshot: the topmost of a chain of such places.
struct GrowingPlace {
  std::vector<PathStep> path;  ///< to the holder
  std::size_t left_out = 0;
  std::vector<ObjectSum> at;  ///< the holders themselves
  struct Held {
    PathStep step;
    std::vector<ObjectSum> at;
  };
  std::vector<Held> held;  ///< what it holds more of, most growth first
  /// In the last snapshot, of what hangs only on growing places: share divides what several of them
  /// reach among them, exclusive is what only this one does. Empty beyond the first 64 places.
  std::optional<std::int64_t> share_bytes, exclusive_bytes, exclusive_objects;
  double share_objects = 0;
};

struct PathReport {
  std::vector<SnapshotRef> snapshots;
  std::string pattern;
  std::int64_t loops = 1;  ///< objects by which a place has to grow from each snapshot to the next
  bool has_bytes = false;
  std::vector<PathRow> rows;          ///< most growth first, at most 10 000
  std::size_t more_rows = 0;          ///< paths beyond these
  std::vector<ObjectSum> more_at;     ///< what they hold, by snapshot
  std::vector<ObjectSum> total;       ///< all matching objects that a root reaches, by snapshot
  std::vector<GrowingPlace> growing;  ///< most share first; empty for one snapshot
  ObjectSum hanging;                  ///< what hangs only on growing places, in the last snapshot; the shares' sum
  ObjectSum unreachable;              ///< matching objects of the last snapshot that no root reaches
  Notes notes;
};

struct OwnerReport {
  std::vector<Owner> owners;  ///< most growth first
};

/// The dominator tree, types under types: an object adds to the place of the types that dominate it.
/// Types that follow themselves are one place. nodes[0] stands for all roots; parents come first.
struct RetainedNode {
  std::string type;
  std::uint32_t parent = 0;
  Change self;      ///< bytes of the objects here; objects where there are no sizes
  Change objects;   ///< how many
  Change retained;  ///< self of the whole subtree
};
struct RetainedTree {
  SnapshotRef baseline;  ///< without a snapshot where one heap is shown alone
  SnapshotRef current;
  bool has_bytes = false;
  std::vector<RetainedNode> nodes;
  bool has_baseline() const { return baseline.snapshot != nullptr; }
};

}  // namespace snapdiff
