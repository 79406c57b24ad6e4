#pragma once

#include <cstdint>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::valgrind {

/// Lines of an Input, without their ends ("\n" or "\r\n"). No bytes are copied where the input is in memory.
/// Throws ReadFailure for what Input returns, and limit for a line beyond kMaxLineBytes.
class Lines {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  explicit Lines(Input& in) : in_(in) {}

  /// The next line into `line`, valid until the next call; false at the end of the input. A last line without
  /// an end is none: it may be cut.
  bool next(std::string_view& line);
  /// Where the last line begins.
  std::uint64_t line_offset() const { return line_offset_; }
  /// Whether the input ended within a line.
  bool cut() const { return cut_; }

 private:
  Input& in_;
  std::uint64_t line_offset_ = 0;
  std::size_t taken_ = 0;  // bytes of the line given out last, consumed by the next call
  bool cut_ = false;
};

}  // namespace snapdiff::formats::valgrind
