#pragma once

#include "formats/text/line_reader.hpp"

/// What the first lines of a text heap dump say it is.
namespace snapdiff::formats::heap_text {

using namespace text;

enum class Dump { none, gperftools, go_text, jemalloc, java_heapz, symbolized };

struct Signature {
  Dump dump = Dump::none;
  bool certain = false;  ///< the whole signature is there, not only how it begins
};

/// "goroutine" of "goroutine profile: total 7", the first line of Go's profiles that count and have no bytes: also of
/// threads, leaked goroutines, and profiles of a program's own. "" for any other line.
std::string_view count_name(std::string_view line);

/// What `line`, the first one that is not preamble(), opens.
Signature signature_of(std::string_view line);

/// Lines that may be in front of a dump: blank ones, perl pprof's commands ("%warn …"), the
/// section markers "--- heap", "--- growth" and "--- profile" (which google-pprof 2.10 puts before
/// a heap dump, too), and what jemalloc wrote to stderr.
bool is_preamble(std::string_view line);

/// The signature in `head`, the first bytes of an input.
Signature identify(std::string_view head);

/// Reads the preamble away; the next line is the signature. Warnings in it become notes.
void skip_preamble(LineReader& lines, Notes& notes);

/// Why `head` is refused although it comes from the same tools, or "".
std::string refused_relative(std::string_view head);
/// The same for the JSON allocation logs of jemalloc.
std::string refused_jemalloc_log(std::string_view head);

}  // namespace snapdiff::formats::heap_text
