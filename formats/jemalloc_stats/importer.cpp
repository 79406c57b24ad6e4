#include "formats/jemalloc_stats/jemalloc_stats_importer.hpp"
#include "formats/jemalloc_stats/statistics.hpp"
#include "formats/json/json_dumps.hpp"
#include "formats/text/log_lines.hpp"

namespace snapdiff::formats {
namespace {

constexpr FormatInfo kInfo{"jemalloc-stats", "statistics of jemalloc (malloc_stats_print), JSON or text",
                           "*.json, *.txt", "rates, locks, slabs, dirty pages, the split by arena"};

Match sniff_jemalloc(std::string_view head) {
  if (text::begins_with(head, {"{", "\"jemalloc\"", ":"})) return Match::certain;
  return certain_if(text::plain_head(head).find("Begin jemalloc statistics") != std::string::npos);
}

}  // namespace

constexpr Format kJemallocStats{.info = kInfo,
                                .sniff = sniff_jemalloc,
                                .decode = json::read_json_or_text<jemalloc_stats::read_json, jemalloc_stats::read_text>,
                                .many = "distinct stacks"};

}  // namespace snapdiff::formats
