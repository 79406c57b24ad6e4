#include "formats/input/read_failure.hpp"
#include "formats/leak_reports/leak_report_importers.hpp"
#include "formats/leak_reports/memcheck_lines.hpp"
#include "formats/leak_reports/report_readers.hpp"
#include "formats/leak_reports/sanitizer_lines.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

using namespace leak_reports;

constexpr FormatInfo kMemcheckInfo{
    "memcheck", "leak check of valgrind's memcheck, text or XML", "*.txt, *.log, *.xml",
    "errors that are no leaks; suppressions; how much a check grew since the one before"};
constexpr FormatInfo kSanitizerInfo{"leak-sanitizer", "report of LeakSanitizer, also of AddressSanitizer",
                                    "*.txt, *.log", "addresses of single objects; suppressions; other errors"};

/// The root element, after a declaration, comments and blanks.
bool is_memcheck_xml(std::string_view head) {
  return text::begins_with(head, {"<"}) && head.find("<valgrindoutput>") != std::string_view::npos;
}

bool is_memcheck_text(std::string_view head) {
  std::string_view line;
  while (text::take_line(head, line)) {
    const auto found = memcheck_line(line);
    if (!found) continue;
    if (is_loss_record(found->text) || text::has_prefix(found->text, "LEAK SUMMARY:") ||
        text::has_prefix(found->text, "HEAP SUMMARY:") || text::has_prefix(found->text, "Memcheck, a memory error"))
      return true;
  }
  return false;
}

Match sniff_memcheck(std::string_view head) {
  if (is_memcheck_xml(head)) return Match::certain;
  return is_memcheck_text(text::plain_head(head)) ? Match::certain : Match::no;
}

void decode_memcheck(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  if (is_memcheck_xml(value_or_throw(in.peek(kSniffBytes)).substr(0, kSniffBytes))) {
    read_memcheck_xml(in, out);
  } else {
    read_memcheck_text(in, out);
  }
}

}  // namespace

constexpr Format kMemcheck{
    .info = kMemcheckInfo, .sniff = sniff_memcheck, .decode = decode_memcheck, .many = "distinct stacks"};

constexpr Format kLeakSanitizer{
    .info = kSanitizerInfo,
    .sniff = [](std::string_view head) { return report_head(text::plain_head(head)) ? Match::certain : Match::no; },
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { read_sanitizer(in, out); },
    .many = "distinct stacks"};

}  // namespace snapdiff::formats
