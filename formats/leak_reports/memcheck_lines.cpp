#include "formats/leak_reports/memcheck_lines.hpp"

#include <algorithm>
#include <iterator>

#include "formats/text/code_location.hpp"
#include "formats/text/grouped_number.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::leak_reports {
namespace {

using text::Cursor;
using text::is_digit;
using text::take_grouped;
using text::trim;

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

bool take_amount(Cursor& at, std::int64_t& out) { return take_grouped(at, out) && skip_delta(at); }

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
  if (!take_amount(at, out.leaked.bytes)) return std::nullopt;
  if (Cursor parts = at; parts.take(" (")) {
    if (!take_amount(parts, out.leaked.bytes) || !parts.take(" direct, ") || !take_amount(parts, out.indirect) ||
        !parts.take(" indirect)"))
      return std::nullopt;
    at = parts;
  }
  if (!at.take(" bytes in ") || !take_amount(at, out.leaked.blocks) || !at.take(" blocks are ")) return std::nullopt;
  const std::size_t end = at.rest().find(kInRecord);
  if (end == std::string_view::npos) return std::nullopt;
  out.kind = at.rest().substr(0, end);
  if (!is_kind(out.kind)) return std::nullopt;
  at = Cursor(at.rest().substr(end + kInRecord.size()));
  std::int64_t of = 0;
  if (!take_grouped(at, out.number) || !at.take(" of ") || !take_grouped(at, of)) return std::nullopt;
  return out;
}

bool memcheck_frame(std::string_view text, LeakFrame& frame) {
  Cursor at(text);
  at.skip_blanks();
  if (!at.take("at ") && !at.take("by ")) return false;
  const text::CodeLocation location = text::parse_location(trim(at.rest()));
  frame = static_cast<const text::PrintedFrame&>(location);
  return location.address != kNoOffset;
}

std::optional<SummaryLine> summary_line(std::string_view text) {
  const std::string_view line = trim(text);
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  SummaryLine out;
  out.kind = line.substr(0, colon);
  if (!is_kind(out.kind) && out.kind != "suppressed") return std::nullopt;
  Cursor at(line.substr(colon + 2));
  if (!take_amount(at, out.leaked.bytes) || !at.take(" bytes in ") || !take_amount(at, out.leaked.blocks) ||
      !at.take(" blocks"))
    return std::nullopt;
  return out;
}

bool heap_summary_line(std::string_view text, std::vector<Counter>& counters) {
  Cursor at(trim(text));
  if (at.take("in use at exit: ")) {
    Leaked leaked;
    if (!take_grouped(at, leaked.bytes) || !at.take(" bytes in ") || !take_grouped(at, leaked.blocks)) return false;
    counters.push_back({"in_use_at_exit", leaked.bytes, "bytes", false, 0});
    counters.push_back({"blocks_in_use_at_exit", leaked.blocks, "count", false, 0});
    return true;
  }
  if (!at.take("total heap usage: ")) return false;
  std::int64_t allocs = 0;
  std::int64_t frees = 0;
  std::int64_t bytes = 0;
  if (!take_grouped(at, allocs) || !at.take(" allocs, ") || !take_grouped(at, frees) || !at.take(" frees, ") ||
      !take_grouped(at, bytes))
    return false;
  counters.push_back({"allocs", allocs, "count", true, 0});
  counters.push_back({"frees", frees, "count", true, 0});
  counters.push_back({"allocated", bytes, "bytes", true, 0});
  return true;
}

}  // namespace snapdiff::formats::leak_reports
