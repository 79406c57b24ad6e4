#include "formats/json/json_dumps.hpp"
#include "formats/mimalloc_stats/mimalloc_dump.hpp"
#include "formats/mimalloc_stats/mimalloc_stats_importer.hpp"
#include "formats/text/log_lines.hpp"
#include "snapdiff/contains.hpp"

namespace snapdiff::formats {
namespace {

/// JSON says the version of mimalloc near its beginning.
Match sniff_mimalloc(std::string_view head) {
  if (text::begins_with(head, {"{", "\"stat_version\""}) && contains(head.substr(0, 512), "\"mimalloc_version\"")) {
    return Match::certain;
  }
  return certain_if(text::any_line_of(head, mimalloc_stats::is_heading));
}

}  // namespace

constexpr Format kMimallocStats{
    .info = {"mimalloc-stats", "statistics of mimalloc (mi_stats_print, mi_stats_get_json), text or JSON",
             "*.txt, *.log, *.json", "peaks, times, averages, pages by bin, single heaps"},
    .sniff = sniff_mimalloc,
    .decode = json::read_json_or_text<mimalloc_stats::read_json, mimalloc_stats::read_text>,
    .many = "counters"};

}  // namespace snapdiff::formats
