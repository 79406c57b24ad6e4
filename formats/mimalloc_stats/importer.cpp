#include "formats/mimalloc_stats/mimalloc_dump.hpp"
#include "formats/mimalloc_stats/mimalloc_stats_importer.hpp"
#include "formats/text/log_lines.hpp"

namespace snapdiff::formats {
namespace {

/// An object whose first key is stat_version, and that says the version of mimalloc near its beginning.
bool is_stats_json(std::string_view head) {
  std::size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (at == std::string_view::npos || head[at] != '{') return false;
  at = head.find_first_not_of(" \t\r\n", at + 1);
  return at != std::string_view::npos && head.substr(at).starts_with("\"stat_version\"") &&
         head.substr(at, 512).find("\"mimalloc_version\"") != std::string_view::npos;
}

Match sniff_mimalloc(std::string_view head) {
  if (is_stats_json(head)) return Match::certain;
  return text::any_line_of(head, mimalloc_stats::is_heading) ? Match::certain : Match::no;
}

void decode_mimalloc(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  const std::string_view head = value_or_throw(in.peek(kSniffBytes));
  const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string_view::npos && head[first] == '{') {
    mimalloc_stats::read_json(in, out);
  } else {
    mimalloc_stats::read_text(in, out);
  }
}

}  // namespace

constexpr Format kMimallocStats{
    .info = {"mimalloc-stats", "statistics of mimalloc (mi_stats_print, mi_stats_get_json), text or JSON",
             "*.txt, *.log, *.json", "peaks, times, averages, pages by bin, single heaps"},
    .sniff = sniff_mimalloc,
    .decode = decode_mimalloc,
    .many = "counters"};

}  // namespace snapdiff::formats
