#include "formats/tracemalloc/statistic_line.hpp"

#include "formats/text/pattern.hpp"
#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::tracemalloc {
namespace {

using namespace text;

/// The largest number taken: half of what 64 bits hold, so that a value less its growth always fits.
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;

/// Fields of Cursor::takes(): decimal digits up to kMost, without a sign and with one or without.
struct Count {
  std::int64_t value = 0;
  friend bool take_field(Cursor& at, Count& out) { return at.count(out.value) && out.value <= kMost; }
};

bool take_sign(Cursor& at) { return at.take('-') || (at.take('+'), false); }

struct SignedCount {
  std::int64_t value = 0;
  friend bool take_field(Cursor& at, SignedCount& out) {
    const bool negative = take_sign(at);
    Count count;
    if (!take_field(at, count)) return false;
    out.value = negative ? -count.value : count.value;
    return true;
  }
};

/// "-12.3 KiB", "12 B".
struct Amount {
  Quantity size;
  friend bool take_field(Cursor& at, Amount& out) {
    Decimal decimal;
    decimal.negative = take_sign(at);
    Count whole, tenth;
    if (!take_field(at, whole)) return false;
    decimal.digits = static_cast<std::uint64_t>(whole.value);
    if (at.take('.')) {
      if (whole.value > kMost / 10 || !take_field(at, tenth) || tenth.value > 9) return false;
      decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(tenth.value);
      decimal.fraction_digits = 1;
    }
    std::uint64_t bytes = 1;
    for (const std::string_view unit : {" B", " KiB", " MiB", " GiB", " TiB"}) {
      if (at.take(unit)) {
        const std::optional<Quantity> size = scale(decimal, bytes);
        out.size = size.value_or(Quantity{});
        return size && std::abs(size->value) <= kMost;
      }
      bytes *= 1024;
    }
    return false;
  }
};

/// The digits that end at text[end].
std::string_view digits_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

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

/// What follows "FILE:LINE: size=".
bool read_values(std::string_view text, StatisticLine& out) {
  Cursor in(text);
  Amount size, growth, average;
  SignedCount count, more;
  const bool difference = in.takes("% (%), count=% (%)", size, growth, count, more);
  if (!difference && !in.takes("%, count=%", size, count)) return false;
  // It is printed wherever there are blocks: without it the count may be cut.
  if (!in.takes(", average=%", average) && !difference && count.value != 0) return false;
  if (!in.at_end() || size.size.value < 0 || count.value < 0) return false;
  out.size = size.size;
  out.count = count.value;
  if (difference) {
    out.size_growth = growth.size;
    out.count_growth = more.value;
  }
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
  Count count;
  Amount size;
  if (!reads(text.substr(at - digits_before(text, at).size()), "% memory blocks?: %$", count, size)) return out;
  out.count = count.value;
  out.size = size.size;
  if (out.size.value >= 0) out.kind = LineKind::blocks;
  return out;
}

StatisticLine frame(std::string_view text) {
  static const Pattern kFrame(R"re(^(?:.*?[ \t])??File "(.*)", line (.*)$)re");
  StatisticLine out;
  std::string_view line;
  if (behind(text, "File \"") && kFrame.in(text, out.file, line)) {
    const std::optional<std::int64_t> number = whole_number(line);
    const bool fits = number && *number <= std::numeric_limits<std::int32_t>::max();
    out.line = fits ? static_cast<std::int32_t>(*number) : 0;
    out.kind = fits ? LineKind::frame : LineKind::damaged;
  }
  return out;
}

/// "#1: app/cache.py:9: 982.4 KiB", whatever is before it.
StatisticLine ranked(std::string_view text) {
  StatisticLine out;
  const std::size_t mark = text.find('#');
  if (mark == std::string_view::npos || (mark > 0 && text[mark - 1] != ' ' && text[mark - 1] != ':')) return out;
  Cursor in(text.substr(mark + 1));
  Count rank;
  if (!in.takes("%: ", rank)) return out;
  const std::size_t end = in.rest().rfind(": ");
  if (end == std::string_view::npos) return out;
  out.count = rank.value;
  out.file = in.rest().substr(0, end);
  Amount size;
  if (!take_line(out.file, out) || !reads(in.rest().substr(end), ": %$", size)) return out;
  out.size = size.size;
  if (out.line >= 0 && out.size.value >= 0) out.kind = LineKind::ranked;
  return out;
}

/// "193 other: 318.2 KiB" and "Total allocated size: 1303.1 KiB".
StatisticLine below_ranked(std::string_view text) {
  constexpr std::string_view kOther = " other: ";
  StatisticLine out;
  std::optional<std::string_view> value = behind(text, "Total allocated size: ");
  const bool is_total = value.has_value();
  if (!is_total) {
    value = behind(text, kOther);
    if (!value) return out;
    Count count;
    if (!reads(digits_before(text, text.find(kOther)), "%", count)) return out;
    out.count = count.value;
  }
  Amount size;
  if (!reads(*value, "%$", size) || size.size.value < 0) return out;
  out.size = size.size;
  out.kind = is_total ? LineKind::total : LineKind::rest;
  return out;
}

/// "<Frame filename='app.py' lineno=9>"
bool take_shown_frame(Cursor& at, StatisticLine& out) {
  if (!at.take("<Frame filename=") || at.at_end()) return false;
  const std::string end = std::string(1, at.peek()) + " lineno=";
  at.take(at.peek());
  out.file = at.rest().substr(0, at.rest().find(end));
  out.kind = LineKind::frame;
  std::int64_t line = 0;
  if (!at.take(out.file) || !at.take(end) || !at.takes("%>", line)) return false;
  if (line > std::numeric_limits<std::int32_t>::max()) return false;
  out.line = static_cast<std::int32_t>(line);
  return true;
}

}  // namespace

StatisticLine take_shown(std::string_view& text, std::vector<StatisticLine>& frames) {
  frames.clear();
  const std::optional<std::string_view> shown = behind(text, "<Statistic");
  if (!shown) return {};
  text = *shown;
  Cursor at(text);
  StatisticLine out;
  out.kind = LineKind::damaged;
  const bool difference = at.take("Diff");
  if (!at.take(" traceback=<Traceback (")) return out;
  do {
    if (!take_shown_frame(at, frames.emplace_back())) return out;
  } while (at.takes(",? ?") && !at.take(")"));
  Count all, size, count;
  SignedCount size_growth, count_growth;
  at.takes(" total_nframe=%", all);
  if (difference ? !at.takes("> size=% (%) count=% (%)>", size, size_growth, count, count_growth)
                 : !at.takes("> size=% count=%>", size, count))
    return out;
  out = frames.back();
  out.kind = difference ? LineKind::difference : LineKind::statistic;
  out.size.value = size.value;
  out.count = count.value;
  out.size_growth.value = size_growth.value;
  out.count_growth = count_growth.value;
  text = at.rest();
  return out;
}

StatisticLine parse_line(std::string_view text) {
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  if (StatisticLine found = statistic(text); found.kind != LineKind::other) return found;
  if (StatisticLine found = blocks(text); found.kind != LineKind::other) return found;
  if (StatisticLine found = frame(text); found.kind != LineKind::other) return found;
  if (StatisticLine found = ranked(text); found.kind != LineKind::other) return found;
  return below_ranked(text);
}

}  // namespace snapdiff::formats::tracemalloc
