#include "formats/heaptrack/moment.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "formats/input/read_failure.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::heaptrack {
namespace {

[[noreturn]] void no_point(const std::string& point) {
  fail(ErrorCode::usage, "no point '" + point +
                             "': expected end, peak, first, 12.5s, 500ms, a number of events, every:500ms or "
                             "every:1000 (events)");
}

/// "12.5s" or "500ms" in milliseconds.
std::optional<std::uint64_t> milliseconds(std::string_view text) {
  constexpr double kMost = 1e15;
  double factor = 1000;
  if (text.size() > 2 && text.substr(text.size() - 2) == "ms") {
    factor = 1;
    text.remove_suffix(2);
  } else if (text.size() > 1 && text.back() == 's') {
    text.remove_suffix(1);
  } else {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value * factor < kMost)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(std::llround(value * factor));
}

}  // namespace

Moment parse_moment(const std::string& point) {
  using Kind = Moment::Kind;
  constexpr std::string_view kEvery = "every:";
  if (point == "end" || point == "last") return Moment{Kind::end};
  if (point == "peak") return Moment{Kind::peak};
  if (point == "first") return Moment{Kind::first_stamp};
  const bool every = point.starts_with(kEvery);
  const std::string_view number = every ? std::string_view(point).substr(kEvery.size()) : std::string_view(point);
  if (const auto time = milliseconds(number)) {
    if (every && *time == 0) no_point(point);
    return Moment{every ? Kind::every_time : Kind::at_time, *time};
  }
  const auto events = text::whole_number(number);
  if (!events || (every && *events == 0)) no_point(point);
  return Moment{every ? Kind::every_events : Kind::after_events, static_cast<std::uint64_t>(*events)};
}

}  // namespace snapdiff::formats::heaptrack
