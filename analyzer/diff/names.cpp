#include "analyzer/diff/names.hpp"

#include <array>
#include <cctype>

namespace snapdiff::diff {
namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether something that without_numbering() looks for begins with this character.
bool may_begin_numbering(char c) {
  return c == '{' || c == '\'' || c == '$' || c == '.' || c == '[' || c == '+' || c == '0';
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

/// Position after the bracket that closes the one at `open`, or the end.
std::size_t after_closing(std::string_view text, std::size_t open, char opening, char closing) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opening) ++depth;
    if (text[i] == closing && --depth == 0) return i + 1;
  }
  return text.size();
}

bool remove_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

/// "{lambda(int)#3}" and "{lambda#3}" -> "{lambda}", "{unnamed type#1}" alike; "$_3" -> "$_";
/// ".func3" and ".func3.2" -> ".func"; "[go.shape.int]" -> "[...]"; "+0x1f" and "0x1f" -> "".
std::string without_numbering(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (!may_begin_numbering(text[i])) {
      out += text[i++];
    } else if (rest.starts_with("{lambda")) {
      out += "{lambda}";
      i = after_closing(text, i, '{', '}');
    } else if (rest.starts_with("{unnamed type#") || rest.starts_with("{closure#") || rest.starts_with("'lambda")) {
      const char quote = rest.front() == '\'' ? '\'' : '}';
      const std::size_t end = text.find(quote, i + 1);
      out += rest.front() == '\'' ? "{lambda}" : rest.starts_with("{closure") ? "{closure}" : "{unnamed type}";
      i = end == std::string_view::npos ? text.size() : end + 1;
    } else if (rest.starts_with("$_") && digits_at(text, i + 2) > 0) {
      out += "$_";
      i += 2 + digits_at(text, i + 2);
    } else if (rest.starts_with(".func") && digits_at(text, i + 5) > 0) {
      out += ".func";
      i += 5 + digits_at(text, i + 5);
      while (i < text.size() && text[i] == '.' && digits_at(text, i + 1) > 0) i += 1 + digits_at(text, i + 1);
    } else if (rest.starts_with("[go.shape.") || rest.starts_with("[...]")) {
      out += "[...]";
      i = after_closing(text, i, '[', ']');
    } else if ((rest.starts_with("+0x") || (rest.starts_with("0x") && (i == 0 || !is_word(text[i - 1])))) &&
               rest.size() > 2) {
      i += rest.front() == '+' ? 3U : 2U;
      while (i < text.size() && is_hex(text[i])) ++i;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace

std::string_view without_clone_suffixes(std::string_view function) {
  constexpr std::array<std::string_view, 6> kNumbered = {"constprop", "isra", "part", "llvm", "lto_priv", "clone"};
  for (bool again = true; again;) {
    again = false;
    if (remove_suffix(function, " [clone .cold]") || remove_suffix(function, ".cold")) {
      again = true;
      continue;
    }
    std::string_view head = function;
    const bool bracketed = head.ends_with(']') && head.rfind(" [clone .") != std::string_view::npos;
    if (bracketed) head.remove_suffix(1);
    std::size_t digits = 0;
    while (digits < head.size() && is_digit(head[head.size() - 1 - digits])) ++digits;
    if (digits > 0 && head.size() > digits && head[head.size() - 1 - digits] == '.') head.remove_suffix(digits + 1);
    for (const std::string_view name : kNumbered) {
      if (!head.ends_with(name)) continue;
      std::string_view before = head.substr(0, head.size() - name.size());
      if (!remove_suffix(before, bracketed ? " [clone ." : ".") || before.empty()) continue;
      function = before;
      again = true;
      break;
    }
  }
  return function;
}

std::string_view without_rust_hash(std::string_view function) {
  constexpr std::size_t kLength = 3 + 16;
  if (function.size() <= kLength) return function;
  const std::string_view tail = function.substr(function.size() - kLength);
  if (!tail.starts_with("::h")) return function;
  for (const char c : tail.substr(3)) {
    if (!is_digit(c) && !(c >= 'a' && c <= 'f')) return function;
  }
  return function.substr(0, function.size() - kLength);
}

std::string_view without_arguments(std::string_view function) {
  if (function.starts_with('.')) function.remove_prefix(1);
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  constexpr std::string_view kCall = "operator()";
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (function.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (function.substr(i).starts_with(kCall)) {
      i += kCall.size() - 1;
    } else if (function[i] == '(') {
      return function.substr(0, i);
    }
  }
  return function;
}

std::size_t operator_length(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  if (text.empty() || text.front() != kOperator.front() || !text.starts_with(kOperator)) return 0;
  constexpr std::array<std::string_view, 14> kBracketed = {"()", "<=>", "<<=", ">>=", "->*", "<<", ">>",
                                                           "<=", ">=",  "->",  "[]",  "<",   ">",  "\"\""};
  const std::string_view rest = text.substr(kOperator.size());
  for (const std::string_view symbol : kBracketed) {
    if (rest.starts_with(symbol)) return kOperator.size() + symbol.size();
  }
  if (!rest.empty() && is_word(rest.front())) return 0;
  return kOperator.size();
}

std::string collapse_template_arguments(std::string_view function, int keep) {
  if (function.find('<') == std::string_view::npos) return std::string(function);
  std::string out;
  out.reserve(function.size());
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    const bool word_before = i > 0 && is_word(function[i - 1]);
    if (const std::size_t length = word_before ? 0 : operator_length(function.substr(i)); length > 0) {
      if (depth <= keep) out += function.substr(i, length);
      i += length - 1;
      continue;
    }
    const char c = function[i];
    if (c == '<') {
      ++depth;
      if (depth <= keep) out += c;
      if (depth == keep + 1) out += "<...";
    } else if (c == '>' && !(i > 0 && (function[i - 1] == '-' || function[i - 1] == '=')) && depth > 0) {
      if (depth <= keep + 1) out += c;
      --depth;
    } else if (depth <= keep) {
      out += c;
    }
  }
  return out;
}

std::string normalise(std::string_view function) {
  function = without_rust_hash(without_clone_suffixes(function));
  for (bool again = true; again;) {
    again = remove_suffix(function, ".<locals>.<listcomp>") || remove_suffix(function, ".<locals>.<genexpr>") ||
            remove_suffix(function, ".<locals>.<dictcomp>") || remove_suffix(function, ".<locals>.<setcomp>");
  }
  return collapse_template_arguments(without_numbering(function), 1);
}

}  // namespace snapdiff::diff
