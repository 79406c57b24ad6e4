#pragma once

#include "analyzer/base/rest_row.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/held_sink.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/text/quantity.hpp"
#include "formats/text/time_stamp.hpp"

/// What readers of reports in logs share. They include this alone for the standard library's common types, the lines
/// and their numbers, the builder, and the ways to fail.
namespace snapdiff::formats::text {

/// A log with reports among its other lines; each report is a snapshot. A reader derives from this and hands what it
/// reads to out_. Throws Failure.
class ReportLog {
 public:
  /// `nothing` is the message for a log without a report.
  ReportLog(Input& in, SnapshotSink& out, std::string_view nothing) : lines_(in), out_(out), nothing_(nothing) {}
  virtual ~ReportLog() = default;

  /// Reads the whole log; malformed where it has no report.
  void run() {
    std::string_view line;
    while (lines_.next(line)) handle(line);
    finish();
    if (out_.empty()) fail_malformed(std::string(nothing_), lines_.offset());
    remark(out_.last().notes);
    lines_.note_skipped(out_.last().notes);
    out_.flush();
  }

 protected:
  virtual void handle(std::string_view line) = 0;
  /// The input ends: what becomes of a report that is open.
  virtual void finish() = 0;
  /// Notes on the last snapshot about the log.
  virtual void remark(Notes& /*notes*/) {}

  /// Hands a report on as a snapshot. Throws Failure for its error, and limit beyond kMaxReports.
  void take_report(Result<Snapshot>&& report) {
    if (++reports_ > kMaxReports)
      fail(ErrorCode::limit, "more than " + std::to_string(kMaxReports) + " reports in one input",
           lines_.line_offset());
    out_.take(std::move(report));
  }

  /// Opens a report of numbers that were counted.
  SnapshotFacts& open_report(std::string_view producer, std::string_view detail = {}) {
    return exact_facts(report_.emplace(), producer, detail);
  }
  /// The last line, or part of it, is missing in the open report, if there is one.
  void lose(std::string_view what) {
    if (report_) report_->facts().lose(what, lines_.line_offset());
  }
  /// A line between reports: its time is the time of the next one, take_time() hands it on once.
  void note_time(std::string_view line) {
    if (const std::optional<TimeStamp> time = find_time(line)) time_ = time->ns;
  }
  std::optional<std::int64_t> take_time() { return std::exchange(time_, std::nullopt); }
  void warn(std::string_view what) { report_->notes().add(Severity::warning, what, lines_.line_offset()); }
  /// Hands the open report on.
  void give_report() {
    take_report(report_->finish());
    report_.reset();
  }

  LogLines lines_;
  HeldSink out_;
  std::optional<SnapshotBuilder> report_;  // the open one

 private:
  /// Snapshots of one input; each takes about 2 KiB, so that a text of tiny reports stays below 128 MiB.
  static constexpr std::uint32_t kMaxReports = 1u << 16;
  std::uint32_t reports_ = 0;
  std::optional<std::int64_t> time_;
  std::string_view nothing_;
};

/// A text as an argument of a template.
template <std::size_t kBytes>
struct Literal {
  consteval Literal(const char (&given)[kBytes]) { std::copy_n(given, kBytes, text); }  // NOLINT(*-explicit-*)
  char text[kBytes]{};
};

/// decode() of a format whose reader is a ReportLog; `nothing` is what its constructor gets.
template <class Log, Literal nothing>
void read_log(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  Log(in, out, nothing.text).run();
}

/// A format whose reader is a ReportLog. It is certain where one of the first lines is what is looked for: is(line).
template <class Log, auto is, Literal nothing>
constexpr Format log_format(const FormatInfo& info) {
  return {.info = info,
          .sniff = [](std::string_view head) { return certain_if(any_line_of(head, is)); },
          .decode = read_log<Log, nothing>};
}

}  // namespace snapdiff::formats::text
