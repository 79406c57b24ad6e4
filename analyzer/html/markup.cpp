#include "analyzer/html/markup.hpp"

#include <array>
#include <chrono>
#include <cstdio>

#include "analyzer/report/report.hpp"
#include "analyzer/report/text_tools.hpp"

namespace snapdiff::html {

std::string safe(std::string_view bytes) { return entities(report::printable(bytes)); }

std::string json_string(std::string_view bytes) {
  std::string out("\"");
  for (const char c : report::printable(bytes)) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  return out += '"';
}

std::string prose(const Prose& text) {
  std::string out;
  for (const Span& span : text) {
    const std::string shown = entities(bounded(span.text, 400));
    out += span.name ? "<code>" + shown + "</code>" : shown;
  }
  return out;
}

std::string plain(const Prose& text) {
  std::string out;
  for (const Span& span : text) out += bounded(span.text, 400);
  return out;
}

std::string bounded(std::string_view bytes, std::size_t most) {
  const std::string_view mark = "\u2026";
  if (bytes.size() <= most) return report::printable(bytes);
  // Code points are not cut in two: what would be half of one is left out with the middle.
  std::size_t head = most / 2;
  std::size_t tail = bytes.size() - most / 2;
  const auto continues = [&](std::size_t at) {
    return at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0) == 0x80;
  };
  while (head > 0 && continues(head)) --head;
  while (continues(tail)) ++tail;
  return report::printable(bytes.substr(0, head)).append(mark).append(report::printable(bytes.substr(tail)));
}

std::string value(std::int64_t v, std::string_view unit) { return value_text(v, unit, false, kGlyphs); }
std::string growth(std::int64_t v, std::string_view unit) { return value_text(v, unit, true, kGlyphs); }

std::string_view direction(std::int64_t growth) { return growth > 0 ? "up" : growth < 0 ? "down" : ""; }

std::string counted(std::size_t count, std::string_view what) {
  std::string out = count_text(static_cast<std::int64_t>(count), kGlyphs);
  out.append("\u00a0").append(what);
  return count == 1 ? out : out += 's';
}

std::string utc(std::int64_t nanoseconds) {
  using namespace std::chrono;
  const sys_seconds at(floor<seconds>(std::chrono::nanoseconds(nanoseconds)));
  const sys_days day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss time(at - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d UTC", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text.data();
}

std::string metric_title(std::string_view metric) {
  if (metric == "inuse_space") return "In-use bytes";
  if (metric == "inuse_objects") return "In-use objects";
  if (metric == "alloc_space") return "Allocated bytes";
  if (metric == "alloc_objects") return "Allocated objects";
  return safe(metric);
}

}  // namespace snapdiff::html
