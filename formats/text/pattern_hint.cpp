#include "formats/text/pattern_hint.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "analyzer/base/contains.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/text/quantity.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::text {
namespace {

constexpr std::size_t kMostWordBytes = 32;  // of the words that the expression begins with

/// JSON: "heap": 12 is found as "heap": *; "" without such a key.
std::string key_before(std::string_view line, std::size_t number) {
  std::string_view before = line.substr(0, number);
  while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
  if (!before.ends_with("\":")) return {};
  before.remove_suffix(2);
  const std::size_t open = before.rfind('"');
  if (open == std::string_view::npos) return {};
  const std::string_view key = before.substr(open + 1);
  if (key.empty() || key.size() > kMostWordBytes || !is_letter(key.front()) ||
      !std::all_of(key.begin(), key.end(), [](char c) { return is_word(c) || c == '-'; }))
    return {};
  std::string out = "\"";
  return out.append(key).append("\": *");
}

/// The words in front of the number, as an expression; "" where there is none. They begin after the last number or
/// quote, since these change from line to line and end the shell's text.
std::string words_before(std::string_view line, std::size_t number) {
  if (std::string key = key_before(line, number); !key.empty()) return key;
  std::size_t begin = number;
  bool any = false;
  while (begin > 0 && number - begin < kMostWordBytes) {
    const char c = line[begin - 1];
    if (is_digit(c) || c == '\'' || c == '"' || c == '\t' || static_cast<unsigned char>(c) >= 0x7f) break;
    any = any || is_letter(c);
    --begin;
  }
  if (!any) return {};
  // A word that is cut would fit others, too.
  while (begin < number && begin > 0 && is_word(line[begin - 1]) && is_word(line[begin])) ++begin;
  while (begin < number && !is_letter(line[begin])) ++begin;
  std::string out;
  for (const char c : line.substr(begin, number - begin)) {
    if (is_blank(c)) {
      if (!out.ends_with(" +")) out += " +";
    } else {
      if (!is_word(c) && !contains(":=,;/-<>%&#@!~", std::string_view(&c, 1))) out += '\\';
      out += c;
    }
  }
  return out;
}

/// Without a unit a word has to say what the number is of.
bool names_memory(std::string_view expression) {
  constexpr std::string_view kWords[] = {"mem", "heap", "rss", "alloc", "bytes", "used", "size", "cache", "reserved"};
  std::string text(expression);
  for (char& c : text) c = lower(c);
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) { return contains(text, word); });
}

/// A hint needs one of these in the line.
enum class Wanted : std::uint8_t { unit, memory_word, any_word };

std::string hint_of(std::string_view line, Wanted wanted) {
  const bool with_unit = wanted == Wanted::unit;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_digit(line[i]) || (i > 0 && (is_word(line[i - 1]) || line[i - 1] == '.'))) continue;
    Decimal number;
    const std::size_t end = parse_decimal(line, i, number);
    if (end == 0) return {};
    std::size_t unit = end;
    while (unit < line.size() && is_blank(line[unit])) ++unit;
    std::size_t unit_end = unit;
    while (unit_end < line.size() && is_letter(line[unit_end])) ++unit_end;
    const bool has_unit = size_unit(line.substr(unit, unit_end - unit), false) != 0;
    const bool stands_alone = end == line.size() || !(is_word(line[end]) || contains(".:-/", line.substr(end, 1)));
    if (with_unit ? has_unit : stands_alone) {
      std::string out = words_before(line, i);
      if (!out.empty() && (wanted != Wanted::memory_word || names_memory(out)))
        return out + (has_unit ? "(?P<value>[\\d.,]+) *(?P<unit>[A-Za-z]+)" : "(?P<value>[\\d.,]+)");
    }
    i = std::max(i, end - 1);
  }
  return {};
}

}  // namespace

std::string pattern_hint(std::string_view head) {
  const std::string plain = plain_head(head);
  for (const Wanted wanted : {Wanted::unit, Wanted::memory_word, Wanted::any_word}) {
    std::string_view rest = plain;
    std::string_view line;
    while (take_line(rest, line)) {
      if (std::string hint = hint_of(line, wanted); !hint.empty()) return hint;
    }
  }
  std::string_view rest = plain, line;
  while (take_line(rest, line)) {
    Decimal number;
    line = trim(line);
    if (!line.empty() && parse_decimal(line, 0, number) == line.size()) return "^ *(?P<value>[\\d.,]+) *$";
  }
  return {};
}

}  // namespace snapdiff::formats::text
