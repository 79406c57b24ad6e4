#pragma once

#include <vector>

#include "formats/text/quantity.hpp"

/// One line of what Python prints of tracemalloc (Lib/tracemalloc.py: _format_size, Statistic.__str__,
/// StatisticDiff.__str__, Traceback.format; display_top of Doc/library/tracemalloc.rst).
namespace snapdiff::formats::tracemalloc {

enum class LineKind : std::uint8_t {
  other,       ///< no line of a list
  damaged,     ///< begins like one and does not go on like one
  statistic,   ///< FILE:LINE: size=SZ, count=N[, average=SZ]
  difference,  ///< FILE:LINE: size=SZ (±SZ), count=N (±N)[, average=SZ]
  blocks,      ///< N memory blocks: SZ
  frame,       ///<   File "FILE", line N
  ranked,      ///< #N: FILE:LINE: SZ, as the manual's display_top prints it
  rest,        ///< N other: SZ
  total,       ///< Total allocated size: SZ
};

struct StatisticLine {
  LineKind kind = LineKind::other;
  std::string_view file;
  std::int32_t line = 0;
  text::Quantity size;     ///< as printed, below 2^62
  std::int64_t count = 0;  ///< of blocks; ranked: the N in front; rest: lines
  text::Quantity size_growth;
  std::int64_t count_growth = 0;
};

/// Views point into `text`. A line with a number of 2^62 or more is read as damaged, or as no line of a list.
StatisticLine parse_line(std::string_view text);

/// The next of the statistics that a line holds as Python shows a list of them, and takes it off `text`:
/// "<StatisticDiff traceback=<Traceback (<Frame filename='app.py' lineno=9>,)> size=64 (+64) count=1 (+1)>". `frames`
/// are those of its traceback, oldest first; the line is that of the newest. Kind other: there is none.
StatisticLine take_shown(std::string_view& text, std::vector<StatisticLine>& frames);

}  // namespace snapdiff::formats::tracemalloc
