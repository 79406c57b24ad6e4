#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/ids.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

/// Objects of one heap and who refers to whom, as object-graph formats record it (V8, HPROF, objgraph,
/// native tracker dumps). Flat columns, nothing recursive; string ids are of the snapshot's dictionary.
namespace snapdiff {

/// What people call a kind of object; rows are unique. `kind` is the format's own class of kinds
/// ("object", "closure", "string", "instance", ...) or "".
struct ObjectTypeTable {
  std::vector<StringId> kind;
  std::vector<StringId> name;
  std::size_t size() const { return name.size(); }
};

inline constexpr std::uint8_t kObjectRoot = 1;      ///< held from outside: roots[] says by what
inline constexpr std::uint8_t kObjectDetached = 2;  ///< out of its document (V8)

/// A label of an edge is a name (StringId) or an index of an array.
inline constexpr std::uint32_t kEdgeIsIndex = 0x80000000U;
inline constexpr std::uint32_t kEdgeIsWeak = 0x40000000U;  ///< does not keep its end alive; not followed by dominators
inline constexpr std::uint32_t kEdgeLabel = 0x3fffffffU;   ///< mask: string row or index; larger ones are kEdgeLabel

/// Label of a weak reference that is followed until memory runs out (Java's SoftReference).
inline constexpr std::string_view kSoftReferent = "soft referent";
/// Type of objects that a collector fills gaps with: never alive.
inline constexpr std::string_view kDeadSpace = "dead space of the collector";

inline constexpr std::uint64_t kNoObjectId = std::numeric_limits<std::uint64_t>::max();

/// A root that is no object itself: what keeps `node` alive, e.g. "JNI global", "thread object".
struct ObjectRoot {
  std::uint32_t node = 0;
  StringId kind{};
  friend bool operator==(const ObjectRoot&, const ObjectRoot&) = default;
};

/// Nodes 0 .. size() - 1; edges of node n are rows edge_begin[n] .. edge_begin[n + 1), holder -> held.
/// At most 2^32 - 2 nodes. All node vectors are parallel (id may be empty: none), all edge vectors too.
struct ObjectGraph {
  ObjectTypeTable types;

  std::vector<std::uint32_t> type;       ///< row of types
  std::vector<std::int64_t> self_bytes;  ///< empty: the format has no sizes
  std::vector<std::uint64_t> id;         ///< of the format; empty when it has none. Unique where not kNoObjectId
  std::vector<std::uint8_t> flags;
  std::vector<std::uint64_t> edge_begin{0};

  std::vector<std::uint32_t> to;
  std::vector<std::uint32_t> label;

  std::vector<ObjectRoot> roots;  ///< sorted by node; a node may have several
  bool ids_persist = false;       ///< an object keeps its id from one snapshot of a process to the next
  bool sizes_estimated = false;   ///< self_bytes is computed, not recorded

  std::size_t size() const { return type.size(); }
  std::span<const std::uint32_t> held(std::uint32_t node) const {
    return std::span(to).subspan(edge_begin[node], edge_begin[node + 1] - edge_begin[node]);
  }
};

/// Whether every column fits and every number is inside its table.
/// Errors: internal.
inline Status validate(const ObjectGraph& graph, const Dictionary& d) {
  const auto broken = [](std::string what) -> Status { return Error{ErrorCode::internal, std::move(what)}; };
  const std::size_t nodes = graph.size();
  if (graph.types.kind.size() != graph.types.size()) return broken("object type columns differ in length");
  for (std::size_t row = 0; row < graph.types.size(); ++row) {
    if (index_of(graph.types.kind[row]) >= d.strings.size() || index_of(graph.types.name[row]) >= d.strings.size())
      return broken("object type names a string that does not exist");
  }
  if ((!graph.self_bytes.empty() && graph.self_bytes.size() != nodes) ||
      (!graph.id.empty() && graph.id.size() != nodes) || graph.flags.size() != nodes ||
      graph.edge_begin.size() != nodes + 1 || graph.label.size() != graph.to.size())
    return broken("object columns differ in length");
  if (graph.edge_begin.front() != 0 || graph.edge_begin.back() != graph.to.size())
    return broken("objects do not cover the reference columns");
  for (std::size_t node = 0; node < nodes; ++node) {
    if (graph.type[node] >= graph.types.size()) return broken("object names a type that does not exist");
    if (graph.edge_begin[node] > graph.edge_begin[node + 1]) return broken("references of objects out of order");
  }
  for (std::size_t edge = 0; edge < graph.to.size(); ++edge) {
    if (graph.to[edge] >= nodes) return broken("reference to an object that does not exist");
    const std::uint32_t label = graph.label[edge];
    if ((label & kEdgeIsIndex) == 0 && (label & kEdgeLabel) >= d.strings.size())
      return broken("reference names a string that does not exist");
  }
  for (std::size_t row = 0; row < graph.roots.size(); ++row) {
    if (graph.roots[row].node >= nodes || index_of(graph.roots[row].kind) >= d.strings.size())
      return broken("root names an object or string that does not exist");
    if (row > 0 && graph.roots[row].node < graph.roots[row - 1].node) return broken("roots out of order");
  }
  return ok();
}

}  // namespace snapdiff
