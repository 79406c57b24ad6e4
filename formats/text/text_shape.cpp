#include "formats/text/text_shape.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "formats/text/log_lines.hpp"
#include "formats/text/scan.hpp"
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
         has_prefix(line, "def ") || has_prefix(line, "class ") || has_prefix(line, "function ");
}

}  // namespace

std::string shape_hint(std::string_view head) {
  const std::string plain = plain_head(head);
  std::string_view rest = plain, line;
  std::size_t lines = 0, timed = 0, keyed = 0, bare = 0, code = 0, below = 0;
  Cells above;
  while (lines < kLookedAtLines && take_line(rest, line)) {
    line = trim(line);
    if (line.empty()) continue;
    ++lines;
    const Cells cells = cells_of(line);
    timed += find_time(line) ? 1U : 0U;
    keyed += is_key_and_value(line) ? 1U : 0U;
    bare += cells.count == 1 && cells.numbers == 1 ? 1U : 0U;
    code += is_code(line) ? 1U : 0U;
    below +=
        above.numbers == 0 && above.count >= kLeastCells && cells.count == above.count && cells.numbers > 0 ? 1U : 0U;
    // The heading stands for all rows below it.
    if (above.count != cells.count || cells.numbers == 0) above = cells;
  }
  if (lines == 0) return {};
  if (plain.starts_with('<')) return "it looks like XML; massif, memcheck and malloc_info are read of that kind";
  if (code > 0) return "it looks like source code";
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
