#include <memory>
#include <utility>

#include "formats/input/read_failure.hpp"
#include "formats/leak_reports/leak_check.hpp"
#include "formats/leak_reports/report_readers.hpp"
#include "formats/leak_reports/sanitizer_lines.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats::leak_reports {
namespace {

constexpr std::string_view kBelowThreshold = "[below threshold]";

class SanitizerLog final : public text::ReportLog {
 public:
  SanitizerLog(Input& in, SnapshotSink& out)
      : ReportLog(in, out, "no report: the input ends, expected \"ERROR: LeakSanitizer: detected memory leaks\"") {}

 private:
  void handle(std::string_view line) override {
    if (const auto head = report_head(line)) {
      if (check_) close_without_summary();
      open();
      if (head->pid >= 0) check_->facts().pid = head->pid;
      return;
    }
    if (const auto leak = leak_line(line)) {
      begin_record(*leak);
      return;
    }
    if (!check_) return;
    if (check_->record_open()) {
      LeakFrame frame;
      if (sanitizer_frame(line, frame)) {
        // Without its end the frame may be cut; the record goes with it.
        if (lines_.terminated()) {
          check_->add_frame(frame);
        } else {
          check_->drop_record();
        }
        return;
      }
      check_->close_record();
    }
    if (const auto total = report_summary(line)) close(*total);
  }

  void open() {
    check_ = std::make_unique<LeakCheck>();
    check_->facts().producer = "LeakSanitizer";
    begun_at_ = lines_.line_offset();
  }

  void begin_record(const LeakLine& leak) {
    if (!check_) open();
    if (leak.leaked && lines_.terminated()) {
      check_->open_record(leak.kind, *leak.leaked);
      return;
    }
    check_->close_record();
    if (!lines_.terminated()) return;
    check_->facts().lose("leaks that could not be read, left out", lines_.line_offset());
  }

  void close(Leaked total) {
    // The option max_leaks prints the largest ones only.
    check_->add_total(total, kBelowThreshold);
    out_.take(check_->finish());
    check_.reset();
    summaries_ = true;
  }

  void close_without_summary() {
    check_->close_record();
    check_->mark_cut("a report without SUMMARY: its end is missing", begun_at_);
    out_.take(check_->finish());
    check_.reset();
  }

  void finish() override {
    if (check_ && summaries_) {
      out_.last().lose("the input ends inside a report, which was left out", lines_.offset());
    } else if (check_) {
      close_without_summary();
    }
  }

  std::unique_ptr<LeakCheck> check_;
  std::uint64_t begun_at_ = 0;
  bool summaries_ = false;
};

}  // namespace

void read_sanitizer(Input& in, SnapshotSink& out) { SanitizerLog(in, out).run(); }

}  // namespace snapdiff::formats::leak_reports
