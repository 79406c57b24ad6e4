#pragma once

#include <cstdint>
#include <string_view>

namespace snapdiff::formats::tracker_lines {

/// One text of an inline stack: "fn (file:line)", or a bare function.
struct InlineFrame {
  std::string_view function;
  std::string_view file;
  std::int32_t line = 0;
};

/// The last parentheses are taken as the place when they end in a colon and a number; "f(int)" and
/// "operator() (a.cpp:3)" are both read right.
InlineFrame parse_inline_frame(std::string_view text);

}  // namespace snapdiff::formats::tracker_lines
