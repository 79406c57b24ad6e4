#pragma once

#include <array>
#include <charconv>
#include <cstddef>

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/base/printable.hpp"
#include "analyzer/report/report.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff {
struct OverviewRow;
}

/// Text of unknown origin made safe and measured: names come out of input files and may hold
/// anything, terminal escape sequences included.
namespace snapdiff::report {

/// Signs of the terminal screens, with their plain-ASCII stand-ins.
struct Glyphs {
  std::string_view arrow = "→";
  std::string_view caller = "‹";
  std::string_view plus_minus = "±";
  std::string_view ellipsis = "…";
  std::string_view recursion = "↻";
  std::string_view times = "×";
  std::string_view dash = "–";
  bool utf8 = true;
};
Glyphs glyphs_for(bool utf8);

/// Columns of a terminal that valid UTF-8 takes: 0 for combining marks, 2 for wide characters.
std::size_t display_width(std::string_view text);

/// Text for a terminal, laid out already, in which each name with right-to-left letters is between Unicode's marks
/// of isolation: names side by side keep their places. A name ends at two blanks, a caller's sign, an arrow or a line
/// end. The marks take no column; other text comes back as it is.
std::string isolated(std::string_view text);

/// At most `width` columns: cut in the middle, with the ellipsis between.
std::string cut_middle(std::string_view text, std::size_t width, std::string_view ellipsis);

/// The longest of shorter_names() that fits. The shortest of them is cut as cut_middle does, but keeps the part after
/// the last "::", "." or "/", or the offset of "module+0x1234", whole where it fits.
std::string cut_name(std::string_view text, std::size_t width, std::string_view ellipsis);

/// Whole folders are dropped from the front: "…/goq/main.go:28".
std::string cut_path(std::string_view text, std::size_t width, std::string_view ellipsis);

/// " → "
std::string spaced(std::string_view sign);

/// The shortest text that reads back.
template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> text{};
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

/// A run of prose with its names made printable. Typographic signs of numbers become ASCII ones, so that a
/// pasted number parses; without `utf8` all others do too.
std::string plain_text(const Prose& prose, bool utf8 = true);
std::string plain_text(const Span& span, bool utf8 = true);

/// "+2.10 MiB an hour" or "a snapshot"; "" of fewer than two.
std::string overview_rate(const OverviewRow& row);
/// "29.5 h", "30 snapshots", "reached", "never"; "" where nothing is known.
std::string overview_to_limit(const OverviewRow& row);

enum class Paint : std::uint8_t { none, growth, shrinkage, dim, bold, alarm };

/// `text` in terminal colours (mock-ups: growth 166, shrinkage 32), or as it is.
std::string painted(std::string_view text, Paint paint, bool colour);

}  // namespace snapdiff::report
