#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/memray/readers.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

constexpr FormatInfo kCsv{"memray-csv", "memray's allocations as CSV (memray transform csv)", "*.csv",
                          "which moment it shows; ids of named threads"};
constexpr FormatInfo kGprof2dot{"memray-gprof2dot", "memray's allocations as JSON for gprof2dot", "*.json",
                                "which moment it shows; lines, counts and threads, which are not in it"};
constexpr FormatInfo kSpeedscope{"memray-speedscope",
                                 "memray's allocations for speedscope; any speedscope file in bytes",
                                 "*.speedscope.json", "which moment it shows; profiles in other units"};
constexpr FormatInfo kStats{"memray-stats", "totals of a memray run (memray stats --json)", "*.json",
                            "the histogram of sizes and the top lists: totals of the run, nothing live"};
constexpr FormatInfo kHtml{"memray-html", "pages of memray flamegraph, also --temporal", "*.html",
                           "source lines, threads; of more than 64 moments all but each stretch's last"};
constexpr FormatInfo kRecording{"memray", "memray recording, file versions 10 to 13 (memray 1.7 to 1.20)", "*.bin",
                                "single events; the interpreter's own native frames; objects' lives"};

bool is_object(std::string_view head) { return text::begins_with(head, {"{"}); }

bool is_csv(std::string_view head) {
  if (text::has_prefix(head, text::kByteOrderMark)) head.remove_prefix(text::kByteOrderMark.size());
  if (head.substr(0, memray::kCsvHeader.size()) != memray::kCsvHeader) return false;
  head.remove_prefix(memray::kCsvHeader.size());
  return head.empty() || head.front() == '\r' || head.front() == '\n';
}

bool is_gprof2dot(std::string_view head) {
  return is_object(head) && contains(head, "\"costs\"") && contains(head, "\"events\"") && contains(head, "\"unit\"");
}

bool is_speedscope(std::string_view head) {
  return is_object(head) && contains(head, "speedscope.app/file-format-schema.json");
}

bool is_stats(std::string_view head) {
  return is_object(head) && contains(head, "\"total_num_allocations\"") && contains(head, "\"total_bytes_allocated\"");
}

bool is_recording(std::string_view head) { return head.starts_with(memray::kMemrayMagic); }

template <bool (*kFits)(std::string_view), Result<Snapshot> (*kRead)(Input&)>
constexpr Format memray_format(const FormatInfo& info) {
  return {.info = info,
          .sniff = [](std::string_view head) { return certain_if(kFits(head)); },
          .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, kRead(in)); }};
}

}  // namespace

constexpr Format kMemrayCsv = memray_format<is_csv, memray::read_csv>(kCsv);
constexpr Format kMemrayGprof2dot = memray_format<is_gprof2dot, memray::read_gprof2dot>(kGprof2dot);
constexpr Format kMemraySpeedscope = memray_format<is_speedscope, memray::read_speedscope>(kSpeedscope);
constexpr Format kMemrayStats = memray_format<is_stats, memray::read_stats>(kStats);
constexpr Format kMemrayHtml{
    .info = kHtml,
    .sniff = [](std::string_view head) { return certain_if(memray::is_flamegraph_page(head)); },
    .decode = memray::read_html};
constexpr Format kMemray{.info = kRecording,
                         .sniff = [](std::string_view head) { return certain_if(is_recording(head)); },
                         .decode = memray::read_recording,
                         .has_moments = true};

}  // namespace snapdiff::formats
