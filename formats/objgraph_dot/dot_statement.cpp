#include "formats/objgraph_dot/dot_statement.hpp"

#include <charconv>
#include <system_error>

namespace snapdiff::formats::objgraph_dot {
namespace {

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

}  // namespace

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

}  // namespace snapdiff::formats::objgraph_dot
