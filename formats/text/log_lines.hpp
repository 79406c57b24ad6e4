#pragma once

#include "formats/text/line_reader.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::text {

/// Longest line of a log that is looked at. Longer ones are no report of any tracker; they are
/// skipped and counted.
inline constexpr std::size_t kMaxLogLineBytes = 16u << 20;

/// What a CR within a line is: a byte of it, or an end, as progress bars write.
enum class Returns : std::uint8_t { keep, end_lines };

/// Lines of a text that has been through a terminal, a log file or an editor: UTF-8 with or without
/// byte order mark, LF or CRLF, with or without colours. Views are without mark, line end
/// and escape sequences. Throws Failure for what Input returns.
class LogLines {
 public:
  explicit LogLines(Input& in, Returns returns = Returns::keep)
      : lines_(in, kMaxLogLineBytes, LongLine::skip), returns_(returns) {}

  /// The next line, valid until the next call; false at the end.
  bool next(std::string_view& line);

  /// Where the last line begins.
  std::uint64_t line_offset() const { return line_offset_; }
  std::uint64_t offset() const { return lines_.offset(); }
  /// False for a last line without end.
  bool terminated() const { return terminated_; }
  /// Lines beyond kMaxLogLineBytes so far, and where the first one begins.
  std::uint64_t skipped() const { return lines_.skipped(); }
  std::uint64_t first_skipped() const { return lines_.first_skipped(); }
  /// Adds a note about them, if there were any.
  void note_skipped(Notes& notes) const;

 private:
  LineReader lines_;
  Returns returns_;
  std::string_view rest_;  // of a line with CRs, still to be given out
  std::uint64_t rest_offset_ = 0;
  std::uint64_t line_offset_ = 0;
  bool terminated_ = true;
  std::string plain_;
  bool first_ = true;
};

/// `line` without escape sequences (ESC [ ... letter); `scratch` holds the text where there were any.
std::string_view without_escapes(std::string_view line, std::string& scratch);

/// Whether the first bytes of an input hold no control characters but `controls`; false without any byte.
bool is_text(std::string_view head, std::string_view controls);

/// The first bytes of an input as LogLines would show them, for detection.
std::string plain_head(std::string_view head);

/// Takes the next line off `text`, without its end; false at the end of `text`.
bool take_line(std::string_view& text, std::string_view& line);

/// Whether a line of the first bytes of an input, as LogLines would show it, is what is looked for: is(line).
template <class Is>
bool any_line_of(std::string_view head, Is is) {
  const std::string plain = plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  while (take_line(rest, line)) {
    if (is(line)) return true;
  }
  return false;
}

}  // namespace snapdiff::formats::text
