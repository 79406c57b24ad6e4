#include "formats/text/pattern_hint.hpp"

#include "analyzer/base/contains.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/text/quantity.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats::text {
namespace {

constexpr std::size_t kLookedAtLines = 200;
constexpr std::size_t kLeastCells = 3;  // of a heading: two words are a sentence more often

struct Cells {
  std::size_t count = 0, numbers = 0;
};

Cells cells_of(std::string_view line) {
  Cells out;
  Cursor at(line);
  for (at.skip_blanks(); !at.at_end(); at.skip_blanks()) {
    const std::string_view cell = at.token();
    ++out.count;
    out.numbers += is_digit(cell.front()) || (cell.size() > 1 && cell[0] == '-' && is_digit(cell[1])) ? 1U : 0U;
  }
  return out;
}

bool is_key_and_value(std::string_view line) {
  const std::size_t mark = line.find_first_of(":=");
  if (mark == std::string_view::npos || mark == 0 || mark + 1 >= line.size()) return false;
  return is_letter(trim(line).front()) && cells_of(line.substr(0, mark)).count <= 3;
}

bool is_code(std::string_view line) {
  return has_prefix(line, "#include") || has_prefix(line, "import ") || has_prefix(line, "package ") ||
         has_prefix(line, "def ") || has_prefix(line, "class ") || has_prefix(line, "function ") ||
         has_prefix(line, "<?php") || has_prefix(line, "-module(");
}

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
    const Measure found = measure_at(line, i);
    const std::size_t end = found.number_end;
    if (end == 0) return {};
    const bool has_unit = size_unit(found.unit, false) != 0;
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

bool is_source_code(std::string_view head) {
  const std::string plain = plain_head(head);
  std::string_view rest = plain, line;
  std::size_t lines = 0, statements = 0;
  bool opens_block = false;
  for (std::size_t looked_at = 0; looked_at < kLookedAtLines && take_line(rest, line); ++looked_at) {
    line = trim(line);
    if (line.empty()) continue;
    if (is_code(line)) return true;
    ++lines;
    statements += contains(";{}", line.substr(line.size() - 1)) && line.front() != '{' ? 1U : 0U;
    opens_block = opens_block || (line.ends_with(" {") && contains(line, ")"));
  }
  return opens_block && statements * 2 > lines;
}

std::string shape_hint(std::string_view head) {
  const std::string plain = plain_head(head);
  std::string_view rest = plain, line;
  std::size_t lines = 0, timed = 0, keyed = 0, bare = 0, below = 0;
  Cells above;
  while (lines < kLookedAtLines && take_line(rest, line)) {
    line = trim(line);
    if (line.empty()) continue;
    ++lines;
    const Cells cells = cells_of(line);
    timed += find_time(line) ? 1U : 0U;
    keyed += is_key_and_value(line) ? 1U : 0U;
    bare += cells.count == 1 && cells.numbers == 1 ? 1U : 0U;
    below +=
        above.numbers == 0 && above.count >= kLeastCells && cells.count == above.count && cells.numbers > 0 ? 1U : 0U;
    // The heading stands for all rows below it.
    if (above.count != cells.count || cells.numbers == 0) above = cells;
  }
  if (lines == 0) return {};
  if (plain.starts_with('<')) return "it looks like XML; massif, memcheck and malloc_info are read of that kind";
  if (bare * 2 > lines) return "it looks like bare numbers, which no line names";
  if (timed * 2 > lines)
    return "it looks like a log; lines with rss, heap or allocated, JSON lines and GC logs are read";
  if (below * 2 > lines)
    return "it looks like a table; ps, top, pidstat, docker stats, kubectl top, nvidia-smi and CSV are read";
  if (keyed * 2 > lines)
    return "it looks like keys and values; /proc/PID/status, meminfo and allocators' totals are read";
  return {};
}

std::string keys_hint(std::string_view head) {
  constexpr std::size_t kMostKeys = 4, kLongestKey = 32;
  std::vector<std::string_view> keys;
  for (std::size_t end = head.find("\":"); end != std::string_view::npos && keys.size() < kMostKeys;
       end = head.find("\":", end + 1)) {
    const std::size_t begin = head.substr(0, end).rfind('"') + 1;  // 0 where there is none
    const std::string_view key = head.substr(begin, end - begin);
    const bool is_plain =
        begin > 0 && !key.empty() && key.size() <= kLongestKey &&
        std::all_of(key.begin(), key.end(), [](char c) { return is_word(c) || c == '-' || c == '.'; });
    if (is_plain && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  if (keys.empty()) return {};
  std::string out = "its first keys are ";
  for (const std::string_view key : keys) out.append(key == keys.front() ? "" : ", ").append(key);
  return out + "; JSON lines with rss, heap and the like, and Prometheus are read";
}

}  // namespace snapdiff::formats::text
