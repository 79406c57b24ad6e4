#include "formats/valgrind/lines.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::valgrind {

bool Lines::next(std::string_view& line) {
  in_.consume(taken_);
  taken_ = 0;
  line_offset_ = in_.offset();
  std::size_t wanted = 1;
  std::size_t searched = 0;
  for (;;) {
    const std::string_view view = value_or_throw(in_.peek(wanted));
    const std::size_t end = view.find('\n', searched);
    if (end != std::string_view::npos) {
      line = view.substr(0, end);
      taken_ = end + 1;
      while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      return true;
    }
    if (view.size() > kMaxLineBytes) {
      fail(ErrorCode::limit, "line too long: no end within 16 MiB, expected a line of a heap tree", line_offset_);
    }
    if (view.size() < wanted) {
      cut_ = !view.empty();
      line_offset_ += view.size();
      return false;
    }
    searched = view.size();
    wanted = std::max<std::size_t>(searched + 1, searched * 2);
  }
}

}  // namespace snapdiff::formats::valgrind
