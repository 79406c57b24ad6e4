#include "formats/tracemalloc/sniff.hpp"

#include <string>

#include "formats/tracemalloc/statistic_line.hpp"
#include "formats/tracemalloc/text_lines.hpp"

namespace snapdiff::formats::tracemalloc {

Match sniff_dump(std::string_view head) {
  if (head.size() < 2 || head[0] != '\x80') return Match::no;
  return head.substr(0, 64).find("tracemalloc") != std::string_view::npos ? Match::certain : Match::no;
}

Match sniff_text(std::string_view head) {
  std::string decoded;
  const std::string_view mark = head.substr(0, 2);
  if (mark == "\xff\xfe" || mark == "\xfe\xff") {
    decoded = utf8_of_utf16(head.substr(2), mark == "\xfe\xff");
    head = decoded;
  }
  bool after_blocks = false;
  std::string plain;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const LineKind kind = parse_line(without_colours(line, plain)).kind;
    if (kind == LineKind::statistic || kind == LineKind::difference) return Match::certain;
    if (kind == LineKind::frame && after_blocks) return Match::certain;
    after_blocks = kind == LineKind::blocks;
  }
  return Match::no;
}

}  // namespace snapdiff::formats::tracemalloc
