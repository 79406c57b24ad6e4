#include "formats/metric_log/progress_lines.hpp"

#include "formats/text/log_lines.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::metric_log {

bool LogLines::next_physical() {
  std::string_view line;
  if (!lines_.next(line)) return false;
  // A CR at the end of the input ends a line; before LF it is a part of the end.
  rest_ = lines_.terminated() ? line : lines_.line_with_returns();
  rest_offset_ = lines_.line_offset();
  if (rest_offset_ == 0 && text::has_prefix(rest_, text::kByteOrderMark)) {
    rest_.remove_prefix(text::kByteOrderMark.size());
    rest_offset_ += text::kByteOrderMark.size();
  }
  has_rest_ = true;
  return true;
}

bool LogLines::next(LogLine& line) {
  if (!has_rest_ && !next_physical()) return false;
  const std::size_t end = rest_.find('\r');
  const bool has_end = end != std::string_view::npos;
  line.offset = rest_offset_;
  line.text = text::without_escapes(rest_.substr(0, end), clean_);
  line.terminated = has_end || lines_.terminated();
  const std::size_t behind = has_end ? end + 1 : rest_.size();
  rest_.remove_prefix(behind);
  rest_offset_ += behind;
  has_rest_ = has_end && !rest_.empty();
  return true;
}

}  // namespace snapdiff::formats::metric_log
