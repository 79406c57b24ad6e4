#include "formats/input/read_failure.hpp"
#include "formats/jemalloc_stats/jemalloc_stats_importer.hpp"
#include "formats/jemalloc_stats/statistics.hpp"
#include "formats/text/log_lines.hpp"

namespace snapdiff::formats {
namespace {

constexpr FormatInfo kInfo{"jemalloc-stats", "statistics of jemalloc (malloc_stats_print), JSON or text",
                           "*.json, *.txt", "rates, locks, slabs, dirty pages, the split by arena"};

/// An object whose first key is jemalloc.
bool is_json(std::string_view head) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (at == std::string_view::npos || head[at] != '{') return false;
  at = head.find_first_not_of(kBlanks, at + 1);
  constexpr std::string_view kKey = "\"jemalloc\"";
  if (at == std::string_view::npos || head.substr(at, kKey.size()) != kKey) return false;
  at = head.find_first_not_of(kBlanks, at + kKey.size());
  return at != std::string_view::npos && head[at] == ':';
}

Match sniff_jemalloc(std::string_view head) {
  if (is_json(head)) return Match::certain;
  return text::plain_head(head).find("Begin jemalloc statistics") != std::string::npos ? Match::certain : Match::no;
}

void decode_jemalloc(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  const std::string_view head = value_or_throw(in.peek(kSniffBytes));
  const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string_view::npos && head[first] == '{') {
    jemalloc_stats::read_json(in, out);
  } else {
    jemalloc_stats::read_text(in, out);
  }
}

}  // namespace

constexpr Format kJemallocStats{
    .info = kInfo, .sniff = sniff_jemalloc, .decode = decode_jemalloc, .many = "distinct stacks"};

}  // namespace snapdiff::formats
