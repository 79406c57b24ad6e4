#pragma once

#include <unordered_map>

#include "formats/input/graph_parts.hpp"
#include "formats/tracker_lines/typed_fields.hpp"

namespace snapdiff::formats::tracker_lines {

// The upper half of the key of an id that is a number; the lower one is the number.
constexpr std::uint64_t kNumberKey = 0x6e756d6265720001ULL;

constexpr std::uint32_t kMostSlots = std::numeric_limits<std::uint32_t>::max() - 2;

inline std::uint32_t edge_label(const Fields& fields, SnapshotBuilder& builder) {
  std::uint32_t label = 0;
  if (fields.has("label"_key)) {
    const JsonValue& value = fields.at("label"_key);
    if (value.kind == JsonKind::text) {
      label = static_cast<std::uint32_t>(std::min<std::size_t>(index_of(builder.string(value.text)), kEdgeLabel));
    } else if (const auto index = integer_of(value); index && *index >= 0) {
      label = kEdgeIsIndex | static_cast<std::uint32_t>(std::min<std::int64_t>(*index, kEdgeLabel));
    } else {
      fields.wrong("label"_key, "a text, or the index in an array");
    }
  }
  return fields.truth("weak"_key).value_or(false) ? label | kEdgeIsWeak : label;
}

/// The node and edge lines of the open snapshot. Edges may come before the nodes that they join.
class ObjectLines {
 public:
  explicit ObjectLines(SnapshotBuilder& builder) : builder_(builder) {}

  /// Take a node or edge line. Throw LineError: a wrong value, a node id that is there already.
  void node(const Fields& fields, std::uint64_t line) {
    const std::string_view type = fields.required_text("type"_key);
    const std::int64_t bytes = fields.integer("bytes"_key, 0).value_or(-1);
    std::string_view root;
    if (fields.has("root"_key)) {
      const JsonValue& value = fields.at("root"_key);
      if (value.kind == JsonKind::text && !value.text.empty()) {
        root = value.text;
      } else if (value.kind == JsonKind::boolean) {
        root = value.truth ? "root" : "";
      } else {
        fields.wrong("root"_key, "the kind of the root, or true");
      }
    }
    const std::uint32_t row = slot(fields, "id"_key, line);
    if (type_[row] != kUndefined)
      fail_line(Rule::graph, "node id is there already in this snapshot", "found " + shown(fields.at("id"_key)));
    type_[row] = type_row(type);
    bytes_[row] = bytes;
    if (!root.empty()) roots_.push_back({row, builder_.string(root)});
    ++nodes_;
  }

  void edge(const Fields& fields, std::uint64_t line) {
    fields.require("to"_key);
    const std::uint32_t label = edge_label(fields, builder_);
    const std::uint32_t from = slot(fields, "from"_key, line);
    edges_.add(from, slot(fields, "to"_key, line), label);
  }

  bool empty() const { return key_low_.empty(); }

  struct Made {
    std::shared_ptr<ObjectGraph> graph;
    std::uint64_t dangling = 0;       ///< edges left out: one of their ends is no node
    std::uint64_t dangling_line = 0;  ///< where the first such end is named
    std::uint64_t unsized = 0;        ///< nodes without bytes in a graph that has bytes; they count as 0
  };
  /// Uses up the lines. Throws Failure (limit) when the bytes of all nodes leave 64 bits.
  Made finish(bool ids_persist, bool sizes_estimated) {
    Made made;
    made.graph = std::make_shared<ObjectGraph>();
    ObjectGraph& graph = *made.graph;
    slots_ = HashIndex{};
    graph.types = std::move(types_);
    graph.sizes_estimated = sizes_estimated;
    graph.ids_persist = ids_persist;
    std::vector<std::uint32_t>&from = edges_.from, &to = edges_.to;

    for (std::size_t edge = 0; edge < from.size(); ++edge) {
      bool dangles = false;
      for (const std::uint32_t end : {from[edge], to[edge]}) {
        if (type_[end] != kUndefined) continue;
        dangles = true;
        if (made.dangling_line == 0) made.dangling_line = static_cast<std::uint64_t>(bytes_[end]);
      }
      if (!dangles) continue;
      ++made.dangling;
      from[edge] = kNoEdge;
    }

    // Nodes in the order of their slots; what no node line defined falls out, and the others move up.
    const std::size_t slots = key_low_.size();
    std::vector<std::uint32_t> node_of;  // by slot; empty: every slot is a node
    if (nodes_ != slots) node_of.assign(slots, kUndefined);
    bool sized = false;
    for (std::size_t row = 0; row < slots && !sized; ++row) sized = type_[row] != kUndefined && bytes_[row] >= 0;
    std::int64_t total = 0;
    std::size_t nodes = 0;
    for (std::size_t row = 0; row < slots; ++row) {
      if (type_[row] == kUndefined) continue;
      if (sized && bytes_[row] < 0) ++made.unsized;
      if (!node_of.empty()) node_of[row] = static_cast<std::uint32_t>(nodes);
      type_[nodes] = type_[row];
      bytes_[nodes] = std::max<std::int64_t>(bytes_[row], 0);
      key_low_[nodes] = id_of(row);
      if (sized) add_to(total, bytes_[nodes], "sum of the bytes of all nodes is");
      ++nodes;
    }
    const auto take = [nodes](auto& column) {
      column.resize(nodes);
      column.shrink_to_fit();
      return std::move(column);
    };
    key_high_ = {};
    graph.type = take(type_);
    if (sized) graph.self_bytes = take(bytes_);
    bytes_ = {};
    if (all_ids_are_numbers_ || ids_persist) graph.id = take(key_low_);
    key_low_ = {};

    graph.flags.assign(graph.size(), 0);
    for (ObjectRoot& root : roots_) {
      if (!node_of.empty()) root.node = node_of[root.node];
    }
    graph.roots = std::move(roots_);
    finish_roots(graph);
    for (std::size_t edge = 0; edge < from.size() && !node_of.empty(); ++edge) {
      if (from[edge] == kNoEdge) continue;
      from[edge] = node_of[from[edge]];
      to[edge] = node_of[to[edge]];
    }
    place_edges(graph, std::move(edges_));
    return made;
  }

 private:
  static constexpr std::uint32_t kUndefined = 0xffffffffU;

  /// The slot's id as a number of its own.
  std::uint64_t id_of(std::size_t row) const {
    return all_ids_are_numbers_ ? key_low_[row]
                                : mix64(key_low_[row] ^ mix64(key_high_.empty() ? kNumberKey : key_high_[row]));
  }

  std::uint32_t slot(const Fields& fields, Key key, std::uint64_t line) {
    fields.require(key);
    const JsonValue& id = fields.at(key);
    Hash128 hash;
    if (id.kind == JsonKind::text) {
      hash = hash_bytes(id.text);
      all_ids_are_numbers_ = false;
    } else if (const auto number = integer_of(id)) {
      hash = {kNumberKey, static_cast<std::uint64_t>(*number)};
      all_ids_are_numbers_ = all_ids_are_numbers_ && *number >= 0;
    } else {
      fields.wrong(key, "a text or an integer");
    }
    const auto [row, is_new] = slots_.intern(keyed_hash(hash), key_low_.size(), [&](std::uint32_t r) {
      return key_low_[r] == hash.low && (key_high_.empty() ? kNumberKey : key_high_[r]) == hash.high;
    });
    if (!is_new) return row;
    if (key_low_.size() == kMostSlots) fail(ErrorCode::limit, "more objects than 32 bits count");
    if (key_high_.empty() && hash.high != kNumberKey) key_high_.assign(key_low_.size(), kNumberKey);
    if (!key_high_.empty() || hash.high != kNumberKey) key_high_.push_back(hash.high);
    key_low_.push_back(hash.low);
    type_.push_back(kUndefined);
    bytes_.push_back(static_cast<std::int64_t>(line));
    return row;
  }

  std::uint32_t type_row(std::string_view name) {
    const StringId text = builder_.string(name);
    const auto [at, is_new] = type_of_string_.try_emplace(text, static_cast<std::uint32_t>(types_.size()));
    if (is_new) {
      types_.kind.push_back(StringId{});
      types_.name.push_back(text);
    }
    return at->second;
  }

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
