#include <array>
#include <utility>

#include "analyzer/symbols/rust_demangle.hpp"
#include "analyzer/symbols/rust_text.hpp"

namespace snapdiff::symbols {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr unsigned kFewestDistinctDigits = 5;  // a real hash has about ten; "h0000000000000000" is a C++ name

bool is_hash(std::string_view part) {
  if (part.size() != kHashDigits + 1 || part[0] != 'h') return false;
  unsigned seen = 0;
  for (const char c : part.substr(1)) {
    if (!is_digit(c) && !(c >= 'a' && c <= 'f')) return false;
    seen |= 1U << (is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  unsigned distinct = 0;
  for (; seen != 0; seen &= seen - 1) ++distinct;
  return distinct >= kFewestDistinctDigits;
}

/// "$LT$" -> "<", "$u7e$" -> "~"; false when it is not one of the escapes.
bool append_escape(std::string& out, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 8> kNames{
      {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'}, {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}}};
  for (const auto& [text, c] : kNames) {
    if (name == text) {
      out += c;
      return true;
    }
  }
  if (name.size() < 2 || name.size() > 7 || name[0] != 'u') return false;
  unsigned code = 0;
  for (const char c : name.substr(1)) {
    if (!is_digit(c) && !(c >= 'a' && c <= 'f')) return false;
    code = code * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  if (code < 0x20 || code == 0x7f || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  append_utf8(out, code);
  return true;
}

void append_part(std::string& out, std::string_view part) {
  if (part.size() > 1 && part[0] == '_' && part[1] == '$') part.remove_prefix(1);
  for (std::size_t i = 0; i < part.size();) {
    if (part.substr(i, 2) == "..") {
      out += "::";
      i += 2;
    } else if (part[i] == '.') {
      out += '.';
      ++i;
    } else if (part[i] == '$') {
      const std::size_t end = part.find('$', i + 1);
      if (end == std::string_view::npos || !append_escape(out, part.substr(i + 1, end - i - 1))) {
        out.append(part.substr(i));
        return;
      }
      i = end + 1;
    } else {
      out += part[i++];
    }
  }
}

}  // namespace

std::optional<std::string> demangle_rust_legacy(std::string_view name) {
  if (!name.starts_with("_ZN")) return std::nullopt;
  name.remove_prefix(3);
  std::string out;
  std::string_view last;
  bool first = true;
  while (!name.empty() && is_digit(name[0])) {
    std::size_t length = 0;
    while (!name.empty() && is_digit(name[0]) && length < kMaxRustOutput) {
      length = length * 10 + static_cast<std::size_t>(name[0] - '0');
      name.remove_prefix(1);
    }
    if (length == 0 || length > name.size()) return std::nullopt;
    const std::string_view part = name.substr(0, length);
    name.remove_prefix(length);
    if (!last.empty()) {
      if (!first) out += "::";
      append_part(out, last);
      first = false;
    }
    last = part;
  }
  if (name.empty() || name[0] != 'E' || first || !is_hash(last)) return std::nullopt;
  if (name.size() > 1 && name[1] != '.') return std::nullopt;
  return out;
}

}  // namespace snapdiff::symbols
