#include "formats/tracker_lines/inline_frame.hpp"

#include <charconv>

namespace snapdiff::formats::tracker_lines {

InlineFrame parse_inline_frame(std::string_view text) {
  const InlineFrame bare{text, {}, 0};
  if (text.empty() || text.back() != ')') return bare;
  const std::size_t colon = text.rfind(':');
  const std::size_t open = text.rfind(" (");
  if (colon == std::string_view::npos || open == std::string_view::npos || open == 0 || colon < open + 3) return bare;
  const char* const end = text.data() + text.size() - 1;
  std::int32_t line = 0;
  const auto parsed = std::from_chars(text.data() + colon + 1, end, line);
  if (parsed.ec != std::errc{} || parsed.ptr != end || line < 0) return bare;
  return {text.substr(0, open), text.substr(open + 2, colon - open - 2), line};
}

}  // namespace snapdiff::formats::tracker_lines
