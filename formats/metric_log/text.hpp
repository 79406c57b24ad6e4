#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "snapdiff/contains.hpp"

/// Characters and small texts. Everything here is bounded by the view.
namespace snapdiff::formats::metric_log {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Where `word`, given in lower case, stands in `text` whatever its case; npos when nowhere.
std::size_t find_ignoring_case(std::string_view text, std::string_view word, std::size_t from = 0);

/// A whole number: an optional sign, decimal digits, nothing else. False beyond 64 bits, too.
bool parse_integer(std::string_view text, std::int64_t& out);

/// "name{key=value,...}" of a name that may have tags already; keys in order.
std::string with_tag(std::string_view name, std::string_view key, std::string_view value);
std::string with_tags(std::string_view name, std::initializer_list<std::pair<std::string_view, std::string_view>> tags);

}  // namespace snapdiff::formats::metric_log
