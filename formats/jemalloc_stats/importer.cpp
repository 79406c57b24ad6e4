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

class JemallocStatsImporter final : public Importer {
 public:
  const FormatInfo& info() const override { return kInfo; }
  Match sniff(std::string_view head) const override {
    if (is_json(head)) return Match::certain;
    return text::plain_head(head).find("Begin jemalloc statistics") != std::string::npos ? Match::certain : Match::no;
  }
  Status read(Input& in, SnapshotSink& out) const override {
    return run_reader(
        [&]() -> Status {
          Result<std::string_view> head = in.peek(kSniffBytes);
          if (!head) return std::move(head).error();
          const std::size_t first = head->find_first_not_of(" \t\r\n\xef\xbb\xbf");
          if (first != std::string_view::npos && (*head)[first] == '{') {
            jemalloc_stats::read_json(in, out);
          } else {
            jemalloc_stats::read_text(in, out);
          }
          return ok();
        },
        "distinct stacks");
  }
};

}  // namespace

std::unique_ptr<Importer> make_jemalloc_stats_importer() { return std::make_unique<JemallocStatsImporter>(); }

}  // namespace snapdiff::formats
