#include "formats/text/line_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::text {
namespace {

constexpr std::size_t kFirstWindow = 64u << 10;

[[noreturn]] void too_long(std::uint64_t offset, std::size_t most) {
  fail(ErrorCode::limit,
       "line too long: no end within " + std::to_string(most) + " bytes, expected a row of a heap dump", offset);
}

}  // namespace

/// Drops what lies before the current line and asks for `wanted` bytes from there on.
void LineReader::refill(std::size_t wanted) {
  in_.consume(line_begin_);
  window_begin_ += line_begin_;
  at_ -= line_begin_;
  line_begin_ = 0;
  window_ = {};  // dangles from here on
  window_ = value_or_throw(in_.peek(wanted));
  ended_ = window_.size() < wanted;
}

/// Moves behind the end of the line that begins at line_begin_.
void LineReader::skip_line() {
  ++skipped_;
  at_ = line_begin_;
  for (;;) {
    const void* found = at_ == window_.size() ? nullptr : std::memchr(window_.data() + at_, '\n', window_.size() - at_);
    if (found != nullptr) {
      at_ = static_cast<std::size_t>(static_cast<const char*>(found) - window_.data()) + 1;
      return;
    }
    at_ = line_begin_ = window_.size();
    if (ended_) return;
    refill(kFirstWindow);
  }
}

bool LineReader::next(std::string_view& line) {
  line_begin_ = at_;
  skipped_indent_ = 0;
  std::size_t searched = at_;
  for (;;) {
    const std::size_t left = window_.size() - searched;
    const void* found = left == 0 ? nullptr : std::memchr(window_.data() + searched, '\n', left);
    const std::size_t have = window_.size() - line_begin_;
    if (found != nullptr) {
      const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - window_.data());
      line = window_.substr(line_begin_, end - line_begin_);
      at_ = end + 1;
      terminated_ = true;
    } else if (ended_) {
      if (have == 0) return false;
      line = window_.substr(line_begin_);
      at_ = window_.size();
      terminated_ = false;
    } else if (have <= most_bytes_) {
      refill(std::max(kFirstWindow, have * 2));
      searched = have;
      continue;
    }
    if ((found == nullptr && !ended_) || line.size() > most_bytes_) {
      if (long_line_ == LongLine::refuse) too_long(line_offset(), most_bytes_);
      skip_line();
      line_begin_ = searched = at_;
      line = {};
      continue;
    }
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    while (skipped_indent_ < indent_ && !line.empty() && (line.front() == ' ' || line.front() == '\t')) {
      line.remove_prefix(1);
      ++skipped_indent_;
    }
    return true;
  }
}

}  // namespace snapdiff::formats::text
