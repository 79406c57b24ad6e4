#pragma once

#include <string>
#include <string_view>

namespace snapdiff::formats::text {

/// A guess at text of an unknown kind, and the formats of that kind: "a log with times; GC logs, … are read".
/// "" without a guess.
std::string shape_hint(std::string_view head);

/// Lines of a program's source: what a pattern would read of it is no measurement.
bool is_source_code(std::string_view head);

/// The same of JSON: its first keys.
std::string keys_hint(std::string_view head);

/// A regular expression for --pattern that fits the first line of `head` with a number and a unit of bytes, else its
/// first line with a number behind a word of memory, behind any word, alone: "cache size (?P<value>[\\d.,]+)
/// ?(?P<unit>\\w+)". "" where no line fits. It holds no quotes, so that it can be pasted into a shell between single
/// ones.
std::string pattern_hint(std::string_view head);

}  // namespace snapdiff::formats::text
