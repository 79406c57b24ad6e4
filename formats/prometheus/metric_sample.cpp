#include "formats/prometheus/metric_sample.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "formats/text/scan.hpp"

namespace snapdiff::formats::prometheus {
namespace {

bool is_name_begin(char c) { return text::is_letter(c) || c == '_' || c == ':'; }
bool is_name_char(char c) { return is_name_begin(c) || text::is_digit(c); }

/// Where the braces that begin at `open` end: a text in quotes may hold one.
std::size_t closing_brace(std::string_view line, std::size_t open) {
  bool is_quoted = false;
  for (std::size_t i = open + 1; i < line.size(); ++i) {
    if (is_quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == '}' && !is_quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

/// How many bytes one of the metric stands for, by its name's last word; 0 where it counts something else.
std::uint64_t bytes_per(std::string_view name) {
  if (name.ends_with("_total")) name.remove_suffix(6);
  if (name.ends_with("_bytes")) return 1;
  if (name.ends_with("_kilobytes") || name.ends_with("_kb")) return std::uint64_t{1} << 10;
  if (name.ends_with("_megabytes") || name.ends_with("_mb")) return std::uint64_t{1} << 20;
  return 0;
}

}  // namespace

std::optional<SampleLine> sample_of(std::string_view line) {
  SampleLine out;
  std::size_t at = 0;
  if (line.empty() || !is_name_begin(line[0])) return std::nullopt;
  while (at < line.size() && is_name_char(line[at])) ++at;
  out.name = line.substr(0, at);
  if (at < line.size() && line[at] == '{') {
    const std::size_t close = closing_brace(line, at);
    if (close == std::string_view::npos) return std::nullopt;
    out.labels = line.substr(at + 1, close - at - 1);
    at = close + 1;
  }
  text::Cursor rest(line.substr(at));
  if (!rest.skip_blanks()) return std::nullopt;
  out.value = rest.token();
  text::Decimal number;
  const bool is_number = text::parse_decimal(out.value, 0, number) == out.value.size() && !out.value.empty();
  if (!is_number && out.value != "NaN" && out.value != "+Inf" && out.value != "-Inf") return std::nullopt;
  rest.skip_blanks();
  std::int64_t time = 0;
  if (rest.count(time)) out.time_ms = time;
  rest.skip_blanks();
  return rest.at_end() || rest.peek() == '#' ? std::optional(out) : std::nullopt;  // behind it an exemplar
}

std::string labels_text(std::string_view labels) {
  std::string out;
  bool is_quoted = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (is_quoted && c == '\\' && i + 1 < labels.size()) {
      out += labels[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted || !text::is_blank(c)) {
      out += c;
    }
  }
  while (out.ends_with(',')) out.pop_back();
  return out.empty() ? out : '{' + out + '}';
}

std::optional<Counter> counter_of(std::string_view name, std::string_view labels, std::string_view value,
                                  MetricType type) {
  if (type == MetricType::spread || ends_with_any(name, {"_bucket", "_sum", "_count", "_created"})) return std::nullopt;
  const std::uint64_t bytes = bytes_per(name);
  // An expression (sum by (pod) (...)) has no name.
  const bool is_held = bytes > 0 || type == MetricType::gauge || name.empty();
  if (!is_held || ends_with_any(name, {"_seconds", "_info", "_ratio", "_percent", "_timestamp", "_celsius"}))
    return std::nullopt;
  text::Decimal number;
  if (text::parse_decimal(value, 0, number) != value.size() || value.empty()) return std::nullopt;
  const std::optional<text::Quantity> scaled = text::scale(number, bytes == 0 ? 1 : bytes);
  if (!scaled) return std::nullopt;
  double exact = 0;
  std::from_chars(value.data(), value.data() + value.size(), exact);
  const bool is_whole = exact == std::floor(exact);
  if (bytes == 0 && !name.empty() && !is_whole) return std::nullopt;
  Counter out;
  out.name = std::string(name.empty() ? "value" : name).append(labels);
  out.value = scaled->value;
  out.unit = bytes > 0 ? "bytes" : name.empty() ? "" : "count";
  out.cumulative = type == MetricType::counter || name.ends_with("_total");
  out.half_unit = is_whole && bytes <= 1 ? 0 : scaled->half_unit;
  return out;
}

}  // namespace snapdiff::formats::prometheus
