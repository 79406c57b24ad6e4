#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/words.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"

/// Sentences: names of the inputs apart from our words, numbers as pages print them.
namespace snapdiff::document {

/// U+2212, thin spaces in thousands, no-break spaces before units; terminals replace them.
inline constexpr NumberGlyphs kPageNumbers{"\u2212", "\u2009", "\u00a0"};

/// Puts a text together. Runs of our own words become one span.
class Writer {
 public:
  Writer& operator<<(std::string_view text);
  template <std::integral Number>
  Writer& operator<<(Number number) {
    return *this << std::string_view(std::to_string(number));
  }
  Writer& operator<<(const Prose& other);
  /// Out of an input; longer ones than a sentence bears lose their middle.
  Writer& name(std::string_view text);
  /// What tables call a frame: the short function name, or module and address.
  Writer& frame(const FrameView& frame);
  /// The last function of a path, root first; where it has no name of its own, also the one that it is written in:
  /// "(anonymous:L#73:C#6) in encodeShard". "[no stack recorded]" of an empty one.
  Writer& last_of(const std::vector<FrameView>& path);
  /// "svc.cc:24"; nothing without a file.
  Writer& place(const FrameView& frame);
  /// "svc.0003.heap".
  Writer& snapshot(const SnapshotRef& ref);
  /// Of a command that can be copied into a POSIX shell: a blank and the operand, quoted where the shell needs it.
  Writer& operand(const SnapshotRef& ref);
  Writer& operands(const GrowthReport& report);

  bool empty() const { return prose_.empty(); }
  Prose take() { return std::move(prose_); }

 private:
  Prose prose_;
};

/// A text of parts in order, each as a Writer takes it.
template <class... Parts>
Prose prose_of(const Parts&... parts) {
  Writer out;
  (out << ... << parts);
  return out.take();
}

/// The short name of a frame's function; "" where it has none.
std::string function_of(const FrameView& frame);
/// A regular expression that finds the function: the longest part of its short name without template arguments and
/// brackets, special characters taken as they are.
std::string pattern_of(const FrameView& frame);
/// Whether a POSIX shell takes it as it is.
bool is_plain_word(std::string_view text);
/// Whether place() says more than frame() did.
bool has_place(const FrameView& frame);
/// place() where it says more than frame() did; else nothing.
Prose place_of(const FrameView& frame);
/// Base name of the source, else of the operand.
std::string_view snapshot_name(const SnapshotRef& ref);

/// Values of the report's metric.
inline std::string value(const GrowthReport& report, std::int64_t number) {
  return value_text(number, report.unit, false, kPageNumbers);
}
inline std::string growth(const GrowthReport& report, std::int64_t number) {
  return value_text(number, report.unit, true, kPageNumbers);
}
inline std::string percent(std::int64_t part, std::int64_t whole) { return percent_text(part, whole, kPageNumbers); }
inline std::string sized(std::int64_t bytes) { return bytes_text(bytes, kPageNumbers); }
/// A share, 0..1.
std::string percent_of(double share);
template <std::integral Number>
std::string count(Number number) {
  return count_text(static_cast<std::int64_t>(number), kPageNumbers);
}
/// "1 object", "12 objects"; `with_sign`: "+12 objects".
template <std::integral Number>
std::string amount_of(Number number, std::string_view singular, bool with_sign = false) {
  return counted(static_cast<std::int64_t>(number), singular, {"\u2212", "\u2009", " "}, with_sign);
}
/// "42 s", "11.5 min", "3.20 h", "12.4 d".
inline std::string duration(double seconds) { return duration_text(seconds, kPageNumbers); }

}  // namespace snapdiff::document
