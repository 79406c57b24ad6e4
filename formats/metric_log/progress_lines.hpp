#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/text/line_reader.hpp"

namespace snapdiff::formats::metric_log {

struct LogLine {
  std::string_view text;     ///< without its end and without colours; valid until the next call
  std::uint64_t offset = 0;  ///< of its first byte in the input
  bool terminated = true;    ///< only the last line of an input can be without an end
};

/// Lines of a log. A line ends with LF, CR LF, or a CR alone, as progress bars write; escape sequences
/// of terminals and a byte order mark are taken out. Throws ReadFailure for what Input returns.
class LogLines {
 public:
  /// Longer lines are skipped: no metric line has a thousandth of it.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  explicit LogLines(Input& in) : lines_(in, kMostBytes, text::LongLine::skip) {}

  /// False at the end.
  bool next(LogLine& line);

  /// Lines that were too long, and where the first one begins.
  std::uint64_t skipped() const { return lines_.skipped(); }
  std::uint64_t first_skipped() const { return lines_.first_skipped(); }

 private:
  bool next_physical();

  text::LineReader lines_;
  std::string_view rest_;  // of the physical line, with pieces still to be given out
  std::uint64_t rest_offset_ = 0;
  bool has_rest_ = false;
  std::string clean_;
};

}  // namespace snapdiff::formats::metric_log
