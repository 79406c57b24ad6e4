#include "formats/tracemalloc/statistic_line.hpp"

#include <array>
#include <limits>

#include "formats/text/printed_frame.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::tracemalloc {
namespace {

using namespace text;

/// The largest number taken: half of what 64 bits hold, so that a value less its growth always fits.
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;

/// Reads a line from the left; after the first failure nothing is read any more.
class Reader {
 public:
  explicit Reader(std::string_view text) : at_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return at_.at_end(); }
  std::string_view rest() const { return at_.rest(); }
  bool take(std::string_view word) { return good_ && at_.take(word); }
  void expect(std::string_view word) { good_ = take(word); }
  bool sign() {
    if (take("-")) return true;
    take("+");
    return false;
  }
  /// Digits, at most `most`.
  std::int64_t number(std::int64_t most = kMost) {
    std::int64_t value = 0;
    good_ = good_ && at_.count(value) && value <= most;
    return good_ ? value : 0;
  }
  std::int64_t signed_number() {
    const bool negative = sign();
    const std::int64_t value = number();
    return negative ? -value : value;
  }
  Quantity size() {
    Decimal decimal;
    decimal.negative = sign();
    decimal.digits = static_cast<std::uint64_t>(number());
    if (take(".")) {
      good_ = decimal.digits <= kMost / 10;
      decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(number(9));
      decimal.fraction_digits = 1;
    }
    expect(" ");
    const std::optional<Quantity> size = good_ ? scale(decimal, unit()) : std::nullopt;
    good_ = good_ && size && std::abs(size->value) <= kMost;
    return good_ ? *size : Quantity{};
  }

 private:
  std::uint64_t unit() {
    std::uint64_t bytes = 1;
    for (const std::string_view name : {"B", "KiB", "MiB", "GiB", "TiB"}) {
      if (take(name)) return bytes;
      bytes *= 1024;
    }
    good_ = false;
    return 1;
  }

  Cursor at_;
  bool good_ = true;
};

bool begins_absolute(std::string_view text) {
  if (text.empty()) return false;
  if (text[0] == '/' || text[0] == '<') return true;
  if (text.substr(0, 2) == "\\\\") return true;
  return text.size() > 2 && is_letter(text[0]) && text[1] == ':' && (text[2] == '\\' || text[2] == '/');
}

/// The file in "INFO:root:/srv/app.py" and "[12:00:03] C:\app\x.py": what a log puts before a line holds no slash.
std::string_view without_log_prefix(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t' || text[i - 1] == ':' ||
                        text[i - 1] == ']' || text[i - 1] == ')' || text[i - 1] == '|';
    if (starts && begins_absolute(text.substr(i))) return text.substr(i);
    if (text[i] == '/' || text[i] == '\\') break;
  }
  return text;
}

std::string_view trimmed_right(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// What follows "FILE:LINE: size=".
bool read_values(std::string_view text, StatisticLine& out) {
  Reader in(text);
  out.size = in.size();
  const bool difference = in.take(" (");
  if (difference) {
    out.size_growth = in.size();
    in.expect(")");
  }
  in.expect(", count=");
  out.count = in.signed_number();
  if (difference) {
    in.expect(" (");
    out.count_growth = in.signed_number();
    in.expect(")");
  }
  const bool average = in.take(", average=");
  if (average) in.size();
  // It is printed wherever there are blocks: without it the count may be cut.
  if (!average && !difference && out.count != 0) return false;
  if (!in.good() || !in.at_end() || out.size.value < 0 || out.count < 0) return false;
  out.kind = difference ? LineKind::difference : LineKind::statistic;
  return true;
}

/// FILE may hold anything, colons too: the line number is looked for from the right. One beyond 32 bits is -1.
bool take_line(std::string_view& place, StatisticLine& out) {
  std::int64_t line = 0;
  if (!take_line_number(place, line)) return false;
  out.line = line <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(line) : -1;
  return true;
}

StatisticLine statistic(std::string_view text) {
  constexpr std::string_view kSize = ": size=";
  StatisticLine out;
  const std::size_t size = text.rfind(kSize);
  if (size == std::string_view::npos) return out;
  std::string_view place = text.substr(0, size);
  if (!take_line(place, out)) return out;
  out.kind = LineKind::damaged;
  out.file = without_log_prefix(place);
  if (out.line >= 0) read_values(text.substr(size + kSize.size()), out);
  return out;
}

/// "12 memory blocks: 1.5 KiB", whatever is before it.
StatisticLine blocks(std::string_view text) {
  StatisticLine out;
  const std::size_t at = text.find(" memory block");
  if (at == std::string_view::npos) return out;
  std::size_t digits = at;
  while (digits > 0 && is_digit(text[digits - 1])) --digits;
  if (digits == at) return out;
  Reader in(text.substr(digits));
  out.count = in.number();
  in.take(" memory blocks");
  in.take(" memory block");
  in.expect(": ");
  out.size = in.size();
  out.kind = in.good() && in.at_end() && out.size.value >= 0 ? LineKind::blocks : LineKind::other;
  return out;
}

StatisticLine frame(std::string_view text) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  StatisticLine out;
  const std::size_t file = text.find(kFile);
  const std::size_t line = text.rfind(kLine);
  if (file == std::string_view::npos || line == std::string_view::npos || line < file + kFile.size()) return out;
  if (file > 0 && text[file - 1] != ' ' && text[file - 1] != '\t') return out;
  Reader in(text.substr(line + kLine.size()));
  out.line = static_cast<std::int32_t>(in.number(std::numeric_limits<std::int32_t>::max()));
  out.file = text.substr(file + kFile.size(), line - file - kFile.size());
  out.kind = in.good() && in.at_end() ? LineKind::frame : LineKind::damaged;
  return out;
}

/// "#1: app/cache.py:9: 982.4 KiB", whatever is before it.
StatisticLine ranked(std::string_view text) {
  StatisticLine out;
  const std::size_t mark = text.find('#');
  if (mark == std::string_view::npos || (mark > 0 && text[mark - 1] != ' ' && text[mark - 1] != ':')) return out;
  Reader in(text.substr(mark + 1));
  out.count = in.number();
  in.expect(": ");
  if (!in.good()) return out;
  const std::size_t size = in.rest().rfind(": ");
  if (size == std::string_view::npos) return out;
  out.file = in.rest().substr(0, size);
  if (!take_line(out.file, out)) return out;
  Reader value(in.rest().substr(size + 2));
  out.size = value.size();
  if (out.line >= 0 && value.good() && value.at_end() && out.size.value >= 0) out.kind = LineKind::ranked;
  return out;
}

/// "193 other: 318.2 KiB" and "Total allocated size: 1303.1 KiB".
StatisticLine below_ranked(std::string_view text) {
  constexpr std::string_view kOther = " other: ";
  constexpr std::string_view kTotal = "Total allocated size: ";
  StatisticLine out;
  const std::size_t total = text.find(kTotal);
  const std::size_t other = text.find(kOther);
  if (total == std::string_view::npos && other == std::string_view::npos) return out;
  const bool is_total = total != std::string_view::npos;
  if (!is_total) {
    std::size_t digits = other;
    while (digits > 0 && is_digit(text[digits - 1])) --digits;
    Reader count(text.substr(digits, other - digits));
    out.count = count.number();
    if (!count.good()) return out;
  }
  Reader value(text.substr(is_total ? total + kTotal.size() : other + kOther.size()));
  out.size = value.size();
  if (value.good() && value.at_end() && out.size.value >= 0) out.kind = is_total ? LineKind::total : LineKind::rest;
  return out;
}

}  // namespace

StatisticLine parse_line(std::string_view text) {
  text = trimmed_right(text);
  if (StatisticLine found = statistic(text); found.kind != LineKind::other) return found;
  if (StatisticLine found = blocks(text); found.kind != LineKind::other) return found;
  if (StatisticLine found = frame(text); found.kind != LineKind::other) return found;
  if (StatisticLine found = ranked(text); found.kind != LineKind::other) return found;
  return below_ranked(text);
}

}  // namespace snapdiff::formats::tracemalloc
