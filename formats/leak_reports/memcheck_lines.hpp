#pragma once

#include "formats/leak_reports/leak_check.hpp"

/// Lines of memcheck's text; the records of its XML use the same words.
namespace snapdiff::formats::leak_reports {

/// The kinds of a leak, in the order of the summary.
inline constexpr std::string_view kLeakKinds[] = {"definitely lost", "indirectly lost", "possibly lost",
                                                  "still reachable"};
inline constexpr std::size_t kLeakKindCount = 4;
/// The option for stacks longer than the twelve frames of valgrind's default.
inline constexpr std::string_view kDeeper = "--num-callers=40";

/// "==1234== text", also after a prefix of a log and with valgrind's own time before the pid.
struct MemcheckLine {
  std::int64_t pid = 0;
  std::string_view text;
};
std::optional<MemcheckLine> memcheck_line(std::string_view line);

/// "5,760 (576 direct, 5,184 indirect) bytes in 12 blocks are definitely lost in loss record 3 of 3".
/// The bytes are the direct ones where both are recorded: the indirect ones may have records of their own.
struct LossRecord {
  Leaked leaked;
  std::int64_t indirect = 0;  ///< bytes
  std::string_view kind;      ///< one of kLeakKinds
  std::int64_t number = 0;    ///< 3
};
bool is_loss_record(std::string_view text);
std::optional<LossRecord> loss_record(std::string_view text);

/// "   by 0x109206: alloc_block(unsigned long) (native_leak.cpp:9)". False for any other line.
bool memcheck_frame(std::string_view text, LeakFrame& frame);

/// "   definitely lost: 3,024 (+3,024) bytes in 2 (+2) blocks"; the kind may be "suppressed", too.
struct SummaryLine {
  std::string_view kind;
  Leaked leaked;
};
std::optional<SummaryLine> summary_line(std::string_view text);

/// "in use at exit: 252,800 bytes in 206 blocks" and "total heap usage: 308 allocs, 102 frees, 858,272 bytes
/// allocated" as counters. False for any other line.
bool heap_summary_line(std::string_view text, std::vector<Counter>& counters);

/// Reads the XML that holds the same. Throws Failure: malformed, unsupported, limit, and what the input and the
/// sink return.
void read_memcheck_xml(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::leak_reports
