#pragma once

#include <unordered_map>

#include "formats/input/graph_parts.hpp"
#include "formats/tracker_lines/typed_fields.hpp"

namespace snapdiff::formats::tracker_lines {

/// The node and edge lines of the open snapshot. Edges may come before the nodes that they join.
class ObjectLines {
 public:
  explicit ObjectLines(SnapshotBuilder& builder) : builder_(builder) {}

  /// Take a node or edge line. Throw LineError: a wrong value, a node id that is there already.
  void node(const Fields& fields, std::uint64_t line);
  void edge(const Fields& fields, std::uint64_t line);

  bool empty() const { return key_low_.empty(); }

  struct Made {
    std::shared_ptr<ObjectGraph> graph;
    std::uint64_t dangling = 0;       ///< edges left out: one of their ends is no node
    std::uint64_t dangling_line = 0;  ///< where the first such end is named
    std::uint64_t unsized = 0;        ///< nodes without bytes in a graph that has bytes; they count as 0
  };
  /// Uses up the lines. Throws Failure (limit) when the bytes of all nodes leave 64 bits.
  Made finish(bool ids_persist, bool sizes_estimated);

 private:
  static constexpr std::uint32_t kUndefined = 0xffffffffU;

  /// The slot's id as a number of its own.
  std::uint64_t id_of(std::size_t row) const;
  std::uint32_t slot(const Fields& fields, Key key, std::uint64_t line);
  std::uint32_t type_row(std::string_view name);

  SnapshotBuilder& builder_;
  ObjectTypeTable types_;
  std::unordered_map<StringId, std::uint32_t> type_of_string_;  // row of types_
  // By slot: an id in order of its first mention, be it a node or the end of an edge.
  // Some 30 bytes each while a snapshot is open; a graph of numbered nodes takes these columns over.
  HashIndex slots_;
  std::vector<std::uint64_t> key_low_;   // the number, of an id that is one
  std::vector<std::uint64_t> key_high_;  // empty: all ids are numbers
  std::vector<std::uint32_t> type_;      // kUndefined: no node line yet
  std::vector<std::int64_t> bytes_;      // -1: unknown; without a node line: the line that mentions it first
  std::vector<ObjectRoot> roots_;
  Edges edges_;
  std::uint32_t nodes_ = 0;
  bool all_ids_are_numbers_ = true;
};

}  // namespace snapdiff::formats::tracker_lines
