#include "analyzer/report/short_names.hpp"

#include <algorithm>
#include <cctype>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kMostForms = 16;  // of a name: real packages are less deep

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

/// The text between the outermost of these brackets becomes the ellipsis: "(*Map[go.shape.int]).Set" ->
/// "(*Map[…]).Set". A name that begins with a bracket keeps what is in it.
std::string without_arguments(std::string_view name, char open, char close, std::string_view ellipsis) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool arrow = c == '>' && i > 0 && (name[i - 1] == '-' || name[i - 1] == '=');
    if (c == open && (i > 0 || depth > 0)) {
      if (depth++ == 0) out.append(1, c).append(ellipsis);
    } else if (c == close && depth > 0 && !arrow) {
      if (--depth == 0) out += c;
    } else if (depth == 0) {
      out += c;
    }
  }
  return depth == 0 ? out : std::string(name);
}

/// Where the import path of a Go function ends: after its last slash that is in no bracket. 0 for other names.
std::size_t go_path_end(std::string_view name) {
  const std::size_t slash = name.rfind('/', name.find_first_of("(["));
  if (slash == std::string_view::npos || name.find("::") != std::string_view::npos) return 0;
  const std::string_view function = name.substr(slash + 1);
  const std::size_t dot = function.find('.');
  return dot == std::string_view::npos || dot == 0 ? 0 : slash + 1;
}

/// "views.py:18", "app/views.py:18": a name that is a place.
bool is_place(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == name.size() || (colon > 0 && name[colon - 1] == ':'))
    return false;
  const std::string_view line = name.substr(colon + 1);
  return std::all_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Where "::" separates parts outside brackets.
std::vector<std::size_t> namespace_ends(std::string_view name) {
  std::vector<std::size_t> ends;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == '}') && depth > 0) --depth;
    if (depth == 0 && c == ':' && name[i + 1] == ':' && i > 0) ends.push_back(i + 2);
  }
  return ends;
}

/// Parts of a dotted name before the class: packages are written small.
std::vector<std::string_view> packages_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty() && is_lower(name.front())) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos || name.substr(0, dot).find_first_of(" ([<$") != std::string_view::npos)
      return {};
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  return !name.empty() && is_upper(name.front()) ? parts : std::vector<std::string_view>{};
}

void add(std::vector<std::string>& forms, std::string form) {
  if (!form.empty() && (forms.empty() || forms.back() != form) && forms.size() < kMostForms)
    forms.push_back(std::move(form));
}

}  // namespace

std::vector<std::string> shorter_names(std::string_view name, std::string_view ellipsis) {
  std::vector<std::string> forms;
  if (is_place(name)) {
    for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1))
      add(forms, std::string(name.substr(slash + 1)));
    return forms;
  }
  if (const std::size_t end = go_path_end(name); end > 0) {
    const std::string plain = without_arguments(name, '[', ']', ellipsis);
    if (plain.size() < name.size()) add(forms, plain);
    add(forms, plain.substr(go_path_end(plain)));
    return forms;
  }
  if (name.find("::") != std::string_view::npos) {
    const std::string plain = without_arguments(name, '<', '>', ellipsis);
    if (plain.size() < name.size()) add(forms, plain);
    const std::vector<std::size_t> ends = namespace_ends(plain);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) add(forms, plain.substr(ends[i]));
    return forms;
  }
  const std::vector<std::string_view> packages = packages_of(name);
  std::string initials;
  std::string_view rest = name;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    initials.append(1, packages[i].front()).append(".");
    rest.remove_prefix(packages[i].size() + 1);
    if (i + 1 == packages.size() || i % 2 == 1) add(forms, initials + std::string(rest));
  }
  if (packages.size() > 1) add(forms, std::string(rest));
  return forms;
}

}  // namespace snapdiff::report
