#pragma once

#include "analyzer/base/importer.hpp"

namespace snapdiff::formats::text {

/// Longest line that is read. A row of 1 000 000 frames, the most that a stack may have, takes
/// 19 MB; only damage makes longer ones.
inline constexpr std::size_t kMaxLineBytes = 64u << 20;

/// What becomes of a line that is longer than allowed: an error, nothing but a count, or an empty line with too_long().
enum class LongLine : std::uint8_t { refuse, skip, give_empty };

/// Lines of an Input, without their ends ("\n" or "\r\n"). No bytes are copied where the input
/// is in memory. Throws Failure for what Input returns, and limit for a line beyond
/// `most_bytes`, unless such lines are passed over; those are never held in memory whole.
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

  /// Where the last line begins, after its indent; at the end of the input, that.
  std::uint64_t line_offset() const { return line_offset_; }
  /// The last line with the "\r" at its end.
  std::string_view line_with_returns() const { return with_returns_; }
  /// Whether the last line had an end; only the last line of an input can be without.
  bool terminated() const { return terminated_; }
  /// Bytes read so far.
  std::uint64_t offset() const { return window_begin_ + at_; }
  bool too_long() const { return too_long_; }
  /// Lines that were too long and passed over, so far, and where the first of them begins.
  std::uint64_t skipped() const { return skipped_; }
  std::uint64_t first_skipped() const { return first_skipped_; }

  /// Bytes at hand after the last line; all that is left where the input is in memory.
  std::size_t bytes_at_hand() const { return window_.size() - at_; }

 private:
  void refill(std::size_t wanted);
  void pass_over_line();

  Input& in_;
  std::size_t most_bytes_;
  LongLine long_line_;
  std::string_view window_;  // bytes from window_begin_ on
  std::string_view with_returns_;
  std::uint64_t window_begin_;
  std::uint64_t line_offset_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t first_skipped_ = 0;
  std::size_t at_ = 0;  // next unread byte in window_
  std::size_t line_begin_ = 0;
  std::size_t indent_ = 0;
  bool ended_ = false;  // window_ reaches to the end of the input
  bool terminated_ = true;
  bool too_long_ = false;
};

}  // namespace snapdiff::formats::text
