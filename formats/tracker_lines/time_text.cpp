#include "formats/tracker_lines/time_text.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>

#include "snapdiff/checked.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

/// Takes digits and separators off the front of a text; `good` stays false once something did not fit.
struct Scanner {
  std::string_view text;
  bool good = true;

  int number(std::size_t digits) {
    int value = 0;
    if (text.size() < digits) good = false;
    for (std::size_t i = 0; good && i < digits; ++i) {
      if (text[i] < '0' || text[i] > '9') good = false;
      value = value * 10 + (text[i] - '0');
    }
    if (good) text.remove_prefix(digits);
    return value;
  }
  bool take(std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
  }
  void need(std::string_view any_of) { good = take(any_of) && good; }
};

std::int64_t fraction(Scanner& in) {
  std::int64_t nanoseconds = 0;
  std::int64_t unit = kNanosecondsPerSecond;
  std::size_t digits = 0;
  for (; digits < in.text.size() && in.text[digits] >= '0' && in.text[digits] <= '9'; ++digits) {
    unit /= 10;
    nanoseconds += unit * (in.text[digits] - '0');
  }
  in.good = in.good && digits > 0;
  in.text.remove_prefix(digits);
  return nanoseconds;
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::int64_t seconds) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(seconds, kNanosecondsPerSecond, &out)) return std::nullopt;
  return out;
}

std::optional<std::int64_t> nanoseconds_of(double seconds) {
  const double whole = std::floor(seconds);
  if (!(std::fabs(whole) < 9.2e9)) return std::nullopt;
  return static_cast<std::int64_t>(whole) * kNanosecondsPerSecond +
         static_cast<std::int64_t>(std::llround((seconds - whole) * 1e9));
}

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  Scanner in{text};
  const int year = in.number(4);
  in.need("-");
  const int month = in.number(2);
  in.need("-");
  const int day = in.number(2);
  in.need("Tt ");
  const int hour = in.number(2);
  in.need(":");
  const int minute = in.number(2);
  in.need(":");
  const int second = in.number(2);
  const std::int64_t nanoseconds = in.take(".") ? fraction(in) : 0;
  std::int64_t offset_minutes = 0;
  if (!in.take("Zz")) {
    const bool west = in.take("-");
    if (!west) in.need("+");
    const int hours = in.number(2);
    in.need(":");
    const int minutes = in.number(2);
    if (hours > 23 || minutes > 59) return std::nullopt;
    offset_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  // 60 is a leap second: the moment after :59.
  if (!in.good || !in.text.empty() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  const std::int64_t seconds = days * 86400 + hour * 3600 + (minute - offset_minutes) * 60 + second;
  const std::optional<std::int64_t> whole = nanoseconds_of(seconds);
  std::int64_t out = 0;
  if (!whole || !checked_add(*whole, nanoseconds, out)) return std::nullopt;
  return out;
}

}  // namespace snapdiff::formats::tracker_lines
