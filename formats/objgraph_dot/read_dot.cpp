#include "formats/objgraph_dot/read_dot.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "formats/objgraph_dot/dot_statement.hpp"
#include "snapdiff/object_graph.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::objgraph_dot {
namespace {

constexpr std::ptrdiff_t kLongestLine = std::ptrdiff_t{16} << 20;
constexpr std::size_t kShown = 60;
constexpr std::uint32_t kNoType = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view kUnlabelled = "?";

/// "builtins.dict [1]\n30 items" is a builtins.dict.
std::string_view type_of(std::string_view label) {
  std::string_view line = label.substr(0, label.find('\n'));
  const std::size_t open = line.rfind(" [");
  if (open == std::string_view::npos || line.back() != ']') return line;
  std::string_view number = line.substr(open + 2, line.size() - open - 3);
  if (!number.empty() && number.front() == '-') number.remove_prefix(1);
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? line.substr(0, open) : line;
}

class DotReader {
 public:
  explicit DotReader(Input& in) : bytes_(in), graph_(std::make_shared<ObjectGraph>()) {}

  Snapshot read() {
    first_line();
    Statement statement;
    bool ended = false;
    std::string_view line;
    while (!ended && next_line(line)) {
      read_statement(line, statement);
      if (statement.what == Statement::What::broken && cut_) break;
      if (statement.what == Statement::What::broken) {
        fail_malformed("line not recognised: found " + shown(line) + ", expected a statement of objgraph",
                       line_offset_);
      }
      ended = statement.what == Statement::What::end;
      take(statement);
    }
    if (!ended) {
      builder_.facts().partial = true;
      builder_.notes().add(Severity::data_loss, "the graph is cut: no } at its end", bytes_.offset_of(p_));
    }
    while (next_line(line)) {
      read_statement(line, statement);
      if (statement.what != Statement::What::nothing)
        fail_malformed("text after the graph: found " + shown(line) + ", expected the end", line_offset_);
    }
    if (graph_->type.empty()) fail_malformed("no objects in the graph: expected at least one", bytes_.offset_of(p_));
    return finish();
  }

 private:
  static std::string shown(std::string_view line) {
    std::string out;
    for (const char c : line.substr(0, kShown)) out += c >= 0x20 && c < 0x7f ? c : '?';
    return "\"" + out + (line.size() > kShown ? "...\"" : "\"");
  }

  /// The next line without its end; cut_ when the input ends before that.
  bool next_line(std::string_view& line) {
    if (bytes_.at_end(p_)) return false;
    line_offset_ = bytes_.offset_of(p_);
    for (std::size_t seen = 0;;) {
      const auto here = static_cast<std::size_t>(bytes_.end() - p_);
      if (const void* found = std::memchr(p_ + seen, '\n', here - seen); found != nullptr) {
        const auto* const end = static_cast<const char*>(found);
        if (end - p_ > kLongestLine) line_too_long();
        line = std::string_view(p_, static_cast<std::size_t>(end - p_));
        p_ = end + 1;
        return true;
      }
      if (bytes_.end() - p_ > kLongestLine) line_too_long();
      seen = here;
      if (!bytes_.ensure(p_, here + 1)) {
        line = std::string_view(p_, here);
        p_ += here;
        cut_ = true;
        return true;
      }
    }
  }

  [[noreturn]] void line_too_long() const {
    fail(ErrorCode::limit, "line too long: expected at most 16 MiB", line_offset_);
  }

  void first_line() {
    std::string_view line;
    bool found = next_line(line);
    if (found && line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);
    while (found && line.find_first_not_of(" \t\r") == std::string_view::npos) found = next_line(line);
    if (!found || line.substr(0, kFirstLine.size()) != kFirstLine) {
      fail_malformed("header not recognised: found " + shown(found ? line : std::string_view()) + ", expected " +
                         std::string(kFirstLine),
                     found ? line_offset_ : bytes_.offset_of(p_));
    }
  }

  std::uint32_t node(std::uint64_t id) {
    ObjectGraph& graph = *graph_;
    const std::uint64_t hash = mix64(id);
    std::uint32_t row = index_.find(hash, [&](std::uint32_t r) { return graph.id[r] == id; });
    if (row == HashIndex::kAbsent) {
      row = static_cast<std::uint32_t>(graph.id.size());
      graph.id.push_back(id);
      graph.type.push_back(kNoType);
      index_.insert(hash, row);
    }
    return row;
  }

  std::uint32_t type(std::string_view name) {
    ObjectTypeTable& types = graph_->types;
    const StringId text = builder_.string(name);
    const std::uint64_t hash = mix64(static_cast<std::uint64_t>(text));
    std::uint32_t row = types_.find(hash, [&](std::uint32_t r) { return types.name[r] == text; });
    if (row == HashIndex::kAbsent) {
      row = static_cast<std::uint32_t>(types.size());
      types.kind.push_back(StringId{});
      types.name.push_back(text);
      types_.insert(hash, row);
    }
    return row;
  }

  void take(Statement& statement) {
    switch (statement.what) {
      case Statement::What::mention: node(statement.from); break;
      case Statement::What::node: graph_->type[node(statement.from)] = type(type_of(statement.label)); break;
      case Statement::What::edge: {
        // Keys of dicts that are no names are labelled TYPE\nREPR.
        std::replace(statement.label.begin(), statement.label.end(), '\n', ' ');
        const std::uint32_t from = node(statement.from);
        edges_.push_back({from, node(statement.to), static_cast<std::uint32_t>(builder_.string(statement.label))});
        break;
      }
      case Statement::What::more_here:
        builder_.notes().add(Severity::warning, "objects with more references than objgraph drew", line_offset_);
        break;
      case Statement::What::broken:
      case Statement::What::nothing:
      case Statement::What::end: break;
    }
  }

  void connect() {
    ObjectGraph& graph = *graph_;
    graph.edge_begin.assign(graph.id.size() + 1, 0);
    for (const Edge& edge : edges_) ++graph.edge_begin[edge.from + 1];
    for (std::size_t row = 0; row < graph.id.size(); ++row) graph.edge_begin[row + 1] += graph.edge_begin[row];
    std::vector<std::uint64_t> next(graph.edge_begin.begin(), graph.edge_begin.end() - 1);
    graph.to.resize(edges_.size());
    graph.label.resize(edges_.size());
    for (const Edge& edge : edges_) {
      const auto at = static_cast<std::size_t>(next[edge.from]++);
      graph.to[at] = edge.to;
      graph.label[at] = edge.label;
    }
  }

  void add_roots() {
    ObjectGraph& graph = *graph_;
    const StringId module = builder_.string("module");
    const StringId unreferred = builder_.string("no visible referrer");
    std::vector<std::uint8_t> is_held(graph.id.size(), 0);
    for (const Edge& edge : edges_) is_held[edge.to] |= edge.to != edge.from ? 1U : 0U;
    graph.flags.assign(graph.id.size(), 0);
    for (std::uint32_t row = 0; row < graph.id.size(); ++row) {
      const std::string_view name = builder_.dictionary().strings[graph.types.name[graph.type[row]]];
      const bool is_module = name == "module" || name == "builtins.module";
      if (!is_module && is_held[row] != 0) continue;
      graph.roots.push_back({row, is_module ? module : unreferred});
      graph.flags[row] |= kObjectRoot;
    }
  }

  Snapshot finish() {
    ObjectGraph& graph = *graph_;
    for (std::uint32_t& row : graph.type) {
      if (row != kNoType) continue;
      row = type(kUnlabelled);
      builder_.notes().add(Severity::warning, "objects without a label");
    }
    builder_.add_column({"inuse_objects", "count"});
    std::vector<std::int64_t> counts(graph.types.size(), 0);
    for (const std::uint32_t row : graph.type) ++counts[row];
    std::string name;
    for (std::size_t row = 0; row < counts.size(); ++row) {
      name = builder_.dictionary().strings[graph.types.name[row]];
      add_type_row(builder_, name, std::span(&counts[row], 1));
    }
    connect();
    add_roots();
    SnapshotFacts& facts = builder_.facts();
    facts.producer = "python";
    facts.sampling = Sampling::exact;
    facts.complete = false;
    facts.counters.push_back({"references", static_cast<std::int64_t>(graph.to.size()), "count"});
    value_or_throw(validate(graph, builder_.dictionary()));
    builder_.set_graph(std::move(graph_));
    return value_or_throw(builder_.finish());
  }

  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t label = 0;
  };

  ByteWindow bytes_;
  const char* p_ = nullptr;
  std::uint64_t line_offset_ = 0;
  bool cut_ = false;
  SnapshotBuilder builder_;
  std::shared_ptr<ObjectGraph> graph_;
  HashIndex index_;
  HashIndex types_;
  std::vector<Edge> edges_;
};

}  // namespace

Snapshot read_dot(Input& in) { return DotReader(in).read(); }

}  // namespace snapdiff::formats::objgraph_dot
