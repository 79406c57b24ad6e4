#include "formats/text/line_reader.hpp"

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::text {
namespace {

constexpr std::size_t kFirstWindow = 64u << 10;

std::size_t find_end(std::string_view text, std::size_t from) {
  const void* found = from == text.size() ? nullptr : std::memchr(text.data() + from, '\n', text.size() - from);
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
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

/// Moves after the end of the line that begins at line_begin_.
void LineReader::pass_over_line() {
  if (long_line_ == LongLine::refuse)
    fail(ErrorCode::limit, "line too long: no end within " + std::to_string(most_bytes_) + " bytes", line_offset_);
  if (skipped_++ == 0) first_skipped_ = line_offset_;
  at_ = line_begin_;
  std::size_t end = find_end(window_, at_);
  while (end == std::string_view::npos && !ended_) {
    at_ = line_begin_ = window_.size();
    refill(kFirstWindow);
    end = find_end(window_, at_);
  }
  terminated_ = end != std::string_view::npos;
  at_ = line_begin_ = terminated_ ? end + 1 : window_.size();
}

bool LineReader::next(std::string_view& line) {
  line_begin_ = at_;
  line_offset_ = offset();
  too_long_ = false;
  std::size_t searched = at_;
  for (;;) {
    const std::size_t end = find_end(window_, searched);
    const bool has_end = end != std::string_view::npos;
    const std::size_t size = (has_end ? end : window_.size()) - line_begin_;
    if (size > most_bytes_) {
      pass_over_line();
      too_long_ = long_line_ == LongLine::give_empty;
      line = with_returns_ = {};
      if (too_long_) return true;
      line_offset_ = offset();
      searched = at_;
      continue;
    }
    if (!has_end && !ended_) {
      refill(std::max(kFirstWindow, size * 2));
      searched = size;
      continue;
    }
    if (!has_end && size == 0) return false;
    terminated_ = has_end;
    at_ = line_begin_ + size + (has_end ? 1 : 0);
    line = with_returns_ = window_.substr(line_begin_, size);
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    for (std::size_t i = 0; i < indent_ && !line.empty() && (line.front() == ' ' || line.front() == '\t'); ++i) {
      line.remove_prefix(1);
      ++line_offset_;
    }
    return true;
  }
}

}  // namespace snapdiff::formats::text
