#include "formats/objgraph_dot/read_dot.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/input/graph_parts.hpp"
#include "formats/input/type_row.hpp"
#include "formats/objgraph_dot/dot_statement.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/line_reader.hpp"
#include "formats/text/scan.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::objgraph_dot {
namespace {

constexpr std::size_t kLongestLine = std::size_t{16} << 20;
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
  explicit DotReader(Input& in) : lines_(in, kLongestLine), graph_(std::make_shared<ObjectGraph>()) {}

  Snapshot read() {
    first_line();
    Statement statement;
    bool ended = false;
    std::string_view line;
    while (!ended && lines_.next(line)) {
      read_statement(line, statement);
      if (statement.what == Statement::What::broken && !lines_.terminated()) break;
      if (statement.what == Statement::What::broken)
        text::fail_found("line not recognised", line, "a statement of objgraph", lines_.line_offset());
      ended = statement.what == Statement::What::end;
      take(statement);
    }
    if (!ended) {
      builder_.facts().lose("the graph is cut: no } at its end", lines_.offset());
    }
    while (lines_.next(line)) {
      read_statement(line, statement);
      if (statement.what != Statement::What::nothing)
        text::fail_found("text after the graph", line, "the end", lines_.line_offset());
    }
    if (graph_->type.empty()) fail_malformed("no objects in the graph: expected at least one", lines_.offset());
    return finish();
  }

 private:
  void first_line() {
    std::string_view line;
    bool found = lines_.next(line);
    if (found && text::has_prefix(line, text::kByteOrderMark)) line.remove_prefix(text::kByteOrderMark.size());
    while (found && line.find_first_not_of(" \t\r") == std::string_view::npos) found = lines_.next(line);
    if (!found || !text::has_prefix(line, kFirstLine))
      text::fail_found("header not recognised", found ? line : std::string_view(), kFirstLine, lines_.line_offset());
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

  std::uint32_t type(std::string_view name) { return types_.row(graph_->types, StringId{}, builder_.string(name)); }

  void take(Statement& statement) {
    switch (statement.what) {
      case Statement::What::mention: node(statement.from); break;
      case Statement::What::node: graph_->type[node(statement.from)] = type(type_of(statement.label)); break;
      case Statement::What::edge: {
        // Keys of dicts that are no names are labelled TYPE\nREPR.
        std::replace(statement.label.begin(), statement.label.end(), '\n', ' ');
        from_.push_back(node(statement.from));
        to_.push_back(node(statement.to));
        label_.push_back(static_cast<std::uint32_t>(builder_.string(statement.label)));
        break;
      }
      case Statement::What::more_here:
        builder_.notes().add(Severity::warning, "objects with more references than objgraph drew",
                             lines_.line_offset());
        break;
      case Statement::What::broken:
      case Statement::What::nothing:
      case Statement::What::end: break;
    }
  }

  void add_roots() {
    ObjectGraph& graph = *graph_;
    const StringId module = builder_.string("module");
    const StringId unreferred = builder_.string("no visible referrer");
    std::vector<std::uint8_t> is_held(graph.id.size(), 0);
    for (std::size_t edge = 0; edge < to_.size(); ++edge) {
      if (to_[edge] != from_[edge]) is_held[to_[edge]] = 1;
    }
    graph.flags.assign(graph.id.size(), 0);
    for (std::uint32_t row = 0; row < graph.id.size(); ++row) {
      const std::string_view name = builder_.dictionary().strings[graph.types.name[graph.type[row]]];
      const bool is_module = name == "module" || name == "builtins.module";
      if (!is_module && is_held[row] != 0) continue;
      graph.roots.push_back({row, is_module ? module : unreferred});
    }
    finish_roots(graph);
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
    add_roots();
    place_edges(graph, std::move(from_), std::move(to_), std::move(label_));
    SnapshotFacts& facts = builder_.facts();
    facts.producer = "python";
    facts.sampling = Sampling::exact;
    facts.complete = false;
    give_graph(builder_, std::move(graph_));
    return value_or_throw(builder_.finish());
  }

  text::LineReader lines_;
  SnapshotBuilder builder_;
  std::shared_ptr<ObjectGraph> graph_;
  HashIndex index_;
  TypeRows types_;
  std::vector<std::uint32_t> from_, to_, label_;
};

}  // namespace

Snapshot read_dot(Input& in) { return DotReader(in).read(); }

}  // namespace snapdiff::formats::objgraph_dot
