#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/leak_reports/leak_check.hpp"

/// Lines of LeakSanitizer's reports, as the runtimes of clang and of gcc write them. Whatever is in
/// front of the words (a prefix of a log) does not matter.
namespace snapdiff::formats::leak_reports {

/// "==14586==ERROR: LeakSanitizer: detected memory leaks"; pid is -1 where it is not recorded.
struct ReportHead {
  std::int64_t pid = -1;
};
std::optional<ReportHead> report_head(std::string_view line);

/// "Direct leak of 1280 byte(s) in 10 object(s) allocated from:"
struct LeakLine {
  std::string_view kind;         ///< "direct" or "indirect"
  std::optional<Leaked> leaked;  ///< nothing where the numbers cannot be read
};
std::optional<LeakLine> leak_line(std::string_view line);

/// "    #1 0x55b83a49f699 in leak_rows /srv/app/lsan_series.c:7:100",
/// "    #0 0x55892a875f42  (/srv/app/lsan_stripped+0x30f42) (BuildId: d2b8)". False for any other line.
bool sanitizer_frame(std::string_view line, LeakFrame& frame);

/// "SUMMARY: AddressSanitizer: 2296 byte(s) leaked in 12 allocation(s)."
std::optional<Leaked> report_summary(std::string_view line);

}  // namespace snapdiff::formats::leak_reports
