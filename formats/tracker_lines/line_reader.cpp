#include "formats/tracker_lines/line_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/input/read_failure.hpp"
#include "formats/tracker_lines/line_error.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

constexpr std::size_t kWindow = std::size_t{256} << 10;

std::size_t find_end(std::string_view text, std::size_t from) {
  const void* found = from == text.size() ? nullptr : std::memchr(text.data() + from, '\n', text.size() - from);
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

/// Drops what has been read and asks for `wanted` bytes from there on.
void LineReader::refill(std::size_t wanted) {
  in_.consume(at_);
  window_begin_ += at_;
  at_ = 0;
  window_ = {};  // dangles from here on
  window_ = value_or_throw(in_.peek(wanted));
  ended_ = window_.size() < wanted;
}

/// Moves behind the end of a line that is too long to be held.
void LineReader::skip_rest(Line& line) {
  line.text = {};
  line.too_long = true;
  for (;;) {
    const std::size_t end = find_end(window_, at_);
    if (end != std::string_view::npos) {
      at_ = end + 1;
      return;
    }
    at_ = window_.size();
    if (ended_) {
      line.terminated = false;
      return;
    }
    refill(kWindow);
  }
}

bool LineReader::next(Line& line) {
  std::size_t searched = at_;
  std::size_t end = std::string_view::npos;
  line.too_long = false;
  for (;;) {
    end = find_end(window_, searched);
    if (end != std::string_view::npos || ended_) break;
    const std::size_t have = window_.size() - at_;
    if (have > kMaxLineBytes) break;
    refill(std::max(kWindow, have * 2));
    searched = have;
  }
  if (end == std::string_view::npos && ended_ && at_ == window_.size()) return false;
  line.number = ++number_;
  line.offset = window_begin_ + at_;
  line.terminated = end != std::string_view::npos;
  const std::size_t size = std::min(end, window_.size()) - at_;
  if (size > kMaxLineBytes) {
    line.terminated = true;
    skip_rest(line);
    return true;
  }
  line.text = window_.substr(at_, size);
  at_ += size + (line.terminated ? 1 : 0);
  line.bytes_behind = window_.size() - at_;
  if (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
  return true;
}

}  // namespace snapdiff::formats::tracker_lines
