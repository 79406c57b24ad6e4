#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracemalloc {

/// Lines of what a terminal or a log holds: "\n" or "\r\n" ends, a byte order mark, UTF-16 with one (PowerShell's
/// `>`), colours (ESC [ ... m). Lines come as UTF-8 where they were UTF-16, else with their bytes as found.
class TextLines {
 public:
  static constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;

  explicit TextLines(Input& in) : in_(in) {}

  /// The next line into `line`, valid until the next call; false at the end, and where the input fails.
  bool next(std::string_view& line);

  /// Where the last line begins.
  std::uint64_t offset() const { return line_offset_; }
  /// Lines beyond kMostLineBytes, left out.
  std::uint64_t too_long() const { return too_long_; }
  /// What the input returned instead of bytes, when next() was false.
  const Status& status() const { return status_; }

 private:
  enum class Encoding : std::uint8_t { unknown, bytes, utf16_le, utf16_be };

  bool raw_line(std::string_view& line);
  std::string_view fill(std::size_t wanted);
  bool find_encoding();
  std::size_t find_end(std::string_view window, std::size_t from) const;

  Input& in_;
  Encoding encoding_ = Encoding::unknown;
  std::size_t pending_ = 0;  // bytes of the last line, consumed before the next one is looked for
  std::uint64_t line_offset_ = 0;
  std::uint64_t too_long_ = 0;
  std::string utf8_;
  std::string plain_;
  Status status_ = ok();
};

/// `text`, UTF-16 without a byte order mark, as UTF-8; what is no character becomes U+FFFD.
std::string utf8_of_utf16(std::string_view text, bool big_endian);

/// `line` without colours and other terminal sequences; in `buffer` where there are any.
std::string_view without_colours(std::string_view line, std::string& buffer);

}  // namespace snapdiff::formats::tracemalloc
