#include <optional>
#include <string>
#include <string_view>

#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/metric_text.hpp"

/// tf.config.experimental.get_memory_info: the dictionary as Python prints it, and a line that is often
/// printed around it.
namespace snapdiff::formats::metric_log {
namespace {

/// Moves `at` over blanks, then over `part`.
bool accept(std::string_view text, std::size_t& at, std::string_view part) {
  while (at < text.size() && is_blank(text[at])) ++at;
  if (!text.substr(at).starts_with(part)) return false;
  at += part.size();
  return true;
}

bool accept_integer(std::string_view text, std::size_t& at, std::int64_t& out) {
  while (at < text.size() && is_blank(text[at])) ++at;
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (!parse_integer(text.substr(at, end - at), out)) return false;
  at = end;
  return true;
}

bool accept_key(std::string_view text, std::size_t& at, std::string_view key) {
  const std::size_t begin = at;
  for (const std::string_view quote : {std::string_view("'"), std::string_view("\"")}) {
    at = begin;
    if (accept(text, at, std::string(quote).append(key).append(quote)) && accept(text, at, ":")) return true;
  }
  at = begin;
  return false;
}

/// {'current': 300000000, 'peak': 310000000}
bool read_dict(std::string_view text, std::int64_t& current, std::int64_t& peak) {
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
    std::size_t at = open + 1;
    if (accept_key(text, at, "current") && accept_integer(text, at, current) && accept(text, at, ",") &&
        accept_key(text, at, "peak") && accept_integer(text, at, peak) && accept(text, at, "}"))
      return true;
  }
  return false;
}

class MemoryInfo final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = line.text;
    if (!contains(text, "current")) return false;
    std::int64_t current = 0, peak = 0;
    if (read_dict(text, current, peak)) {
      const Reading readings[] = {{"memory_info.current", "bytes", {current, 0}, false},
                                  {"memory_info.peak", "bytes", {peak, 0}, false}};
      session.recorder().record(kMemoryInfo, session.facts_of(line), readings);
      return true;
    }
    return take_sentence(line, session);
  }

 private:
  /// Memory info of GPU /physical_device:GPU:0: current: 300000000, peak: 310000000
  static bool take_sentence(const LogLine& line, Session& session) {
    const std::string_view text = line.text;
    constexpr std::string_view kBegin = "memory info of ";
    const std::size_t begin = find_ignoring_case(text, kBegin);
    if (begin == std::string_view::npos) return false;
    const std::size_t current_at = text.find("current:", begin);
    const std::size_t peak_at = text.find("peak:", begin);
    if (current_at == std::string_view::npos || peak_at == std::string_view::npos) return false;
    std::string_view device = text.substr(begin + kBegin.size(), current_at - begin - kBegin.size());
    while (!device.empty() && (is_blank(device.back()) || device.back() == ':')) device.remove_suffix(1);
    if (const std::size_t blank = device.rfind(' '); blank != std::string_view::npos) device.remove_prefix(blank + 1);
    if (device.starts_with("/physical_device:")) device.remove_prefix(device.find(':') + 1);
    const std::optional<Quantity> current = number_at(text, current_at + 8), peak = number_at(text, peak_at + 5);
    if (!current || !peak) return false;
    const auto name = [&](std::string_view counter) {
      return device.empty() ? std::string(counter) : with_tag(counter, "device", device);
    };
    const Reading readings[] = {{name("memory_info.current"), "bytes", *current, false},
                                {name("memory_info.peak"), "bytes", *peak, false}};
    session.recorder().record(kMemoryInfo, session.facts_of(line), readings);
    return true;
  }

  /// Whole numbers are bytes; one with a fraction was divided to gigabytes by whoever printed it.
  static std::optional<Quantity> number_at(std::string_view text, std::size_t at) {
    while (at < text.size() && is_blank(text[at])) ++at;
    Decimal number;
    const std::size_t end = parse_decimal(text, at, number);
    if (end == 0) return std::nullopt;
    std::size_t unit_begin = end;
    while (unit_begin < text.size() && is_blank(text[unit_begin])) ++unit_begin;
    std::size_t unit_end = unit_begin;
    while (unit_end < text.size() && is_letter(text[unit_end])) ++unit_end;
    std::uint64_t unit = size_unit(text.substr(unit_begin, unit_end - unit_begin), false);
    if (unit == 0) unit = number.has_point ? std::uint64_t{1} << 30 : 1;
    return scale(number, unit);
  }
};

}  // namespace

std::unique_ptr<Matcher> make_memory_info_matcher() { return std::make_unique<MemoryInfo>(); }

}  // namespace snapdiff::formats::metric_log
