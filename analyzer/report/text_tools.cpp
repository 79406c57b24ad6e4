#include "analyzer/report/text_tools.hpp"
#include "analyzer/base/writing_direction.hpp"
#include "analyzer/report/short_names.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace snapdiff::report {

namespace {

struct Range {
  std::uint32_t first, last;
};

// Combining marks and variation selectors of the scripts that function names are written in; the
// full list of Unicode is longer, an unlisted mark only costs a column of alignment.
constexpr std::array<Range, 14> kZeroWidth{{{0x0300, 0x036F},
                                            {0x0483, 0x0489},
                                            {0x0591, 0x05BD},
                                            {0x0610, 0x061A},
                                            {0x064B, 0x065F},
                                            {0x06D6, 0x06DC},
                                            {0x0900, 0x0902},
                                            {0x0E34, 0x0E3A},
                                            {0x1AB0, 0x1AFF},
                                            {0x1DC0, 0x1DFF},
                                            {0x20D0, 0x20FF},
                                            {0xFE00, 0xFE0F},
                                            {0xFE20, 0xFE2F},
                                            {0xE0100, 0xE01EF}}};

// East Asian Width W and F, and emoji.
constexpr std::array<Range, 13> kDoubleWidth{{{0x1100, 0x115F},
                                              {0x2E80, 0x303E},
                                              {0x3041, 0x33FF},
                                              {0x3400, 0x4DBF},
                                              {0x4E00, 0xA4CF},
                                              {0xA960, 0xA97F},
                                              {0xAC00, 0xD7A3},
                                              {0xF900, 0xFAFF},
                                              {0xFE30, 0xFE6F},
                                              {0xFF00, 0xFF60},
                                              {0xFFE0, 0xFFE6},
                                              {0x1F300, 0x1FAFF},
                                              {0x20000, 0x3FFFD}}};

bool contains(std::span<const Range> ranges, std::uint32_t value) {
  const auto after = std::ranges::upper_bound(ranges, value, {}, &Range::first);
  return after != ranges.begin() && value <= std::prev(after)->last;
}

std::size_t width_of(std::uint32_t code) {
  if (code < 0x300) return 1;
  if (contains(kZeroWidth, code)) return 0;
  return contains(kDoubleWidth, code) ? 2 : 1;
}

/// Columns of one code point after the other. A letter bears a few marks; those beyond count as letters, or a name of a
/// million marks would fit into any column.
class Columns {
 public:
  std::size_t next(const CodePoint& code) {
    constexpr std::size_t kMarksOfALetter = 4;  // Vietnamese has two, Hebrew with cantillation three
    const std::size_t columns = code.length == 0 ? 1 : width_of(code.value);
    marks_ = columns == 0 ? marks_ + 1 : 0;
    return marks_ > kMarksOfALetter ? 1 : columns;
  }

 private:
  std::size_t marks_ = 0;
};

/// The longest prefix of at most `width` columns.
std::size_t prefix_within(std::string_view text, std::size_t width) {
  Columns widths;
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint code = decode_utf8(text, at);
    const std::size_t columns = widths.next(code);
    if (used + columns > width) break;
    used += columns;
    at += std::max<std::size_t>(1, code.length);
  }
  return at;
}

/// Where the longest suffix of at most `width` columns starts.
std::size_t suffix_within(std::string_view text, std::size_t width) {
  std::size_t total = display_width(text);
  std::size_t at = 0;
  Columns widths;
  while (at < text.size() && total > width) {
    const CodePoint code = decode_utf8(text, at);
    total -= std::min(total, widths.next(code));
    at += std::max<std::size_t>(1, code.length);
  }
  return at;
}

std::string_view base_name_of(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

using Signs = std::pair<std::string_view, std::string_view>;
constexpr std::array<Signs, 3> kNumberSigns = {Signs{"\u2212", "-"}, Signs{"\u2009", ""}, Signs{"\u00a0", " "}};
constexpr std::array<Signs, 4> kOtherSigns = {Signs{"\u203a", ">"}, Signs{"\u2039", "<"}, Signs{"\u00b1", "+-"},
                                              Signs{"\u2026", ".."}};

template <class Table>
void replace(std::string& text, const Table& signs) {
  for (const auto& [from, to] : signs) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
}

}  // namespace

Glyphs glyphs_for(bool utf8) {
  if (utf8) return {};
  return {"->", "<", "+-", "..", "(rec)", "x", "-", false};
}

std::size_t display_width(std::string_view text) {
  Columns widths;
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint code = decode_utf8(text, at);
    width += widths.next(code);
    at += std::max<std::size_t>(1, code.length);
  }
  return width;
}

namespace {

/// Where the name that holds `at` ends: what separates names on a screen, or the end.
std::size_t name_end(std::string_view text, std::size_t at) {
  std::size_t end = text.size();
  for (const std::string_view sign : {"\n", "  ", " \u2039 ", " \u2192 ", " < ", " -> ", "\x1b"})
    end = std::min(end, text.find(sign, at));
  return end;
}

}  // namespace

std::string isolated(std::string_view text) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint code = decode_utf8(text, at);
    if (!is_right_to_left(code.value)) {
      at += std::max<std::size_t>(1, code.length);
      continue;
    }
    // From the word of the first such letter to the word of the last one in the same name.
    const std::size_t end = name_end(text, at);
    const std::size_t blank = text.find_last_of(" \n", at);
    std::size_t first = std::max(copied, blank == std::string_view::npos ? 0 : blank + 1);
    const std::size_t escape = text.rfind('\x1b', at);
    const std::size_t colour_end = escape == std::string_view::npos ? escape : text.find('m', escape);
    if (colour_end != std::string_view::npos && colour_end < at) first = std::max(first, colour_end + 1);
    std::size_t last = at;
    for (std::size_t i = at; i < end;) {
      const CodePoint next = decode_utf8(text, i);
      const std::size_t length = std::max<std::size_t>(1, next.length);
      if (is_right_to_left(next.value)) last = i + length;
      i += length;
    }
    last = std::min(end, text.find(' ', last));
    out.append(text.substr(copied, first - copied)).append("\u2068").append(text.substr(first, last - first));
    out.append("\u2069");
    copied = at = last;
  }
  return out.append(text.substr(copied));
}

std::string cut_middle(std::string_view text, std::size_t width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const std::size_t mark = display_width(ellipsis);
  if (width <= mark) return std::string(text.substr(0, prefix_within(text, width)));
  const std::size_t head = (width - mark) / 2;
  const std::size_t tail = width - mark - head;
  std::string out(text.substr(0, prefix_within(text, head)));
  out += ellipsis;
  out += text.substr(suffix_within(text, tail));
  return out;
}

std::string cut_name(std::string_view text, std::size_t width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const std::vector<std::string> shorter = shorter_names(text, ellipsis);
  for (const std::string& form : shorter) {
    if (display_width(form) <= width) return form;
  }
  if (!shorter.empty()) text = shorter.back();
  // "module+0x1234": the offset is the name.
  const std::size_t offset = text.rfind("+0x");
  const std::size_t at = text.find_last_of(":./");
  const std::string_view last = offset != std::string_view::npos ? text.substr(offset)
                                : at == std::string_view::npos   ? text
                                                                 : text.substr(at + 1);
  const std::size_t kept = display_width(last) + display_width(ellipsis);
  if (last.empty() || last.size() == text.size() || kept >= width) return cut_middle(text, width, ellipsis);
  std::string out(text.substr(0, prefix_within(text, width - kept)));
  out += ellipsis;
  out += last;
  return out;
}

std::string cut_path(std::string_view text, std::size_t width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const std::size_t mark = display_width(ellipsis);
  const std::size_t from = width > mark ? suffix_within(text, width - mark) : text.size();
  const std::size_t slash = text.find('/', from);
  if (slash == std::string_view::npos) return cut_middle(base_name_of(text), width, ellipsis);
  return std::string(ellipsis).append(text.substr(slash));
}

std::string spaced(std::string_view sign) {
  std::string text(1, ' ');
  return text.append(sign).append(1, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  std::string out(used < width ? width - used : 0, ' ');
  return out.append(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  std::string out(text);
  return out.append(used < width ? width - used : 0, ' ');
}

std::string plain_text(const Span& span, bool utf8) {
  std::string text = span.text;
  if (span.name) {
    if (!utf8) replace(text, kOtherSigns);
    return printable(text, utf8);
  }
  replace(text, kNumberSigns);
  if (!utf8) replace(text, kOtherSigns);
  return printable(text, utf8);
}

std::string plain_text(const Prose& prose, bool utf8) {
  std::string out;
  for (const Span& span : prose) out += plain_text(span, utf8);
  return out;
}

std::string painted(std::string_view text, Paint paint, bool colour) {
  if (!colour || paint == Paint::none || text.empty()) return std::string(text);
  std::string out;
  switch (paint) {
    case Paint::none: break;
    case Paint::growth: out = "\x1b[38;5;166m"; break;
    case Paint::shrinkage: out = "\x1b[38;5;32m"; break;
    case Paint::dim: out = "\x1b[2m"; break;
    case Paint::bold: out = "\x1b[1m"; break;
    case Paint::alarm: out = "\x1b[7;38;5;166m"; break;
  }
  out += text;
  out += "\x1b[0m";
  return out;
}

}  // namespace snapdiff::report
