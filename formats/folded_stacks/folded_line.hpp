#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::folded {

/// "main;handle;alloc 4096": the text before the last blank, and the number behind it.
struct FoldedLine {
  std::string_view stack;  ///< root first
  std::int64_t value = 0;
  bool has_end = false;  ///< a semicolon is behind the last frame, too: heaptrack_print
};

/// Nothing where the line has no whole number at its end, or an empty frame, or blanks around one.
std::optional<FoldedLine> folded_line(std::string_view line);

/// "# mode: memory" of austin -> "memory", given "mode".
std::optional<std::string_view> header_value(std::string_view line, std::string_view key);

/// Cuts the next frame off the front of `stack`.
std::string_view take_frame(std::string_view& stack);

/// How async-profiler and perf's scripts mark how a frame ran: "_[j]" and so on, cut off `frame`; '\0' where there is
/// no mark.
char take_mark(std::string_view& frame);

/// "FILE:LINE (FUNCTION)", as fil writes a frame; false for other text.
bool take_fil(std::string_view frame, text::PrintedFrame& out);

/// "main (app.cpp)", as heaptrack_print writes a frame with its file; other text is left alone.
void take_heaptrack(std::string_view frame, text::PrintedFrame& out);

/// Evidence from the complete lines of a head.
///   is_folded  each line is a stack with a number, most have several frames, and none looks like a line of a log
///   repeats    stacks that come again, which writers add up and logs repeat
///   is_java    some frame lies in java.*: names have slashes for dots
///   is_fil     each leaf is a frame as fil writes it: bytes, at the peak
///   has_types  each leaf is marked as async-profiler marks the class that was allocated
struct FoldedText {
  bool is_folded = false;
  bool is_austin = false;
  bool is_cpu = false;  ///< of austin: not of memory
  bool is_java = false;
  bool has_types = false;
  bool is_fil = false;
  bool is_heaptrack = false;  ///< each line has a semicolon behind its last frame
  std::size_t lines = 0;
  std::size_t repeats = 0;
  std::size_t roots = 0;  ///< distinct first frames: programs have few, words of logs many
};
FoldedText look_at(std::string_view head, bool whole);

}  // namespace snapdiff::formats::folded
