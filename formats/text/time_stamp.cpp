#include "formats/text/time_stamp.hpp"

#include <chrono>
#include <cmath>

#include "formats/text/scan.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::text {
namespace {

constexpr std::size_t kPrefixBytes = 64;

/// `count` digits at text[at] as a number, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  int out = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || !is_digit(text[i])) return -1;
    out = out * 10 + (text[i] - '0');
  }
  return out;
}

/// Moves `at` after a fraction of a second; nanoseconds.
std::int64_t fraction(std::string_view text, std::size_t& at) {
  if (at + 1 >= text.size() || (text[at] != '.' && text[at] != ',') || !is_digit(text[at + 1])) return 0;
  std::int64_t ns = 0;
  std::int64_t place = 100'000'000;
  for (++at; at < text.size() && is_digit(text[at]); ++at) {
    ns += place * (text[at] - '0');
    place /= 10;
  }
  return ns;
}

/// Reads "Z", "+02:00" or "+0200"; seconds east of UTC.
std::optional<int> zone(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  if (text[at] == 'Z') return 0;
  if (text[at] != '+' && text[at] != '-') return std::nullopt;
  const int hours = digits(text, at + 1, 2);
  const std::size_t minutes_at = at + 3 < text.size() && text[at + 3] == ':' ? at + 4 : at + 3;
  const int minutes = digits(text, minutes_at, 2);
  if (hours < 0 || hours > 18 || minutes < 0 || minutes > 59) return std::nullopt;
  const int seconds = hours * 3600 + minutes * 60;
  return text[at] == '-' ? -seconds : seconds;
}

/// Seconds since 1970 of a date and a time of day at text[at], by the places of their digits; what is between is not
/// looked at.
std::optional<std::int64_t> seconds_at(std::string_view text, std::size_t at) {
  const int year = digits(text, at, 4), month = digits(text, at + 5, 2), day = digits(text, at + 8, 2),
            hour = digits(text, at + 11, 2), minute = digits(text, at + 14, 2), second = digits(text, at + 17, 2);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 0 || month < 1 || day < 1 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60)
    return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + hour * 3600 + minute * 60 + second;
}

/// The date and time that begin at text[at].
std::optional<TimeStamp> date_and_time(std::string_view text, std::size_t at) {
  const int year = digits(text, at, 4);
  if (year < 1970 || year > 2200 || at + 19 > text.size()) return std::nullopt;
  const char separator = text[at + 4];
  if ((separator != '-' && separator != '/') || text[at + 7] != separator) return std::nullopt;
  const char between = text[at + 10];
  if ((between != ' ' && between != 'T' && between != '_') || text[at + 13] != ':' || text[at + 16] != ':')
    return std::nullopt;
  const std::optional<std::int64_t> seconds = seconds_at(text, at);
  if (!seconds) return std::nullopt;
  std::size_t end = at + 19;
  const std::int64_t ns = fraction(text, end);
  const std::optional<int> east = zone(text, end);
  return TimeStamp{(*seconds - east.value_or(0)) * 1'000'000'000 + ns, east.has_value()};
}

/// Seconds since 1970, between 2001 and 2200, in as many digits as a clock prints.
std::optional<TimeStamp> epoch_seconds(std::string_view text, std::size_t at, std::size_t& end) {
  end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  const std::int64_t seconds = whole_number(text.substr(at, end - at)).value_or(0);
  if (seconds < 1'000'000'000 || seconds > 7'258'118'400) return std::nullopt;
  const std::int64_t ns = fraction(text, end);
  return TimeStamp{seconds * 1'000'000'000 + ns, true};
}

}  // namespace

std::optional<TimeStamp> find_time(std::string_view line) {
  const std::string_view prefix = line.substr(0, kPrefixBytes);
  for (std::size_t i = 0; i + 19 <= prefix.size(); ++i) {
    if (!is_digit(prefix[i]) || (i > 0 && is_word(prefix[i - 1]))) continue;
    if (auto found = date_and_time(line, i)) return found;
  }
  const std::size_t at = !line.empty() && line[0] == '[' ? 1 : 0;
  std::size_t end = 0;
  auto found = epoch_seconds(line, at, end);
  const bool stands_alone = end < line.size() && (is_blank(line[end]) || line[end] == ']' || line[end] == ':');
  return stands_alone ? found : std::nullopt;
}

std::optional<TimeStamp> parse_time(std::string_view text) {
  text = trim(text);
  if (auto found = date_and_time(text, 0)) return found;
  std::size_t end = 0;
  auto found = epoch_seconds(text, 0, end);
  return end == text.size() ? found : std::nullopt;
}

std::optional<std::int64_t> nanoseconds_of(std::int64_t seconds) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(seconds, 1'000'000'000, &out)) return std::nullopt;
  return out;
}

std::optional<std::int64_t> nanoseconds_of(double seconds) {
  const double whole = std::floor(seconds);
  if (!(std::fabs(whole) < 9.2e9)) return std::nullopt;
  return static_cast<std::int64_t>(whole) * 1'000'000'000 +
         static_cast<std::int64_t>(std::llround((seconds - whole) * 1e9));
}

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' || text[19] == ',' ||
      (text[10] != 'T' && text[10] != 't' && text[10] != ' '))
    return std::nullopt;
  const std::optional<std::int64_t> seconds = seconds_at(text, 0);
  std::size_t end = 19;
  const std::int64_t ns = fraction(text, end);
  const std::string_view offset = text.substr(end);
  std::int64_t east = 0;
  if (offset != "Z" && offset != "z") {
    const int hours = digits(offset, 1, 2), minutes = digits(offset, 4, 2);
    if (offset.size() != 6 || (offset[0] != '+' && offset[0] != '-') || offset[3] != ':' || hours < 0 || hours > 23 ||
        minutes < 0 || minutes > 59)
      return std::nullopt;
    east = (hours * 60 + minutes) * (offset[0] == '-' ? -60 : 60);
  }
  const std::optional<std::int64_t> whole = seconds ? nanoseconds_of(*seconds - east) : std::nullopt;
  std::int64_t out = 0;
  return whole && checked_add(*whole, ns, out) ? std::optional(out) : std::nullopt;
}

}  // namespace snapdiff::formats::text
