#include "formats/leak_reports/leak_check.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace leak_reports;

/// "Direct leak of 1280 byte(s) in 10 object(s) allocated from:"
struct LeakLine {
  std::string_view kind;         ///< "direct" or "indirect"
  std::optional<Leaked> leaked;  ///< nothing where the numbers cannot be read
};

using namespace text;

constexpr std::string_view kHead = "ERROR: LeakSanitizer: detected memory leaks";
constexpr std::string_view kBuildId = " (BuildId: ";

/// "(MODULE+0xOFF)" at the end of `text`, which loses it.
bool take_module(std::string_view& text, LeakFrame& frame) {
  if (text.empty() || text.back() != ')') return false;
  const std::size_t plus = text.rfind("+0x");
  if (plus == std::string_view::npos) return false;
  Cursor at(text.substr(plus + 3));
  std::uint64_t offset = 0;
  if (at.hex(offset) != Number::ok || at.left() != 1) return false;
  // The path may hold parentheses and blanks: it begins after the last " (" that a slash or letter follows.
  std::size_t open = text.rfind(" (/", plus);
  if (open == std::string_view::npos) open = text.rfind(" (", plus);
  std::size_t path = open + 2;
  if (open == std::string_view::npos) {
    if (text.front() != '(') return false;
    open = 0;
    path = 1;
  }
  frame.module = text.substr(path, plus - path);
  frame.offset = offset;
  text = trim(text.substr(0, open));
  return true;
}

void take_build_id(std::string_view& text, LeakFrame& frame) {
  const std::size_t open = text.rfind(kBuildId);
  if (open == std::string_view::npos || text.back() != ')') return;
  frame.build_id = text.substr(open + kBuildId.size(), text.size() - open - kBuildId.size() - 1);
  text = trim(text.substr(0, open));
}

bool is_drive(std::string_view text, std::size_t blank) {
  return blank + 3 < text.size() && text[blank + 2] == ':' && (text[blank + 3] == '\\' || text[blank + 3] == '/');
}

/// Where the blank between function and file is. Function names have blanks too, `new(unsigned long)`,
/// so an absolute path is looked for from the left, a relative one begins at the last blank.
std::size_t file_begin(std::string_view text) {
  for (std::size_t blank = text.find(' '); blank != std::string_view::npos; blank = text.find(' ', blank + 1)) {
    if (blank + 1 < text.size() && (text[blank + 1] == '/' || is_drive(text, blank))) return blank;
  }
  return text.rfind(' ');
}

/// "==14586==ERROR: LeakSanitizer: detected memory leaks": the pid, -1 where it is not recorded.
std::optional<std::int64_t> report_head(std::string_view line) {
  const std::size_t found = line.find(kHead);
  if (found == std::string_view::npos) return std::nullopt;
  std::int64_t pid = -1;
  const std::string_view before = line.substr(0, found);
  const std::size_t mark =
      before.ends_with("==") && before.size() > 4 ? before.rfind("==", before.size() - 3) : std::string_view::npos;
  const bool has_pid = mark != std::string_view::npos && reads(before.substr(mark + 2), "%==$", pid);
  return has_pid ? pid : -1;
}

std::optional<LeakLine> leak_line(std::string_view line) {
  const auto direct = behind(line, "Direct leak of "), numbers = direct ? direct : behind(line, "Indirect leak of ");
  if (!numbers) return std::nullopt;
  LeakLine out{direct ? "direct" : "indirect", {}};
  if (Leaked leaked; reads(*numbers, "% byte(s) in % object(s) allocated from:", leaked.bytes, leaked.blocks))
    out.leaked = leaked;
  return out;
}

/// "    #1 0x55b83a49f699 in leak_rows /srv/app/lsan_series.c:7:100",
/// "    #0 0x55892a875f42  (/srv/app/lsan_stripped+0x30f42) (BuildId: d2b8)". False for any other line.
bool sanitizer_frame(std::string_view line, LeakFrame& frame) {
  std::size_t hash = line.find('#');
  for (; hash != std::string_view::npos; hash = line.find('#', hash + 1)) {
    Cursor at(line.substr(hash + 1));
    std::int64_t depth = 0;
    std::uint64_t address = 0;
    if (!at.takes("%~0x%", depth, address) || !(at.at_end() || is_blank(at.peek()))) continue;
    frame = {};
    at.skip_blanks();
    const bool named = at.take("in ");
    std::string_view rest = trim(at.rest());
    take_build_id(rest, frame);
    if (take_module(rest, frame) || !named) {
      if (named) frame.function = rest;
      if (frame.module.empty()) frame.offset = address;  // "(<unknown module>)"
      return true;
    }
    std::string_view place = rest;
    take_line_and_column(place, frame);
    const std::size_t blank = file_begin(place);
    if (blank == std::string_view::npos || (frame.line == 0 && place[blank + 1] != '/')) {
      frame.function = rest;
      frame.line = frame.column = 0;
      return true;
    }
    frame.function = trim(place.substr(0, blank));
    frame.file = trim(place.substr(blank + 1));
    if (frame.file == "??") frame.file = {};
    return true;
  }
  return false;
}

/// "SUMMARY: AddressSanitizer: 2296 byte(s) leaked in 12 allocation(s)."
std::optional<Leaked> report_summary(std::string_view line) {
  const auto summary = behind(line, "SUMMARY: "), rest = behind(summary.value_or(""), "Sanitizer: ");
  Leaked out;
  return given(rest && reads(*rest, "% byte(s) leaked in % allocation(s)", out.bytes, out.blocks), out);
}

/// Its fast unwinder ends at code without frame pointers.
constexpr std::string_view kDeeper = "malloc_context_size=100:fast_unwind_on_malloc=0 in ASAN_OPTIONS or LSAN_OPTIONS";

class SanitizerLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (const auto head = report_head(line)) {
      if (check_) close_without_summary();
      open();
      if (*head >= 0) check_->facts().pid = *head;
      return;
    }
    if (const auto leak = leak_line(line)) return begin_record(*leak);
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
    if (leak.leaked && lines_.terminated()) return check_->open_record(leak.kind, *leak.leaked);
    check_->close_record();
    if (!lines_.terminated()) return;
    check_->facts().lose("leaks that could not be read, left out", lines_.line_offset());
  }

  void close(Leaked total) {
    // The option max_leaks prints the largest ones only.
    check_->add_total(total, kBelowThreshold);
    out_.take(check_->finish(kDeeper));
    check_.reset();
    summaries_ = true;
  }

  void close_without_summary() {
    check_->close_record();
    check_->mark_cut("a report without SUMMARY: its end is missing", begun_at_);
    out_.take(check_->finish(kDeeper));
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

constexpr Format kLeakSanitizer{
    .info = {"leak-sanitizer", "report of LeakSanitizer, also of AddressSanitizer", "*.txt, *.log",
             "addresses of single objects; suppressions; other errors"},
    .sniff = [](std::string_view head) { return certain_if(report_head(plain_head(head)).has_value()); },
    .decode =
        read_log<SanitizerLog, "no report: the input ends, expected \"ERROR: LeakSanitizer: detected memory leaks\"">};

}  // namespace snapdiff::formats
