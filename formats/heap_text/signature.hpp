#pragma once

#include "formats/input/cpu_profile.hpp"
#include "formats/text/log_lines.hpp"

/// What the first lines of a text heap dump say it is.
namespace snapdiff::formats::heap_text {

using namespace text;

inline bool is_jemalloc_noise(std::string_view line) { return has_prefix(line, "<jemalloc>:"); }

/// "---", blanks, `word`, then anything that does not continue the word.
inline bool is_marker(std::string_view line, std::string_view word) {
  Cursor at(line);
  if (!at.take("---")) return false;
  at.skip_blanks();
  return at.take(word) && (at.at_end() || is_blank(at.peek()));
}

inline bool is_marker_alone(std::string_view line, std::string_view word) {
  constexpr std::size_t kLongest = 16;
  return line.size() <= kLongest && is_marker(line, word) && line.substr(line.size() - word.size()) == word;
}

/// Blanks in front of a dump that somebody pasted, from a ticket say.
inline std::size_t indent_of(std::string_view line) {
  constexpr std::size_t kMost = 64;
  const std::size_t end = line.find_first_not_of(" \t");
  return end > kMost ? 0 : end;  // also where there is nothing else
}

enum class Dump { none, gperftools, go_text, jemalloc, java_heapz, symbolized };

struct Signature {
  Dump dump = Dump::none;
  bool certain = false;  ///< the whole signature is there, not only how it begins
};

/// "heap profile: 1: 2 [3: 4] @ heap/1048576"; the type decides between Go and the rest.
inline Signature heap_profile(std::string_view line) {
  Cursor at(line);
  at.take("heap profile:");
  at.skip_blanks();
  std::int64_t number = 0;
  const bool has_count = at.decimal(number) == Number::ok && (at.skip_blanks(), at.take(':'));
  const std::size_t type = line.rfind('@');
  if (type != std::string_view::npos) {
    Cursor after(line.substr(type + 1));
    after.skip_blanks();
    if (after.take("heap/") && is_digit(after.peek())) return {Dump::go_text, has_count};
  }
  return {Dump::gperftools, has_count};
}

/// "goroutine" of "goroutine profile: total 7", the first line of Go's profiles that count and have no bytes: also of
/// threads, leaked goroutines, and profiles of a program's own. "" for any other line.
inline std::string_view count_name(std::string_view line) {
  constexpr std::string_view kTotal = " profile: total ";
  constexpr std::size_t kLongestName = 64;
  const std::size_t total = line.substr(0, kLongestName).find(kTotal);
  if (total == std::string_view::npos || total == 0 || total + kTotal.size() == line.size()) return {};
  const std::string_view name = line.substr(0, total);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) { return is_word(c) || c == '.' || c == '/'; });
  return is_name && is_digit(line[total + kTotal.size()]) ? name : std::string_view();
}

/// What `line`, the first one that is not preamble(), opens.
inline Signature signature_of(std::string_view line) {
  line.remove_prefix(indent_of(line));
  if (has_prefix(line, "heap profile:")) return heap_profile(line);
  if (!count_name(line).empty()) return {Dump::go_text, true};
  if (has_prefix(line, "heap_v2/")) {
    return {Dump::jemalloc, line.size() > 8 && is_digit(line[8])};
  }
  if (has_prefix(line, "--- heapz 1 ---")) return {Dump::java_heapz, true};
  if (is_marker(line, "symbol")) return {Dump::symbolized, true};
  return {};
}

/// Lines that may be in front of a dump: blank ones, perl pprof's commands ("%warn …"), the
/// section markers "--- heap", "--- growth" and "--- profile" (which google-pprof 2.10 puts before
/// a heap dump, too), and what jemalloc wrote to stderr.
inline bool is_preamble(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.empty() || text.front() == '%' || is_jemalloc_noise(text)) return true;
  return is_marker_alone(text, "heap") || is_marker_alone(text, "growth") || is_marker_alone(text, "profile");
}

/// The signature in `head`, the first bytes of an input.
inline Signature identify(std::string_view head) {
  std::string_view line;
  bool noise = false;
  while (text::take_line(head, line)) {
    if (is_preamble(line)) {
      noise = noise || is_jemalloc_noise(line);
      continue;
    }
    return signature_of(line);
  }
  if (noise) return {Dump::jemalloc, false};  // more of it than the head shows
  return {};
}

/// Reads the preamble away; the next line is the signature. Warnings in it become notes.
inline void skip_preamble(LineReader& lines, Notes& notes) {
  std::string_view line;
  while (lines.next(line)) {
    if (!is_preamble(line)) {
      const std::size_t indent = indent_of(line);
      if (indent > 0 && signature_of(line).dump != Dump::none) lines.set_indent(indent);
      lines.unread();
      return;
    }
    line = trim(line);
    if (is_jemalloc_noise(line)) {
      notes.add(Severity::warning, "messages of jemalloc in front of the dump, skipped", lines.line_offset());
    } else if (has_prefix(line, "%warn")) {
      constexpr std::size_t kShown = 200;
      notes.add(Severity::warning, "the profiler warns: " + std::string(trim(line.substr(5)).substr(0, kShown)),
                lines.line_offset());
    }
  }
}

/// Why `head` is refused although it comes from the same tools, or "".
inline std::string refused_relative(std::string_view head) {
  if (is_cpu_profile(head)) return "this is a CPU profile, expected a heap profile";
  std::string_view line;
  bool after_profile_marker = false;
  while (text::take_line(head, line) && is_preamble(line))
    after_profile_marker = is_marker_alone(trim(line), "profile");
  line.remove_prefix(indent_of(line));
  if (signature_of(line).dump != Dump::none) return {};
  if (after_profile_marker || is_marker(line, "cpu") || is_marker(line, "profile"))
    return "this is a CPU profile, expected a heap profile";
  if (has_prefix(line, "--- contention")) return "this is a contention profile, expected a heap profile";
  if (has_prefix(line, "--- mutex:")) return "this is a mutex profile, expected a heap profile";
  if (has_prefix(line, "--- threadz")) return "this is a list of threads, expected a heap profile";
  return {};
}
/// The same for the JSON allocation logs of jemalloc.
inline std::string refused_jemalloc_log(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '{') return {};
  if (head.find("\"lg_sample_rate\"") == std::string_view::npos &&
      head.find("\"stack_traces\"") == std::string_view::npos)
    return {};
  return "this is an allocation log of jemalloc, expected a heap dump: make one with mallctl \"prof.dump\" or "
         "lg_prof_interval";
}

}  // namespace snapdiff::formats::heap_text
