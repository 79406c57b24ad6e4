#include "formats/input/all_formats.hpp"
#include "formats/input/graph_parts.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/line_reader.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

/// One line of objgraph's output.
struct Statement {
  enum class What : std::uint8_t {
    broken,
    nothing,    ///< defaults, colours, marks that objgraph draws beside objects
    node,       ///< `from` with a label
    mention,    ///< `from` without one
    edge,       ///< from -> to, label may be empty
    more_here,  ///< objgraph left references out
    end         ///< }
  };
  What what = What::broken;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string label;  ///< escapes undone; lines end with \n
};

using What = Statement::What;

bool take(std::string_view& text, std::string_view part) {
  if (text.substr(0, part.size()) != part) return false;
  text.remove_prefix(part.size());
  return true;
}

/// oN or o_N: decimal id(), its minus an underscore.
bool take_id(std::string_view& text, std::uint64_t& id) {
  if (!take(text, "o")) return false;
  const bool negative = take(text, "_");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (negative) id = ~id + 1;
  return true;
}

/// A quoted value, its escapes undone into `out`.
bool take_quoted(std::string_view& text, std::string& out) {
  out.clear();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      const char next = text[++i];
      if (next == 'n') {
        out += '\n';
      } else {
        if (next != '"' && next != '\\') out += '\\';
        out += next;
      }
    } else {
      out += text[i];
    }
  }
  return false;
}

/// [key=value,...] of which only the label is kept; whether it had one is in `labelled`.
bool take_attributes(std::string_view& text, std::string& label, bool& labelled) {
  std::string ignored;
  if (!take(text, "[")) return false;
  for (;;) {
    while (take(text, " ")) {
    }
    const std::size_t key_end = text.find_first_of("=],\"");
    if (key_end == std::string_view::npos || key_end == 0 || text[key_end] != '=') return false;
    const bool is_label = text.substr(0, key_end) == "label";
    text.remove_prefix(key_end + 1);
    if (!text.empty() && text.front() == '"') {
      if (!take_quoted(text, is_label ? label : ignored)) return false;
      labelled |= is_label;
    } else {
      const std::size_t end = text.find_first_of(",]\"");
      if (end == std::string_view::npos || end == 0) return false;
      text.remove_prefix(end);
    }
    if (take(text, "]")) return true;
    if (!take(text, ",")) return false;
  }
}

/// What follows `oN`.
What behind_id(std::string_view text, Statement& out, bool& labelled) {
  if (take(text, " -> ")) {
    if (!take_id(text, out.to)) return What::broken;
    if (text.empty()) return What::edge;
    take(text, " ");
    return take_attributes(text, out.label, labelled) && text.empty() ? What::edge : What::broken;
  }
  if (!text.empty() && text.front() == '[') {
    if (!take_attributes(text, out.label, labelled) || !text.empty()) return What::broken;
    return labelled ? What::node : What::mention;
  }
  // A mark beside the object: oN->too_many_oN, oN->oN_has_a_del, oN_has_a_del.
  const bool mark = take(text, "->") || take(text, "_has_a_del");
  return mark ? What::nothing : What::broken;
}

/// Reads a line without its end into `out`. Grammar: README.md.
void read_statement(std::string_view line, Statement& out) {
  out.what = What::broken;
  out.label.clear();
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
  if (line.empty()) {
    out.what = What::nothing;
    return;
  }
  if (line == "}") {
    out.what = What::end;
    return;
  }
  if (line.back() != ';') return;
  line.remove_suffix(1);
  bool labelled = false;
  if (take(line, "node[")) {
    out.what = line.empty() || line.back() != ']' ? What::broken : What::nothing;
  } else if (take(line, "too_many_")) {
    std::uint64_t id = 0;
    if (!take_id(line, id)) return;
    if (line.substr(0, 1) != "[") {
      out.what = take(line, "->") ? What::nothing : What::broken;
      return;
    }
    if (!take_attributes(line, out.label, labelled) || !line.empty()) return;
    out.what = labelled ? What::more_here : What::nothing;
    out.from = id;
  } else if (take_id(line, out.from)) {
    out.what = behind_id(line, out, labelled);
  }
}

/// The line that begins a graph of objgraph.
inline constexpr std::string_view kFirstLine = "digraph ObjectGraph {";

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

/// Reads a whole graph. Throws Failure.
/// Errors: malformed, limit.
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
    if (!ended) builder_.facts().lose("the graph is cut: no } at its end", lines_.offset());
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
    const std::uint32_t row = ids_.intern(id);
    if (row == graph_->type.size()) graph_->type.push_back(kNoType);
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
        const std::uint32_t from = node(statement.from), to = node(statement.to);
        edges_.add(from, to, static_cast<std::uint32_t>(builder_.string(statement.label)));
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
    const std::vector<bool> is_held = edges_.held(graph.size());
    graph.flags.assign(graph.size(), 0);
    for (std::uint32_t row = 0; row < graph.size(); ++row) {
      const std::string_view name = builder_.dictionary().strings[graph.types.name[graph.type[row]]];
      const bool is_module = name == "module" || name == "builtins.module";
      if (!is_module && is_held[row]) continue;
      graph.roots.push_back({row, is_module ? module : unreferred});
    }
    finish_roots(graph);
  }

  Snapshot finish() {
    ObjectGraph& graph = *graph_;
    graph.id = ids_.numbers();
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
    place_edges(graph, std::move(edges_));
    SnapshotFacts& facts = exact_facts(builder_, "python");
    facts.complete = false;
    give_graph(builder_, std::move(graph_));
    return value_or_throw(builder_.finish());
  }

  text::LineReader lines_;
  SnapshotBuilder builder_;
  std::shared_ptr<ObjectGraph> graph_;
  NumberRows ids_;
  TypeRows types_;
  Edges edges_;
};

Match sniff_dot(std::string_view head) { return certain_if(text::begins_with(head, {kFirstLine})); }

}  // namespace

constexpr Format kObjgraphDot{
    .info = {"objgraph-dot", "DOT graph of objgraph (Python): show_refs(), show_backrefs()", "*.dot",
             "what objects look like (repr), reference counts, colours"},
    .sniff = sniff_dot,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, DotReader(in).read()); }};

}  // namespace snapdiff::formats
