#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracker_lines {

/// Longest line that is read; what is longer is passed over without being held.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

struct Line {
  std::string_view text;         ///< without its end ("\n" or "\r\n"); valid until the next line is read
  std::uint64_t number = 0;      ///< from 1
  std::uint64_t offset = 0;      ///< of its first byte
  std::size_t bytes_behind = 0;  ///< readable behind `text`
  bool terminated = true;        ///< only the last line of an input can be without an end
  bool too_long = false;         ///< `text` is empty then
};

/// Lines of an Input, in place. Throws ReadFailure for what the input returns.
class LineReader {
 public:
  explicit LineReader(Input& in) : in_(in), window_begin_(in.offset()) {}

  /// False at the end of the input.
  bool next(Line& line);

 private:
  void refill(std::size_t wanted);
  void skip_rest(Line& line);

  Input& in_;
  std::string_view window_;  // bytes from window_begin_ on
  std::uint64_t window_begin_;
  std::size_t at_ = 0;  // next unread byte in window_
  std::uint64_t number_ = 0;
  bool ended_ = false;  // window_ reaches to the end of the input
};

}  // namespace snapdiff::formats::tracker_lines
