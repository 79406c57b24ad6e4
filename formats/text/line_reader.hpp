#pragma once

#include <cstdint>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::text {

/// Longest line that is read. A row of 1 000 000 frames, the most that a stack may have, takes
/// 19 MB; only damage makes longer ones.
inline constexpr std::size_t kMaxLineBytes = 64u << 20;

/// What becomes of a line that is longer than allowed.
enum class LongLine : std::uint8_t { refuse, skip };

/// Lines of an Input, without their ends ("\n" or "\r\n"). No bytes are copied where the input
/// is in memory. Throws ReadFailure for what Input returns, and limit for a line beyond
/// `most_bytes`, unless such lines are skipped; those are never held in memory whole.
class LineReader {
 public:
  explicit LineReader(Input& in, std::size_t most_bytes = kMaxLineBytes, LongLine long_line = LongLine::refuse)
      : in_(in), most_bytes_(most_bytes), long_line_(long_line), window_begin_(in.offset()) {}

  /// The next line into `line`, valid until the next call; false at the end of the input.
  bool next(std::string_view& line);

  /// Gives the last line back: the next call returns it again.
  void unread() { at_ = line_begin_; }

  /// From the next line on, up to `most` blanks in front of each are left out: those of a text that was pasted.
  void set_indent(std::size_t most) { indent_ = most; }

  /// Where the last line begins, behind its indent.
  std::uint64_t line_offset() const { return window_begin_ + line_begin_ + skipped_indent_; }
  /// Whether the last line had an end; only the last line of an input can be without.
  bool terminated() const { return terminated_; }
  /// Bytes read so far.
  std::uint64_t offset() const { return window_begin_ + at_; }
  /// Lines that were too long and skipped, so far.
  std::uint64_t skipped() const { return skipped_; }

  /// Bytes at hand after the last line; all that is left where the input is in memory.
  std::size_t bytes_at_hand() const { return window_.size() - at_; }

 private:
  void refill(std::size_t wanted);
  void skip_line();

  Input& in_;
  std::size_t most_bytes_;
  LongLine long_line_;
  std::string_view window_;  // bytes from window_begin_ on
  std::uint64_t window_begin_;
  std::uint64_t skipped_ = 0;
  std::size_t at_ = 0;  // next unread byte in window_
  std::size_t line_begin_ = 0;
  std::size_t indent_ = 0;
  std::size_t skipped_indent_ = 0;  // of the last line
  bool ended_ = false;              // window_ reaches to the end of the input
  bool terminated_ = true;
};

}  // namespace snapdiff::formats::text
