#include "analyzer/html/markup.hpp"

#include "analyzer/base/printable.hpp"
#include "analyzer/document/terms.hpp"

namespace snapdiff::html {

std::string safe(std::string_view bytes) { return entities(printable(bytes)); }

std::string json_string(std::string_view bytes) {
  std::string out("\"");
  for (const char c : printable(bytes)) {
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
  if (bytes.size() <= most) return printable(bytes);
  // Code points are not cut in two: what would be half of one is left out with the middle.
  std::size_t head = most / 2;
  std::size_t tail = bytes.size() - most / 2;
  const auto continues = [&](std::size_t at) {
    return at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0) == 0x80;
  };
  while (head > 0 && continues(head)) --head;
  while (continues(tail)) ++tail;
  return printable(bytes.substr(0, head)).append(mark).append(printable(bytes.substr(tail)));
}

std::string value(std::int64_t v, std::string_view unit) { return value_text(v, unit, false, kGlyphs); }
std::string growth(std::int64_t v, std::string_view unit) { return value_text(v, unit, true, kGlyphs); }

std::string_view direction(std::int64_t growth) { return growth > 0 ? "up" : growth < 0 ? "down" : ""; }

std::string metric_title(std::string_view metric) {
  const std::string_view title = document::metric_term(metric).title;
  return title.empty() ? safe(metric) : std::string(title);
}

}  // namespace snapdiff::html
