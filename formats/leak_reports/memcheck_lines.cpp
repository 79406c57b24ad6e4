#include "formats/leak_reports/memcheck_lines.hpp"

#include "formats/text/scan.hpp"

namespace snapdiff::formats::leak_reports {
namespace {

using namespace text;

constexpr std::string_view kInRecord = " in loss record ";

/// " (+24)", the growth since the check before: read over.
bool skip_delta(Cursor& at) {
  Cursor ahead = at;
  std::int64_t ignored = 0;
  if (!ahead.take(" (") || (!ahead.take('+') && !ahead.take('-'))) return true;
  if (!take_grouped(ahead, ignored) || !ahead.take(')')) return false;
  at = ahead;
  return true;
}

/// A number with groups, and its growth.
struct Amount {
  std::int64_t& to;
  friend bool take_field(Cursor& at, const Amount& out) { return take_grouped(at, out.to) && skip_delta(at); }
};

bool is_kind(std::string_view kind) {
  return std::find(std::begin(kLeakKinds), std::end(kLeakKinds), kind) != std::end(kLeakKinds);
}

/// "00:00:00:01.234 " of --time-stamp=yes.
void skip_time(Cursor& at) {
  Cursor ahead = at;
  while (is_digit(ahead.peek()) || ahead.peek() == ':' || ahead.peek() == '.') ahead.take(ahead.peek());
  if (ahead.take(' ')) at = ahead;
}

}  // namespace

std::optional<MemcheckLine> memcheck_line(std::string_view line) {
  for (std::size_t mark = line.find("=="); mark != std::string_view::npos; mark = line.find("==", mark + 1)) {
    Cursor at(line.substr(mark + 2));
    if (!is_digit(at.peek())) continue;
    skip_time(at);
    MemcheckLine out;
    if (!at.count(out.pid) || !at.take("==")) continue;
    at.take(' ');
    out.text = at.rest();
    return out;
  }
  return std::nullopt;
}

bool is_loss_record(std::string_view text) { return text.find(kInRecord) != std::string_view::npos; }

std::optional<LossRecord> loss_record(std::string_view text) {
  Cursor at(trim(text));
  LossRecord out;
  if (!at.takes("%", Amount{out.leaked.bytes})) return std::nullopt;
  at.takes(" (% direct, % indirect)", Amount{out.leaked.bytes}, Amount{out.indirect});
  if (!at.takes(" bytes in % blocks are ", Amount{out.leaked.blocks})) return std::nullopt;
  const std::size_t end = at.rest().find(kInRecord);
  if (end == std::string_view::npos) return std::nullopt;
  out.kind = at.rest().substr(0, end);
  if (!is_kind(out.kind)) return std::nullopt;
  std::int64_t of = 0;
  return given(reads(at.rest().substr(end + kInRecord.size()), "% of %", Amount{out.number}, Amount{of}), out);
}

bool memcheck_frame(std::string_view text, LeakFrame& frame) {
  Cursor at(text);
  at.skip_blanks();
  if (!at.take("at ") && !at.take("by ")) return false;
  const CodeLocation location = parse_location(trim(at.rest()));
  frame = static_cast<const PrintedFrame&>(location);
  return location.address != kNoOffset;
}

std::optional<SummaryLine> summary_line(std::string_view text) {
  const std::string_view line = trim(text);
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  SummaryLine out;
  out.kind = line.substr(0, colon);
  if (!is_kind(out.kind) && out.kind != "suppressed") return std::nullopt;
  return given(
      reads(line.substr(colon + 2), "% bytes in % blocks", Amount{out.leaked.bytes}, Amount{out.leaked.blocks}), out);
}

bool heap_summary_line(std::string_view text, std::vector<Counter>& counters) {
  Cursor at(trim(text));
  if (Leaked leaked; at.takes("in use at exit: % bytes in %", Amount{leaked.bytes}, Amount{leaked.blocks})) {
    counters.push_back({"in_use_at_exit", leaked.bytes, "bytes", false, 0});
    counters.push_back({"blocks_in_use_at_exit", leaked.blocks, "count", false, 0});
    return true;
  }
  std::int64_t allocs = 0, frees = 0, bytes = 0;
  if (!at.takes("total heap usage: % allocs, % frees, %", Amount{allocs}, Amount{frees}, Amount{bytes})) return false;
  counters.push_back({"allocs", allocs, "count", true, 0});
  counters.push_back({"frees", frees, "count", true, 0});
  counters.push_back({"allocated", bytes, "bytes", true, 0});
  return true;
}

}  // namespace snapdiff::formats::leak_reports
