#include "formats/metric_log/log_lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kFirstWindow = std::size_t{64} << 10;
constexpr char kEscape = '\x1b';

/// Behind the escape sequence that begins at text[at]; `at` + 1 where it is none.
std::size_t behind_escape(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  if (i >= text.size() || text[i] != '[') return i;
  for (++i; i < text.size() && text[i] >= 0x20 && text[i] <= 0x3f;) ++i;
  return i < text.size() && text[i] >= 0x40 ? i + 1 : i;
}

void without_escapes(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t escape = std::min(text.find(kEscape, i), text.size());
    out.append(text.substr(i, escape - i));
    i = escape == text.size() ? escape : behind_escape(text, escape);
  }
}

}  // namespace

/// Drops what lies before at_ and asks for `wanted` bytes from there on.
Status LogLines::refill(std::size_t wanted) {
  in_.consume(at_);
  window_begin_ += at_;
  at_ = 0;
  window_ = {};
  Result<std::string_view> view = in_.peek(wanted);
  if (!view) return std::move(view).error();
  window_ = *view;
  ended_ = window_.size() < wanted;
  return ok();
}

/// Consumes up to the end of the line, a window at a time.
Status LogLines::skip_line() {
  if (skipped_++ == 0) first_skipped_ = offset();
  for (;;) {
    const std::size_t end = window_.find('\n', at_);
    at_ = end == std::string_view::npos ? window_.size() : end + 1;
    if (end != std::string_view::npos || ended_) return ok();
    if (Status filled = refill(kFirstWindow); !filled) return filled;
    if (window_.empty()) return ok();
  }
}

Result<bool> LogLines::next_physical() {
  std::size_t searched = at_;
  for (;;) {
    const std::size_t end = window_.find('\n', searched);
    const std::size_t have = (end == std::string_view::npos ? window_.size() : end) - at_;
    if (have > kMaxLineBytes) {
      if (Status skipped = skip_line(); !skipped) return std::move(skipped).error();
      searched = at_;
      continue;
    }
    if (end == std::string_view::npos && !ended_) {
      if (Status filled = refill(std::max(kFirstWindow, have * 2)); !filled) return std::move(filled).error();
      searched = have;
      continue;
    }
    if (end == std::string_view::npos && have == 0) return false;
    rest_ = window_.substr(at_, have);
    rest_terminated_ = end != std::string_view::npos;
    has_rest_ = true;
    return true;
  }
}

void LogLines::cut_piece(LogLine& line) {
  if (offset() == 0 && rest_.substr(0, 3) == "\xef\xbb\xbf") {
    rest_.remove_prefix(3);
    at_ += 3;
  }
  while (rest_terminated_ && !rest_.empty() && rest_.back() == '\r') {
    rest_.remove_suffix(1);  // of CR LF; at_ moves over them with the line's end
  }
  const std::size_t end = rest_.find('\r');
  line.offset = offset();
  line.text = rest_.substr(0, end);
  if (end != std::string_view::npos) {
    line.terminated = true;
    at_ += end + 1;
    rest_.remove_prefix(end + 1);
    has_rest_ = !rest_.empty();
    if (!has_rest_ && rest_terminated_) at_ = std::min(window_.find('\n', at_), window_.size() - 1) + 1;
  } else {
    line.terminated = rest_terminated_;
    at_ = rest_terminated_ ? window_.find('\n', at_) + 1 : window_.size();
    has_rest_ = false;
  }
  if (std::memchr(line.text.data(), kEscape, line.text.size()) != nullptr) {
    without_escapes(line.text, clean_);
    line.text = clean_;
  }
}

Result<bool> LogLines::next(LogLine& line) {
  if (!has_rest_) {
    Result<bool> more = next_physical();
    if (!more || !*more) return more;
  }
  cut_piece(line);
  return true;
}

}  // namespace snapdiff::formats::metric_log
