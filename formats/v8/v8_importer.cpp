#include "formats/input/all_formats.hpp"
#include "formats/text/scan.hpp"
#include "formats/v8/allocation_traces.hpp"
#include "formats/v8/snapshot_layout.hpp"
#include "formats/v8/type_table.hpp"

namespace snapdiff::formats {
namespace {

using namespace v8;

/// Rows of the string table that nodes and edges name. The table comes last, and most of it is the contents
/// of strings that nobody asks for: only what is in this set is kept. Pages come as rows do, so that a
/// damaged index costs 4 KiB and no more.
class UsedStrings {
 public:
  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 30;

  /// `row` < kMostRows; `offset` is where the input names it.
  void add(std::uint64_t row, std::uint64_t offset) {
    const std::size_t page = static_cast<std::size_t>(row / kPageRows);
    if (page >= pages_.size() || pages_[page] == nullptr) add_page(page);
    (*pages_[page])[row % kPageRows / 64] |= std::uint64_t{1} << (row % 64);
    if (row >= end_) {
      end_ = row + 1;
      last_offset_ = offset;
    }
  }
  bool has(std::uint64_t row) const {
    const std::size_t page = static_cast<std::size_t>(row / kPageRows);
    return page < pages_.size() && pages_[page] != nullptr &&
           ((*pages_[page])[row % kPageRows / 64] >> (row % 64) & 1U) != 0;
  }
  /// One more than the largest row, and where that was first named.
  std::uint64_t end() const { return end_; }
  std::uint64_t last_offset() const { return last_offset_; }

 private:
  static constexpr std::uint64_t kPageRows = 32768;
  using Page = std::array<std::uint64_t, kPageRows / 64>;

  void add_page(std::size_t page) {
    if (page >= pages_.size()) pages_.resize(page + 1);
    pages_[page] = std::make_unique<Page>();
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::uint64_t end_ = 0;
  std::uint64_t last_offset_ = 0;
};

// Names of classes and properties are short; a property may be called by a whole document.
constexpr std::size_t kLongestNodeName = 1024;
constexpr std::uint64_t kDetached = 2;
constexpr std::uint32_t kNotKept = 0xffffffffU;

/// Appends `rows` rows and returns the first of them. Room for more comes with them, never beyond what is declared: at
/// once for most snapshots, then by doubling. A lie costs addresses alone, and a true count no slack.
template <class T>
T* add_rows(std::vector<T>& column, std::size_t rows, std::uint64_t declared) {
  const std::size_t before = column.size();
  if (before + rows > column.capacity()) {
    constexpr std::size_t kAtOnce = std::size_t{64} << 20;  // bytes that are not touched before rows come
    const std::size_t doubled = std::max({kAtOnce / sizeof(T), before * 2, before + rows});
    column.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(doubled, declared)));
  }
  column.resize(before + rows);
  return column.data() + before;
}

std::uint32_t index_label(std::uint64_t index) {
  return kEdgeIsIndex | static_cast<std::uint32_t>(std::min<std::uint64_t>(index, kEdgeLabel));
}

/// Whether two ids are equal. V8 counts ids up, so a bitmap is enough; strange ones are sorted.
bool repeats(const std::vector<std::uint64_t>& ids) {
  if (ids.empty()) return false;
  const std::uint64_t most = *std::max_element(ids.begin(), ids.end());
  if (most / 64 <= ids.size() / 2 + 1024) {
    std::vector<std::uint64_t> seen(static_cast<std::size_t>(most / 64 + 1));
    for (const std::uint64_t id : ids) {
      std::uint64_t& word = seen[static_cast<std::size_t>(id / 64)];
      const std::uint64_t bit = std::uint64_t{1} << (id % 64);
      if ((word & bit) != 0) return true;
      word |= bit;
    }
    return false;
  }
  std::vector<std::uint64_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

/// Reads a whole V8 heap snapshot. Throws Failure.
/// Errors: malformed, limit.
class HeapReader {
 public:
  explicit HeapReader(Input& in) : json_(in), graph_(std::make_shared<ObjectGraph>()) {}

  Snapshot read() {
    json_.skip_byte_order_mark();
    json_.each_member([this](std::string_view key) { member(key); });
    if (!strings_read_)
      fail_malformed(std::string("array missing: the object ends without ") + (!layout_       ? "snapshot"
                                                                               : !nodes_read_ ? "nodes"
                                                                               : !edges_read_ ? "edges"
                                                                                              : "strings"),
                     json_.offset());
    if (json_.has_rest())
      builder_.notes().add(Severity::warning, "bytes after the end of the snapshot, ignored", json_.offset());
    return finish();
  }

 private:
  /// Rows can only be distinguished once the members before them are known; V8 writes them in this order.
  void member(std::string_view key) {
    const auto once_behind = [&](bool already, bool before, std::string_view wanted) {
      if (already) fail_malformed(std::string(key) + " is there twice", json_.offset());
      if (!before)
        fail_malformed(
            "members out of order: found " + std::string(key) + ", expected " + std::string(wanted) + " before it",
            json_.offset());
    };
    if (key == "snapshot") {
      once_behind(layout_.has_value(), true, {});
      layout_ = read_layout(json_);
      types_.emplace(layout_->node_types);
    } else if (key == "nodes") {
      once_behind(nodes_read_, layout_.has_value(), "snapshot");
      read_nodes();
      nodes_read_ = true;
    } else if (key == "edges") {
      once_behind(edges_read_, nodes_read_, "nodes");
      read_edges();
      edges_read_ = true;
    } else if (key == "strings") {
      once_behind(strings_read_, edges_read_, "edges");
      read_strings();
      strings_read_ = true;
    } else if (key == "trace_function_infos" && has_traces()) {
      traces_.read_functions(json_,
                             [this](std::uint64_t row, std::uint64_t offset) { return string_row(row, offset); });
    } else if (key == "trace_tree" && has_traces()) {
      traces_.read_tree(json_);
    } else {
      json_.token();
      json_.skip_value();
    }
  }

  /// Whether nodes say where they were allocated, and strings are still to come.
  bool has_traces() const { return !traces_.empty() && !strings_read_; }

  /// Consumes an array of rows; take(rows) is called for those that are in run_, which begins at run_offset_. `count`
  /// is the member that declares how many they are.
  template <class Take>
  void each_rows(std::string_view array, std::size_t width, std::string_view count, std::uint64_t declared, Take take) {
    std::uint64_t done = 0;
    for (bool more = begin_rows(); more;) {
      run_offset_ = json_.offset();
      if (done == declared) check_count(array, declared + 1, count, declared);
      std::size_t rows = json_.rows(run_, width, declared - done);
      if (rows == 0) {
        more = read_row(width, array);
        rows = 1;
      }
      take(rows);
      done += rows;
    }
    check_count(array, done, count, declared);
  }
  /// One row of `width` numbers; whether another follows.
  bool read_row(std::size_t width, std::string_view array) {
    run_.begin[0] = 0;
    for (std::size_t field = 0; field + 1 < width; ++field) {
      run_.value[field] = json_.number();
      if (!json_.next_item()) cut_row(array, width);
    }
    run_.value[width - 1] = json_.number();
    return json_.next_item();
  }
  [[noreturn]] void cut_row(std::string_view array, std::size_t width) {
    fail_malformed(
        std::string(array) + " ends within a row: expected a multiple of " + std::to_string(width) + " numbers",
        json_.offset());
  }
  /// Whether the array that begins here has rows.
  bool begin_rows() {
    json_.expect('[', "[");
    if (json_.token() != ']') return true;
    json_.expect(']', "]");
    return false;
  }
  void check_count(std::string_view array, std::uint64_t found, std::string_view name, std::uint64_t declared) {
    if (found == declared) return;
    fail_malformed("counts disagree: " + std::string(array) + " has " + (found > declared ? "more than " : "") +
                       std::to_string(std::min(found, declared)) + " rows, expected snapshot." + std::string(name) +
                       " = " + std::to_string(declared),
                   json_.offset());
  }

  void read_nodes() {
    std::uint64_t edges = 0;
    each_rows("nodes", layout_->node_width, "node_count", layout_->nodes,
              [&](std::size_t rows) { add_nodes(rows, edges); });
    ObjectGraph& graph = *graph_;
    if (edges != layout_->edges)
      fail_malformed("counts disagree: edge counts of the nodes add up to " + std::to_string(edges) +
                         ", expected snapshot.edge_count = " + std::to_string(layout_->edges),
                     json_.offset());
    if (repeats(graph.id)) {
      builder_.notes().add(Severity::data_loss, "ids of nodes repeat: ids are not used");
      std::vector<std::uint64_t>().swap(graph.id);
    }
    graph.ids_persist = !graph.id.empty();
  }

  /// `edges`: of all nodes so far.
  void add_nodes(std::size_t rows, std::uint64_t& edges) {
    const Layout& layout = *layout_;
    ObjectGraph& graph = *graph_;
    const bool has_id = layout.id != Layout::kAbsent;
    const bool has_detachedness = layout.detachedness != Layout::kAbsent;
    std::uint32_t* const to_type = add_rows(graph.type, rows, layout.nodes);
    std::int64_t* const to_bytes = add_rows(graph.self_bytes, rows, layout.nodes);
    std::uint64_t* const to_edges = add_rows(graph.edge_begin, rows, layout.nodes + 1);
    std::uint64_t* const to_id = has_id ? add_rows(graph.id, rows, layout.nodes) : nullptr;
    std::uint8_t* const to_flags = add_rows(graph.flags, rows, layout.nodes);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint64_t* const values = &run_.value[row * layout.node_width];
      const std::uint64_t offset = run_offset_ + run_.begin[row * layout.node_width];
      const std::uint64_t type = values[layout.type];
      if (type >= layout.listed_node_types && type < layout.node_types.size())
        builder_.notes().add(Severity::info, "types of nodes beyond the list of their names: V8's own names are shown",
                             offset);
      if (type >= layout.node_types.size())
        fail_malformed(
            instead("type of a node out of range", type, "below " + std::to_string(layout.node_types.size())), offset);
      std::uint64_t name = 0;
      if (types_->is_named(type)) name = string_row(values[layout.name], offset);
      const auto bytes = static_cast<std::int64_t>(values[layout.self_size]);
      bool fits = true;
      to_type[row] = types_->add(static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(name), bytes, fits);
      if (!fits)
        fail(ErrorCode::limit, "sizes of one kind of node add up beyond 2^63-1, expected them to fit in 64 bits",
             offset);
      edges += values[layout.edge_count];
      if (edges > layout.edges)
        fail_malformed("counts disagree: edge counts of the nodes add up to more than snapshot.edge_count = " +
                           std::to_string(layout.edges),
                       offset);
      to_bytes[row] = bytes;
      to_edges[row] = edges;
      if (layout.trace != Layout::kAbsent) traces_.add(to_type[row], values[layout.trace], bytes);
      if (has_id) to_id[row] = values[layout.id];
      const bool detached = has_detachedness && values[layout.detachedness] == kDetached;
      detached_ += detached ? 1 : 0;
      to_flags[row] = detached ? kObjectDetached : std::uint8_t{0};
    }
  }

  std::uint64_t string_row(std::uint64_t row, std::uint64_t offset) {
    if (row >= kEdgeLabel) bad_string(row, offset);
    used_.add(row, offset);
    return row;
  }
  [[noreturn]] static void bad_string(std::uint64_t row, std::uint64_t offset) {
    fail(ErrorCode::limit, instead("string out of range", row, "below 2^30 - 1"), offset);
  }

  struct EdgeKind {
    bool is_index = false;
    bool is_weak = false;
    bool is_shortcut = false;
  };
  void read_edges() {
    const std::vector<EdgeKind> kinds = edge_kinds();
    each_rows("edges", layout_->edge_width, "edge_count", layout_->edges,
              [&](std::size_t rows) { add_edges(rows, kinds); });
  }

  void add_edges(std::size_t rows, const std::vector<EdgeKind>& kinds) {
    const Layout& layout = *layout_;
    ObjectGraph& graph = *graph_;
    const double one_over_width = 1.0 / static_cast<double>(layout.node_width);
    const std::uint64_t root_edges = graph.size() == 0 ? 0 : graph.edge_begin[1];
    const std::size_t before = graph.to.size();
    std::uint32_t* const to_node = add_rows(graph.to, rows, layout.edges);
    std::uint32_t* const to_label = add_rows(graph.label, rows, layout.edges);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint64_t* const values = &run_.value[row * layout.edge_width];
      const std::uint64_t offset = run_offset_ + run_.begin[row * layout.edge_width];
      const std::uint64_t type = values[layout.edge_type];
      if (type >= kinds.size())
        fail_malformed(instead("type of an edge out of range", type, "below " + std::to_string(kinds.size())), offset);
      // A multiple is found exactly by rounding; anything else fails the test that it is one.
      const std::uint64_t place = values[layout.to_node];
      // Signed ones are converted in one step. NOLINTNEXTLINE(bugprone-incorrect-roundings): never negative, below 2^52
      const auto near =
          static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(place)) * one_over_width + 0.5);
      const auto node = static_cast<std::uint64_t>(near);
      if (node >= graph.size() || node * layout.node_width != place) bad_end(place, offset);
      const EdgeKind kind = kinds[static_cast<std::size_t>(type)];
      const std::uint64_t name = values[layout.name_or_index];
      std::uint32_t label = kind.is_index ? index_label(name) : static_cast<std::uint32_t>(string_row(name, offset));
      // Shortcuts repeat other edges, but for those of the root: they are the global objects.
      if (kind.is_weak || (kind.is_shortcut && before + row >= root_edges)) label |= kEdgeIsWeak;
      to_node[row] = static_cast<std::uint32_t>(node);
      to_label[row] = label;
    }
  }

  std::vector<EdgeKind> edge_kinds() const {
    std::vector<EdgeKind> out;
    for (const std::string& name : layout_->edge_types) {
      out.push_back({.is_index = name == "element" || name == "hidden",
                     .is_weak = name == "weak",
                     .is_shortcut = name == "shortcut"});
    }
    return out;
  }
  [[noreturn]] void bad_end(std::uint64_t place, std::uint64_t offset) {
    const std::uint64_t width = layout_->node_width;
    if (place % width != 0)
      fail_malformed(instead("to_node is no row", place, "a multiple of " + std::to_string(width)), offset);
    fail_malformed(instead("to_node out of range", place, "below " + std::to_string(graph_->size() * width)), offset);
  }

  void read_strings() {
    std::string text;
    json_.each_item([&](std::size_t row) {
      if (!used_.has(row)) {
        json_.skip_text();
        string_ids_.push_back(kNotKept);
        return;
      }
      const std::uint64_t offset = json_.offset();
      if (json_.text(text, kLongestNodeName))
        builder_.notes().add(Severity::warning, "names longer than 1024 bytes are cut", offset);
      string_ids_.push_back(static_cast<std::uint32_t>(builder_.string(text)));
    });
    if (used_.end() > string_ids_.size())
      fail_malformed(instead("string out of range", used_.end() - 1,
                             "below " + std::to_string(string_ids_.size()) + ", the length of strings"),
                     used_.last_offset());
  }

  StringId string_id(std::uint32_t row) const { return StringId{string_ids_[row]}; }

  void add_roots() {
    ObjectGraph& graph = *graph_;
    if (graph.size() == 0) return;
    const StringId itself = builder_.string("synthetic root");
    graph.roots.push_back({0, itself});
    for (std::uint64_t edge = 0; edge < graph.edge_begin[1]; ++edge) {
      const std::uint32_t label = graph.label[edge];
      if ((label & kEdgeIsWeak) != 0) continue;
      const StringId name = (label & kEdgeIsIndex) != 0 ? StringId{} : StringId{label & kEdgeLabel};
      graph.roots.push_back({graph.to[edge], name == StringId{} ? itself : name});
    }
    finish_roots(graph);
  }

  /// Nodes of a timeline: the kind, called by the functions that allocated them.
  void add_traced_rows() {
    const auto string_of = [this](std::uint32_t row) { return string_id(row); };
    std::vector<FrameId> frames;
    for (const AllocationTraces::Sum& sum : traces_.sums()) {
      types_->leave_out(sum.kind, sum.count, sum.bytes);
      const std::string type = types_->called(sum.kind, builder_, string_of);
      frames.assign(1, builder_.frame({.function = builder_.function(type)}));
      traces_.add_frames(sum.trace, frames, builder_, string_of);
      builder_.add_row(builder_.stack(frames), builder_.labels({text_label(builder_, "type", type)}),
                       std::array{sum.count, sum.bytes});
    }
  }

  Snapshot finish() {
    builder_.add_heap_columns();
    SnapshotFacts& facts = exact_facts(builder_, "v8");

    ObjectGraph& graph = *graph_;
    add_traced_rows();
    const std::vector<std::uint32_t> type_row =
        types_->finish(builder_, graph.types, [this](std::uint32_t row) { return string_id(row); });
    for (std::uint32_t& type : graph.type) type = type_row[type];
    for (std::uint32_t& label : graph.label) {
      if ((label & kEdgeIsIndex) == 0) label = (label & kEdgeIsWeak) | string_ids_[label & kEdgeLabel];
    }
    std::vector<std::uint32_t>().swap(string_ids_);
    add_roots();
    give_graph(builder_, std::move(graph_));
    facts.counters.push_back({"detached_objects", detached_, "count"});
    return value_or_throw(builder_.finish());
  }

  json::JsonScanner json_;
  SnapshotBuilder builder_;
  std::shared_ptr<ObjectGraph> graph_;
  std::optional<Layout> layout_;
  std::optional<TypeTable> types_;
  UsedStrings used_;
  AllocationTraces traces_;
  std::vector<std::uint32_t> string_ids_;  // by row of the string table
  json::NumberRun run_;
  std::uint64_t run_offset_ = 0;  // of its first number
  std::int64_t detached_ = 0;
  bool nodes_read_ = false;
  bool edges_read_ = false;
  bool strings_read_ = false;
};

Match sniff_v8(std::string_view head) {
  return text::begins_with(head, {"{", "\"snapshot\"", ":", "{", "\"meta\"", ":"}) ? Match::certain : Match::no;
}

}  // namespace

constexpr Format kV8{
    .info = {"v8-heapsnapshot", "heap snapshot of V8 (Node, Chrome, Deno): objects and who holds them",
             "*.heapsnapshot, *.heaptimeline", "contents of strings and numbers; samples and source locations"},
    .sniff = sniff_v8,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, HeapReader(in).read()); }};

}  // namespace snapdiff::formats
