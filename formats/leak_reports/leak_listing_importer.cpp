#include "formats/leak_reports/leak_listing.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace leak_reports;

Dialects all_dialects() {
  Dialects all;
  add_listing_dialects(all);
  add_block_dialects(all);
  return all;
}

class LeakListing final : public text::ReportLog, private ListingSink {
 public:
  LeakListing(Input& in, SnapshotSink& out)
      : ReportLog(
            in, out,
            "no report: the input ends, expected one of kmemleak, leaks, VLD, the CRT, the heap checker or mtrace"),
        dialects_(all_dialects()) {}

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

  bool is_open() const override { return check_ != nullptr; }
  LeakCheck& check() override { return *check_; }
  void open(std::string_view tool) override {
    if (is_open()) close();
    check_ = std::make_unique<LeakCheck>();
    check_->facts().producer = tool;
    check_->facts().format_detail = tool;
  }
  void close() override {
    take_report(check_->finish(""));
    check_.reset();
  }
  void close(Leaked total) override {
    check_->add_total(total, kBelowThreshold);
    close();
  }
  void lose(std::string_view why) override { check_->facts().lose(std::string(why), lines_.line_offset()); }

  void finish() override {
    if (!is_open()) return;
    active_->finish(*this);
    if (!is_open()) return;
    if (!active_->is_endless()) check_->mark_cut("the end of the report is missing", lines_.offset());
    close();
  }

  Dialects dialects_;
  Dialect* active_ = nullptr;
  std::unique_ptr<LeakCheck> check_;
};

Match sniff_listing(std::string_view head) {
  const auto dialects = all_dialects();
  return certain_if(text::any_line_of(head, [&](std::string_view line) {
    return std::any_of(dialects.begin(), dialects.end(), [&](const auto& one) { return one->begins(line); });
  }));
}

}  // namespace

constexpr Format kLeakListing{
    .info = {"leak-listing",
             "leaks as kmemleak, macOS leaks, VLD, Visual C++, gperftools' heap checker and mtrace print them",
             "*.txt, *.log", "contents and addresses of blocks, times"},
    .sniff = sniff_listing,
    .decode = text::read_log<LeakListing>,
    .many = "distinct stacks"};

}  // namespace snapdiff::formats
