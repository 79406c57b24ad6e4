#include "analyzer/base/retention.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/graph_parts.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/input/type_row.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::size_t kLongestName = 1024;
constexpr std::uint64_t kInternal = 1;  // flag of a node: of the engine, not of the program

/// Reads a whole snapshot. Throws Failure.
class JscReader {
 public:
  explicit JscReader(Input& in) : json_(in), graph_(std::make_shared<ObjectGraph>()) {}

  Snapshot read() {
    json_.skip_byte_order_mark();
    json_.each_member([this](std::string_view key) { member(key); });
    if (json_.has_rest())
      builder_.notes().add(Severity::warning, "bytes after the end of the snapshot, ignored", json_.offset());
    for (const auto& [found, name] : {std::pair(type_.empty(), "type"), std::pair(graph_->size() == 0, "nodes"),
                                      std::pair(class_names_.empty(), "nodeClassNames")}) {
      if (found) fail_malformed(std::string("array missing: the object ends without ") + name, json_.offset());
    }
    return finish();
  }

 private:
  /// Members come in the writer's order: the type before the nodes, whose rows it gives the width.
  void member(std::string_view key) {
    if (key == "version") {
      version_ = json_.number();
      if (version_ < 1 || version_ > 3)
        fail(ErrorCode::unsupported,
             "snapshot of JavaScriptCore, version " + std::to_string(version_) + ": expected 1 to 3", json_.offset());
    } else if (key == "type") {
      json_.text(type_, kLongestName);
      if (type_ != "Inspector" && type_ != "GCDebugging")
        fail_malformed("type: expected Inspector or GCDebugging", json_.offset());
    } else if (key == "nodes") {
      if (type_.empty() || graph_->size() != 0) fail_malformed("nodes: expected once, behind type", json_.offset());
      read_nodes();
    } else if (key == "edges") {
      if (graph_->size() == 0 || !edges_.from.empty())
        fail_malformed("edges: expected once, behind nodes", json_.offset());
      read_edges();
    } else if (key == "nodeClassNames") {
      names(class_names_);
    } else if (key == "edgeTypes") {
      names(edge_types_);
    } else if (key == "edgeNames") {
      names(edge_names_);
    } else if (key == "roots") {
      read_roots();
    } else if (key == "labels") {
      names(labels_);
    } else {
      json_.token();
      json_.skip_value();
    }
  }

  void names(std::vector<StringId>& out) {
    out.clear();
    std::string text;
    json_.each_item([&](std::size_t) {
      if (json_.text(text, kLongestName))
        builder_.notes().add(Severity::warning, "names longer than 1024 bytes are cut", json_.offset());
      out.push_back(builder_.string(text));
    });
  }

  /// Rows of `width` values of which the first `numbers` are wanted; `row(values)` for each.
  template <std::size_t kNumbers, class Row>
  void each_row(std::string_view array, std::size_t width, const Row& row) {
    std::array<std::uint64_t, kNumbers> values{};
    std::size_t field = 0;
    json_.each_item([&](std::size_t) {
      if (field < kNumbers) {
        values[field] = json_.number();
      } else {
        json_.skip_value();
      }
      if (++field < width) return;
      field = 0;
      row(values);
    });
    if (field != 0)
      fail_malformed(
          std::string(array) + " ends within a row: expected a multiple of " + std::to_string(width) + " values",
          json_.offset());
  }

  /// ID, bytes, class, flags; for debugging also a label and two addresses.
  void read_nodes() {
    ObjectGraph& graph = *graph_;
    each_row<4>("nodes", type_ == "Inspector" ? 4 : 7, [&](const std::array<std::uint64_t, 4>& node) {
      // Ids count from 0, the root; those of NumberRows best from 1.
      if (ids_.intern(node[0] + 1) != graph.size())
        fail_malformed("id of a node comes again: " + std::to_string(node[0]), json_.offset());
      if (graph.size() + 2 >= kNoEdge) fail(ErrorCode::limit, "too many nodes: expected fewer than 2^32 - 2");
      graph.type.push_back(0);
      graph.self_bytes.push_back(static_cast<std::int64_t>(node[1]));
      class_of_.push_back(node[2]);
      internal_.push_back(static_cast<std::uint8_t>(node[3] & kInternal));
    });
  }

  void read_edges() {
    each_row<4>("edges", 4, [&](const std::array<std::uint64_t, 4>& edge) {
      const std::uint32_t from = ids_.find(edge[0] + 1), to = ids_.find(edge[1] + 1);
      if (from == NumberRows::kAbsent || to == NumberRows::kAbsent)
        return builder_.notes().add(Severity::info, "references of nodes that the snapshot does not have, left out");
      edges_.add(from, to, static_cast<std::uint32_t>(std::min<std::uint64_t>(edge[3], kEdgeLabel)));
      edge_type_.push_back(static_cast<std::uint8_t>(std::min<std::uint64_t>(edge[2], 255)));
    });
  }

  /// Node, why it is a root, why that is reachable; both are labels. Only for debugging.
  void read_roots() {
    each_row<3>("roots", 3, [&](const std::array<std::uint64_t, 3>& root) {
      if (const std::uint32_t node = ids_.find(root[0] + 1); node != NumberRows::kAbsent)
        given_roots_.emplace_back(node, root[1]);
    });
  }

  StringId name_of(const std::vector<StringId>& names, std::uint64_t row, std::string_view what) {
    if (row >= names.size())
      fail_malformed(std::string(what) + " out of range: found " + std::to_string(row) + ", expected below " +
                         std::to_string(names.size()),
                     json_.offset());
    return names[static_cast<std::size_t>(row)];
  }

  void add_rows() {
    ObjectGraph& graph = *graph_;
    const StringId object = builder_.string("object"), engine = builder_.string("internal");
    std::vector<TypeKey> keys;
    for (std::size_t node = 0; node < graph.size(); ++node) {
      const StringId name = name_of(class_names_, class_of_[node], "class of a node");
      const bool is_internal = internal_[node] != 0;
      const std::uint32_t type = types_.row(graph.types, is_internal ? engine : object, name);
      graph.type[node] = type;
      if (type == keys.size())
        keys.push_back(
            type_key(builder_, type_text(is_internal ? "internal" : "object", builder_.dictionary().strings[name])));
      builder_.add_row(keys[type].stack, keys[type].labels, std::array<std::int64_t, 2>{1, graph.self_bytes[node]});
    }
  }

  void label_edges() {
    for (std::size_t edge = 0; edge < edge_type_.size(); ++edge) {
      std::uint32_t& label = edges_.label[edge];
      const std::string_view type =
          builder_.dictionary().strings[name_of(edge_types_, edge_type_[edge], "type of an edge")];
      if (type == "Index") {
        label |= kEdgeIsIndex;
      } else if (type == "Internal") {
        label = 0;
      } else {
        label = static_cast<std::uint32_t>(name_of(edge_names_, label, "name of an edge"));
      }
    }
  }

  /// Node 0 is the root; its edges lead to what is held from outside.
  void add_roots() {
    ObjectGraph& graph = *graph_;
    const StringId itself = builder_.string("root");
    graph.roots.push_back({0, itself});
    for (std::size_t edge = 0; edge < edges_.from.size(); ++edge) {
      if (edges_.from[edge] == 0) graph.roots.push_back({edges_.to[edge], itself});
    }
    for (const auto& [node, label] : given_roots_) {
      const StringId name = name_of(labels_, label, "label of a root");
      graph.roots.push_back({node, name == StringId{} ? itself : name});
    }
    finish_roots(graph);
  }

  Snapshot finish() {
    builder_.add_heap_columns();
    exact_facts(builder_, "jsc", type_ + ", version " + std::to_string(version_));
    graph_->flags.assign(graph_->size(), 0);
    add_rows();
    label_edges();
    add_roots();
    place_edges(*graph_, std::move(edges_));
    give_graph(builder_, std::move(graph_));
    return value_or_throw(builder_.finish());
  }

  json::JsonScanner json_;
  SnapshotBuilder builder_;
  std::shared_ptr<ObjectGraph> graph_;
  NumberRows ids_;
  TypeRows types_;
  std::uint64_t version_ = 0;
  std::string type_;
  std::vector<StringId> class_names_, edge_types_, edge_names_, labels_;
  std::vector<std::uint64_t> class_of_;  // by node
  std::vector<std::uint8_t> internal_;   // by node
  std::vector<std::uint8_t> edge_type_;  // by edge
  Edges edges_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> given_roots_;
};

Match sniff_jsc(std::string_view head) {
  for (const std::string_view type : {"\"Inspector\"", "\"GCDebugging\""}) {
    for (const std::string_view version : {"1", "2", "3"}) {
      if (text::begins_with(head,
                            {"{", "\"version\"", ":", version, ",", "\"type\"", ":", type, ",", "\"nodes\"", ":"}))
        return Match::certain;
    }
  }
  return Match::no;
}

}  // namespace

constexpr Format kJsc{
    .info = {"jsc-heapsnapshot", "heap snapshot of JavaScriptCore (Bun, Safari): objects and who holds them", "*.json",
             "labels and addresses of objects"},
    .sniff = sniff_jsc,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, JscReader(in).read()); }};

}  // namespace snapdiff::formats
