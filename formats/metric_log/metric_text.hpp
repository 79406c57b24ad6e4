#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/base/contains.hpp"
#include "formats/text/quantity.hpp"
#include "formats/text/scan.hpp"

/// Small texts. Everything here is bounded by the view.
namespace snapdiff::formats::metric_log {

using namespace text;

constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

/// Where `word`, given in lower case, is in `text` whatever its case; npos when nowhere.
std::size_t find_ignoring_case(std::string_view text, std::string_view word, std::size_t from = 0);

/// Whether one of the places of `word` in `text`, as find_ignoring_case() finds it, where no other word continues, has
/// behind it what is looked for: is(rest).
template <class Is>
bool behind_word(std::string_view text, std::string_view word, Is is) {
  for (std::size_t at = find_ignoring_case(text, word); at != std::string_view::npos;
       at = find_ignoring_case(text, word, at + 1)) {
    if ((at == 0 || !is_letter(text[at - 1])) && is(text.substr(at + word.size()))) return true;
  }
  return false;
}

/// The digits of `text` behind at most three blanks or `signs`; empty where there are none.
inline std::string_view digits_behind_signs(std::string_view text, std::string_view signs) {
  std::size_t i = 0;
  while (i < std::min<std::size_t>(text.size(), 3) && (is_blank(text[i]) || contains(signs, text.substr(i, 1)))) ++i;
  return Cursor(text.substr(i)).digits();
}

/// "name{key=value,...}" of a name that may have tags already; keys in order.
std::string with_tag(std::string_view name, std::string_view key, std::string_view value);
std::string with_tags(std::string_view name, std::initializer_list<std::pair<std::string_view, std::string_view>> tags);

}  // namespace snapdiff::formats::metric_log
