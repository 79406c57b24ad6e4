#include "analyzer/cli/option_times.hpp"

#include <charconv>
#include <chrono>
#include <ctime>
#include <limits>
#include <system_error>

#include "analyzer/base/failure.hpp"
#include "analyzer/session/document.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// "2026-11-01", with or without a time of day.
std::optional<std::uint64_t> calendar_time(const std::string& text) {
  std::string plain = text;
  if (plain.ends_with('Z')) plain.pop_back();
  if (plain.size() > 10 && plain[10] == 'T') plain[10] = ' ';
  for (const char* const form : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* const end = strptime(plain.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    const std::time_t seconds = timegm(&parts);
    if (seconds < 0) return std::nullopt;
    return static_cast<std::uint64_t>(seconds) * kSecondNs;
  }
  return std::nullopt;
}

Result<std::uint64_t> parse_duration(const std::string& text) {
  constexpr std::string_view kUnits = "smhdwy";
  constexpr std::uint64_t kSeconds[] = {1, 60, 3600, 86'400, 604'800, 31'536'000};
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const auto number =
      unit == std::string_view::npos ? std::nullopt : digits(std::string_view(text).substr(0, text.size() - 1));
  if (!number || *number == 0 || *number > std::numeric_limits<std::int32_t>::max() / kSeconds[unit])
    return Error{ErrorCode::usage, "found '" + text + "', expected a duration like 30s, 5m, 1h or 14d"};
  return *number * kSeconds[unit] * kSecondNs;
}

Result<std::uint64_t> parse_moment(const std::string& text, std::optional<std::uint64_t> base) {
  if (text.starts_with('+') && base) {
    Result<std::uint64_t> after = parse_duration(text.substr(1));
    if (!after) return after;
    return *base + *after;
  }
  if (text.starts_with('@')) {
    if (const auto seconds = digits(std::string_view(text).substr(1)); seconds && *seconds < 0xffffffffU)
      return *seconds * kSecondNs;
  }
  if (const auto time = calendar_time(text)) return *time;
  if (const Result<std::uint64_t> ago = parse_duration(text)) {
    const std::uint64_t now = current_time_ns();
    return now > *ago ? now - *ago : 0;
  }
  return Error{ErrorCode::usage, "found '" + text +
                                     "', expected a time like '2026-11-01 12:00' (UTC), @1764000000, 14d" +
                                     (base ? " or +24h" : "")};
}

/// Of an option that was given. Throws usage, with its name.
std::optional<std::uint64_t> of_option(std::string_view option, const Result<std::uint64_t>& parsed) {
  if (!parsed) fail(ErrorCode::usage, std::string(option) + ": " + parsed.error().message);
  return *parsed;
}

}  // namespace

std::uint64_t current_time_ns() {
  if (const auto epoch = session::source_date_epoch_s(); epoch && *epoch >= 0)
    return static_cast<std::uint64_t>(*epoch) * kSecondNs;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

std::optional<std::uint64_t> duration_of(std::string_view option, const std::string& text) {
  return text.empty() ? std::nullopt : of_option(option, parse_duration(text));
}

std::optional<std::uint64_t> moment_of(std::string_view option, const std::string& text,
                                       std::optional<std::uint64_t> base) {
  return text.empty() ? std::nullopt : of_option(option, parse_moment(text, base));
}

std::string moment_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / kSecondNs);
  std::tm parts{};
  char text[32];
  if (gmtime_r(&seconds, &parts) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) == 0)
    return "@" + std::to_string(seconds);
  return text;
}

}  // namespace snapdiff::cli
