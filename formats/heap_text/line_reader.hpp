#pragma once

#include <cstdint>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::heap_text {

/// Longest line that is read. A row of 1 000 000 frames, the most that a stack may have, takes
/// 19 MB; only damage makes longer ones.
inline constexpr std::size_t kMaxLineBytes = 64u << 20;

/// Lines of an Input, without their ends ("\n" or "\r\n"). No bytes are copied where the input
/// is in memory. Throws TextError for what Input returns, and limit for a line beyond
/// kMaxLineBytes.
class LineReader {
 public:
  explicit LineReader(Input& in) : in_(in), window_begin_(in.offset()) {}

  /// The next line into `line`, valid until the next call; false at the end of the input.
  bool next(std::string_view& line);

  /// Gives the last line back: the next call returns it again.
  void unread() { at_ = line_begin_; }

  /// Where the last line begins.
  std::uint64_t line_offset() const { return window_begin_ + line_begin_; }
  /// Whether the last line had an end; only the last line of an input can be without.
  bool terminated() const { return terminated_; }
  /// Bytes read so far.
  std::uint64_t offset() const { return window_begin_ + at_; }

  /// Bytes at hand after the last line; all that is left where the input is in memory.
  std::size_t bytes_at_hand() const { return window_.size() - at_; }

 private:
  void refill(std::size_t wanted);

  Input& in_;
  std::string_view window_;  // bytes from window_begin_ on
  std::uint64_t window_begin_;
  std::size_t at_ = 0;  // next unread byte in window_
  std::size_t line_begin_ = 0;
  bool ended_ = false;  // window_ reaches to the end of the input
  bool terminated_ = true;
};

}  // namespace snapdiff::formats::heap_text
