#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::metric_log {

/// Longer lines are skipped: no metric line has a thousandth of it.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

struct LogLine {
  std::string_view text;     ///< without its end and without colours; valid until the next call
  std::uint64_t offset = 0;  ///< of its first byte in the input
  bool terminated = true;    ///< only the last line of an input can be without an end
};

/// Lines of a log. A line ends with LF, CR LF, or a CR alone, as progress bars write; escape sequences
/// of terminals and a byte order mark are taken out. Memory is bounded by kMaxLineBytes.
class LogLines {
 public:
  explicit LogLines(Input& in) : in_(in), window_begin_(in.offset()) {}

  /// False at the end. Errors: what Input returns.
  Result<bool> next(LogLine& line);

  /// Lines that were too long, and where the first one begins.
  std::uint64_t skipped() const { return skipped_; }
  std::uint64_t first_skipped() const { return first_skipped_; }
  std::uint64_t offset() const { return window_begin_ + at_; }

 private:
  Status refill(std::size_t wanted);
  Result<bool> next_physical();
  Status skip_line();
  void cut_piece(LogLine& line);

  Input& in_;
  std::string_view window_;  // bytes from window_begin_ on
  std::uint64_t window_begin_;
  std::size_t at_ = 0;  // next unread byte in window_
  bool ended_ = false;
  std::string_view rest_;  // of the physical line, with pieces still to be given out
  bool has_rest_ = false;
  bool rest_terminated_ = true;
  std::string clean_;
  std::uint64_t skipped_ = 0;
  std::uint64_t first_skipped_ = 0;
};

}  // namespace snapdiff::formats::metric_log
