#pragma once

#include "formats/leak_reports/leak_check.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats::leak_reports {

class LeakListing;

/// How one tool prints its leaks. Keeps its place in a report between lines.
class Dialect {
 public:
  virtual ~Dialect() = default;
  /// Whether the line begins a report of this tool, and of no other text.
  virtual bool begins(std::string_view line) const = 0;
  /// Offered each line, where no other dialect's report is open.
  virtual void take(std::string_view line, LeakListing& out) = 0;
  /// The input ends in an open report.
  virtual void finish(LeakListing& /*out*/) {}
  /// Reports of this tool have no line that ends them.
  virtual bool is_endless() const { return false; }
};

using Dialects = std::vector<std::unique_ptr<Dialect>>;

void add_listing_dialects(Dialects& all);
void add_block_dialects(Dialects& all);

inline Dialects all_dialects() {
  Dialects all;
  add_listing_dialects(all);
  add_block_dialects(all);
  return all;
}

/// Takes what a dialect finds. A report is open between open() and close().
class LeakListing final : public text::ReportLog {
 public:
  using ReportLog::ReportLog;

  bool is_open() const { return check_ != nullptr; }
  LeakCheck& check() { return *check_; }
  /// Begins a report of `tool`; one that is open is whole.
  void open(std::string_view tool) {
    if (is_open()) close();
    check_ = std::make_unique<LeakCheck>();
    check_->facts().producer = tool;
    check_->facts().format_detail = tool;
  }
  /// The report is whole; `total` is what it says itself, where it does.
  void close() {
    take_report(check_->finish(""));
    check_.reset();
  }
  void close(Leaked total) {
    check_->add_total(total, kBelowThreshold);
    close();
  }
  /// A line of the report could not be read.
  void lose(std::string_view why) { check_->facts().lose(std::string(why), lines_.line_offset()); }

 private:
  void handle(std::string_view line) override {
    if (!lines_.terminated() && !is_whole(line)) {
      if (is_open()) lose("the last line has no end and was left out");
      return;
    }
    if (active_ != nullptr && is_open()) return active_->take(line, *this);
    for (const auto& dialect : dialects_) {
      active_ = dialect.get();
      dialect->take(line, *this);
      if (is_open() || !out_.empty()) return;
    }
  }

  /// Whether a last line without an end is whole all the same: a text that was pasted often ends so. A report
  /// without an end of its own does not say.
  bool is_whole(std::string_view line) const {
    if (active_ == nullptr || !is_open() || active_->is_endless()) return false;
    line = text::trim(line);
    return line.ends_with(']') || line.ends_with("bytes).") || line.ends_with("leak.") || line.ends_with("complete.");
  }

  void finish() override {
    if (!is_open()) return;
    active_->finish(*this);
    if (!is_open()) return;
    if (!active_->is_endless()) check_->mark_cut("the end of the report is missing", lines_.offset());
    close();
  }

  Dialects dialects_ = all_dialects();
  Dialect* active_ = nullptr;
  std::unique_ptr<LeakCheck> check_;
};

}  // namespace snapdiff::formats::leak_reports
