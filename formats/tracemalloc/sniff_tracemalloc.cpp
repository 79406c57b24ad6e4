#include "formats/tracemalloc/sniff_tracemalloc.hpp"

#include <string>

#include "formats/text/log_lines.hpp"
#include "formats/tracemalloc/statistic_line.hpp"

namespace snapdiff::formats::tracemalloc {

Match sniff_dump(std::string_view head) {
  if (head.size() < 2 || head[0] != '\x80') return Match::no;
  return head.substr(0, 64).find("tracemalloc") != std::string_view::npos ? Match::certain : Match::no;
}

Match sniff_text(std::string_view head) {
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  bool after_blocks = false;
  std::size_t ranked = 0;
  while (text::take_line(rest, line)) {
    const LineKind kind = parse_line(line).kind;
    if (kind == LineKind::statistic || kind == LineKind::difference) return Match::certain;
    if (kind == LineKind::frame && after_blocks) return Match::certain;
    // One such line alone may be anything.
    const bool ends_ranked = (kind == LineKind::rest || kind == LineKind::total) && ranked > 0;
    if (kind == LineKind::ranked) ++ranked;
    if (ranked > 1 || ends_ranked) return Match::certain;
    after_blocks = kind == LineKind::blocks;
  }
  return Match::no;
}

}  // namespace snapdiff::formats::tracemalloc
