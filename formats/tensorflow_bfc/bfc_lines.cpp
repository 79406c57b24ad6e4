#include "formats/tensorflow_bfc/bfc_lines.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "formats/text/scan.hpp"

namespace snapdiff::formats::tensorflow_bfc {
namespace {

using text::Cursor;
using text::has_prefix;
using text::is_digit;
using text::Number;
using text::trim;

bool take_whole(Cursor& at, std::int64_t& out) { return is_digit(at.peek()) && at.decimal(out) == Number::ok; }

/// `digits` digits at `at`, then `behind` ('\0': nothing).
bool take_field(Cursor& at, int digits, char behind, int& out) {
  out = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = at.peek();
    if (!is_digit(c)) return false;
    out = out * 10 + (c - '0');
    at.take(c);
  }
  return behind == '\0' || at.take(behind);
}

/// "2026-01-01 10:00:00.000000" anywhere in `prefix`.
std::optional<std::int64_t> time_in(std::string_view prefix) {
  for (std::size_t dash = prefix.find('-'); dash != std::string_view::npos; dash = prefix.find('-', dash + 1)) {
    if (dash < 4) continue;
    Cursor at(prefix.substr(dash - 4));
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, micros = 0;
    if (!take_field(at, 4, '-', year) || !take_field(at, 2, '-', month) || !take_field(at, 2, ' ', day) ||
        !take_field(at, 2, ':', hour) || !take_field(at, 2, ':', minute) || !take_field(at, 2, '\0', second))
      continue;
    if (at.take('.') && !take_field(at, 6, '\0', micros)) micros = 0;
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day))};
    // Nanoseconds of 64 bits end in 2262.
    if (!date.ok() || year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 60) continue;
    const auto since =
        sys_days(date).time_since_epoch() + hours(hour) + minutes(minute) + seconds(second) + microseconds(micros);
    return duration_cast<nanoseconds>(since).count();
  }
  return std::nullopt;
}

}  // namespace

std::optional<LogLine> bfc_line(std::string_view line) {
  constexpr std::string_view kFile = "bfc_allocator.cc:";
  const std::size_t file = line.find(kFile);
  if (file == std::string_view::npos) return std::nullopt;
  Cursor at(line.substr(file + kFile.size()));
  std::int64_t number = 0;
  if (!take_whole(at, number) || !at.take(']')) return std::nullopt;
  at.take(' ');
  return LogLine{time_in(line.substr(0, file)), at.rest()};
}

std::optional<RoundedSize> rounded_size(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"B", 1.0}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  std::size_t end = 0;
  double value = 0;
  double step = 1;
  bool fraction = false;
  for (; end < text.size() && (is_digit(text[end]) || (text[end] == '.' && !fraction)); ++end) {
    if (text[end] == '.') {
      fraction = true;
      continue;
    }
    value = value * 10 + (text[end] - '0');
    if (fraction) step /= 10;
  }
  if (end == 0 || !is_digit(text.front())) return std::nullopt;
  for (const auto& [unit, scale] : kUnits) {
    if (text.substr(end) != unit) continue;
    const double bytes = value * step * scale;
    if (!(bytes < 0x1p62)) return std::nullopt;
    const bool exact = scale == 1.0 && !fraction;
    return RoundedSize{std::llround(bytes), exact ? 0 : static_cast<std::int64_t>(std::ceil(step * scale / 2))};
  }
  return std::nullopt;
}

std::optional<OutOfMemoryLine> out_of_memory(std::string_view body) {
  constexpr std::string_view kAllocator = "Allocator (";
  constexpr std::string_view kRanOut = ") ran out of memory trying to allocate ";
  if (!has_prefix(body, kAllocator)) return std::nullopt;
  const std::size_t end = body.find(kRanOut);
  if (end == std::string_view::npos) return std::nullopt;
  OutOfMemoryLine out;
  out.allocator = body.substr(kAllocator.size(), end - kAllocator.size());
  std::string_view rest = body.substr(end + kRanOut.size());
  std::string_view size = rest.substr(0, rest.find(' '));
  while (!size.empty() && size.back() == '.') size.remove_suffix(1);
  out.asked = rounded_size(size);
  constexpr std::string_view kRounded = "(rounded to ";
  if (const std::size_t found = rest.find(kRounded); found != std::string_view::npos) {
    Cursor at(rest.substr(found + kRounded.size()));
    std::int64_t bytes = 0;
    if (take_whole(at, bytes) && at.take(')')) out.asked = RoundedSize{bytes, 0};
  }
  return out;
}

std::optional<std::string_view> dump_for(std::string_view body) {
  constexpr std::string_view kDump = "BFCAllocator dump for ";
  if (!has_prefix(body, kDump)) return std::nullopt;
  return trim(body.substr(kDump.size()));
}

ChunkLine chunk_line(std::string_view body, Chunk& out) {
  Cursor at(trim(body));
  ChunkLine kind = ChunkLine::in_use;
  if (at.take("Free")) {
    kind = ChunkLine::free;
  } else if (!at.take("InUse") && !at.take("Chunk")) {
    return ChunkLine::none;
  }
  at.skip_blanks();
  if (!at.take("at ")) return ChunkLine::none;
  at.token();
  if (!at.take(" of size ")) return ChunkLine::none;
  if (!take_whole(at, out.size)) return ChunkLine::unreadable;
  out.op = {};
  if (at.take(" by op ")) {
    const std::string_view rest = at.rest();
    out.op = rest.substr(0, rest.find(" action_count "));
  }
  return kind;
}

std::optional<SizeSummary> size_summary(std::string_view body) {
  Cursor at(trim(body));
  SizeSummary out;
  if (!take_whole(at, out.count) || !at.take(" Chunks of size ") || !take_whole(at, out.size) ||
      !at.take(" totalling "))
    return std::nullopt;
  return out;
}

std::optional<StatLine> stat_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  StatLine out;
  out.name = trim(line.substr(0, colon));
  Cursor at(trim(line.substr(colon + 1)));
  if (!take_whole(at, out.value) || !at.at_end()) return std::nullopt;
  return out;
}

}  // namespace snapdiff::formats::tensorflow_bfc
