#include "formats/text/printed_frame.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

enum class RowLine : std::uint8_t { none, ok, unreadable };
struct Row {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

using text::Cursor;
using text::is_digit;
using text::Number;
using text::trim;

/// " [module]" at the end.
std::string_view take_module(std::string_view& text) {
  if (text.empty() || text.back() != ']') return {};
  const std::size_t open = text.rfind(" [");
  if (open == std::string_view::npos) return {};
  const std::string_view module = text.substr(open + 2, text.size() - open - 3);
  text = trim(text.substr(0, open));
  return module;
}

/// "[11:16:33] Top 2 stacks with outstanding allocations:" -> "11:16:33"
std::optional<std::string_view> heading_time(std::string_view line) {
  const std::size_t top = line.find("] Top ");
  if (top == std::string_view::npos) return std::nullopt;
  Cursor at(line.substr(top + 6));
  std::int64_t shown = 0;
  if (!at.count(shown) || !at.take(" stacks with outstanding allocations")) return std::nullopt;
  const std::size_t open = line.rfind('[', top);
  return open == std::string_view::npos ? std::string_view{} : line.substr(open + 1, top - open - 1);
}

/// "	80 bytes in 5 allocations from stack"; unreadable where the numbers are beyond 2^63-1.
RowLine row_line(std::string_view line, Row& out) {
  constexpr std::string_view kFromStack = " allocations from stack";
  const std::string_view text = trim(line);
  if (text.empty() || !is_digit(text.front()) || text.find(kFromStack) == std::string_view::npos) return RowLine::none;
  Cursor at(text);
  const Number bytes = at.decimal(out.bytes);
  if (bytes == Number::none || !at.take(" bytes in ") || !is_digit(at.peek())) return RowLine::none;
  const Number count = at.decimal(out.count);
  if (count == Number::none || !at.take(kFromStack)) return RowLine::none;
  return bytes == Number::ok && count == Number::ok ? RowLine::ok : RowLine::unreadable;
}

/// "main+0x6d [allocs]", "0x0000559b4789639f	zmalloc+0x2f [redis-server]",
/// "3 [<000055e1b2a3f1b5>] main+0x2d prog.c:12", "3 [<000055e1b2a3f1b5>] <null sym>"; a view into the line. The
/// offset in the function is left out; the address stays where there is neither a function nor a module.
text::PrintedFrame stack_line(std::string_view line) {
  text::PrintedFrame out;
  std::string_view text = trim(line);
  Cursor at(text);
  std::int64_t depth = 0;
  std::uint64_t address = 0;
  // The first is libbpf's.
  if (at.takes("%~[<%>]", depth, address) || (at.takes("0x%", address) && at.skip_blanks())) {
    out.offset = address;
    text = trim(at.rest());
  }
  out.module = take_module(text);
  if (const std::size_t plus = text::offset_begin(text); plus != std::string_view::npos) {
    at = Cursor(text.substr(plus));
    at.token();
    std::string_view source = trim(at.rest());
    if (text::take_line_number(source, out.line)) out.file = source;
    text = text.substr(0, plus);
  }
  if (text != "[unknown]" && text != "<null sym>") out.function = text;
  if (!out.function.empty() || !out.module.empty()) out.offset = kNoOffset;
  return out;
}

/// "Attaching to pid 5193, Ctrl+C to quit." -> 5193; -1 for the kernel, nothing for any other line.
std::optional<std::int64_t> attached_to(std::string_view line) {
  constexpr std::string_view kAttaching = "Attaching to ";
  const auto rest = text::behind(line, kAttaching);
  std::int64_t pid = 0;
  if (rest && rest->starts_with("kernel")) return -1;
  return rest && text::reads(*rest, "pid %", pid) ? std::optional(pid) : std::nullopt;
}

constexpr std::size_t kMaxFrames = 1'000'000;

class MemleakLog final : public text::ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (const auto time = heading_time(line)) {
      close();
      if (lines_.terminated()) open(*time);
      return;
    }
    if (const auto pid = attached_to(line)) {
      close();
      pid_ = *pid >= 0 ? std::optional(*pid) : std::nullopt;
      return;
    }
    Row row;
    const RowLine kind = row_line(line, row);
    if (!report_) {
      if (kind != RowLine::none) ++outside_;
      return;
    }
    if (kind != RowLine::none) {
      begin_row(kind, row);
    } else if (line.empty() || text::trim(line).empty()) {
      close_row();
    } else if (!text::is_blank(line.front())) {
      close();  // what follows is no longer of the report
    } else if (row_) {
      add_frame(line);
    }
  }

  void open(std::string_view time) {
    SnapshotFacts& facts = report_.emplace().facts();
    report_->add_heap_columns();
    facts.producer = "bcc memleak";
    facts.pid = pid_;
    facts.complete = false;  // the largest stacks only, and nothing younger than half a second
    if (!time.empty()) facts.comments.push_back("time of day " + std::string(time));
  }

  void begin_row(RowLine kind, const Row& row) {
    close_row();
    if (!lines_.terminated()) {
      cut();
    } else if (kind == RowLine::ok) {
      row_ = row;
      frames_.clear();
    } else {
      lose("rows with numbers beyond 2^63-1, left out");
    }
  }

  void add_frame(std::string_view line) {
    if (!lines_.terminated()) {
      row_.reset();
      cut();
      return;
    }
    const std::string_view text = text::trim(line);
    if (text::has_prefix(text, "stack information lost")) return;
    if (text::has_prefix(text, "addr = ")) return;
    if (frames_.size() == kMaxFrames)
      fail(ErrorCode::limit, "stack too deep: more than 1000000 frames", lines_.line_offset());
    frames_.push_back(text::frame_of(*report_, stack_line(line)));
  }

  void cut() { lose("the input ends inside a row, which was left out"); }

  void close_row() {
    if (!row_) return;
    report_->add_row(report_->stack(frames_), LabelSetId{}, std::array{row_->count, row_->bytes});
    row_.reset();
  }

  void close() {
    if (!report_) return;
    close_row();
    give_report();
  }

  void finish() override { close(); }

  void remark(Notes& notes) override {
    if (outside_ > 0) notes.add(Severity::warning, "rows outside a report, left out", std::nullopt, outside_);
  }

  std::optional<Row> row_;
  std::vector<FrameId> frames_;
  std::optional<std::int64_t> pid_;
  std::uint64_t outside_ = 0;
};

}  // namespace

constexpr Format kBccMemleak =
    text::log_format<MemleakLog, heading_time,
                     "no report: the input ends, expected \"[HH:MM:SS] Top N stacks with outstanding allocations:\"">(
        {"bcc-memleak", "outstanding allocations by bcc's memleak, a series", "*.txt, *.log",
         "single allocations (-a); offsets in functions; the date, which is not there"});

}  // namespace snapdiff::formats
