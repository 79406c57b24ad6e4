#include "analyzer/render/paint/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "analyzer/base/concat.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/graph/growth_graph.hpp"

#include "analyzer/base/printable.hpp"

#include "analyzer/base/writing_direction.hpp"

namespace snapdiff::render {
namespace {

/// Length of the UTF-8 sequence that starts at `text[at]`; text must be printable().
std::size_t code_point_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(length, text.size() - at);
}

}  // namespace

std::string printable(std::string_view bytes) {
  constexpr std::size_t kHalf = 300;
  if (bytes.size() <= 2 * kHalf) return snapdiff::printable(bytes);
  std::size_t tail = bytes.size() - kHalf;
  while (tail < bytes.size() && (static_cast<unsigned char>(bytes[tail]) & 0xc0) == 0x80) ++tail;
  std::size_t head = 0;
  for (std::size_t i = 0; i < kHalf && head < tail; ++i)
    head += std::max<std::size_t>(1, decode_utf8(bytes, head).length);
  if (head >= tail) return snapdiff::printable(bytes);
  return snapdiff::printable(bytes.substr(0, head)).append("\u2026").append(snapdiff::printable(bytes.substr(tail)));
}

std::string without_template_arguments(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  std::string out;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char before = i > 0 ? text[i - 1] : ' ';
    const bool after_name = (before >= '0' && before <= '9') || (before >= 'a' && before <= 'z') ||
                            (before >= 'A' && before <= 'Z') || before == '_';
    if (c == '<' && (depth > 0 || (after_name && !text.substr(0, i).ends_with(kOperator)))) {
      if (depth++ == 0) out += "<\u2026";
    }
    const bool closes = c == '>' && depth > 0 && before != '-';
    if (depth == 0 || (closes && depth == 1)) out += c;
    if (closes) --depth;
  }
  return depth == 0 ? out : std::string(text);
}

std::string left_to_right(std::string_view text) {
  std::string out;
  bool right_to_left = false;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint code = decode_utf8(text, i);
    const std::size_t length = std::max<std::size_t>(1, code.length);
    const bool now = is_right_to_left(code.value);
    if (right_to_left && !now) out += "\u200e";
    right_to_left = now;
    out.append(text.substr(i, length));
    i += length;
  }
  if (right_to_left) out += "\u200e";
  return out;
}

std::vector<std::size_t> code_points(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); i += code_point_length(text, i)) starts.push_back(i);
  return starts;
}

std::string shortened(std::string_view text, std::size_t most) {
  const std::vector<std::size_t> starts = code_points(text);
  if (starts.size() <= most || most < 3) return std::string(text);
  const std::size_t head = (most - 1) * 2 / 5;
  const std::size_t tail = most - 1 - head;
  return concat(text.substr(0, starts[head]), "\u2026", text.substr(starts[starts.size() - tail]));
}

std::string Quantity::size(std::int64_t v) const {
  std::string text = value(v);
  if (v < 0) text.erase(0, kGlyphs.minus.size());
  return text;
}

std::string Quantity::change(std::int64_t before, std::int64_t after) const {
  return change_text(before, after, bytes ? "bytes" : "", kGlyphs);
}

std::string share_text(double share) {
  if (!std::isfinite(share)) return "n/a";
  const double percent = share * 100;
  std::string text;
  if (percent == 0) {
    text = std::string("0");
  } else if (std::fabs(percent) < 1) {
    text = std::string("<1");
  } else if (percent < 100 && std::lround(percent) >= 100) {
    text = std::string(">99");
  } else {
    text = std::to_string(std::lround(percent));
  }
  return text.append(kGlyphs.thousands).append("%");
}

std::string metric_title(std::string_view metric) {
  const std::string_view title = document::metric_term(metric).title;
  return title.empty() ? printable(metric) : std::string(title);
}

std::string color_text(Color color) {
  char text[8] = {};
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(color.r), static_cast<unsigned>(color.g),
                static_cast<unsigned>(color.b));
  return text;
}

std::string frame_name(const FrameView& frame) { return printable(graph::node_name(frame)); }

std::string site_text(const FrameView& frame) {
  std::string text = frame.file.empty() ? std::string() : printable(base_name(frame.file));
  if (!text.empty() && frame.line > 0) text.append(":").append(std::to_string(frame.line));
  return text;
}

}  // namespace snapdiff::render
