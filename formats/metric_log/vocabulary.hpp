#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace snapdiff::formats::metric_log {

/// What a word in front of a number means.
struct Word {
  std::string_view words;    ///< in lower case, a blank between words, a bar between phrases of one meaning
  std::string_view counter;  ///< its canonical name
  bool is_count = false;     ///< else bytes
  bool alone = false;        ///< says by itself that the number is about memory
  bool needs_unit = false;   ///< without a unit the number may be in any
  bool needs_step = false;   ///< an everyday word: only in a line with a step, or beside a word that is alone
  bool cumulative = false;   ///< only counts up, whether memory is freed or not
};

/// The entry that is the longest tail of `words` (lower case, single blanks), or null; null, too, where
/// the word in front of it says that the number is a change, a mean or a limit.
const Word* find_word(std::string_view words);

/// Whether their number only counts up, in whatever unit: TotalAlloc of Go.
bool counts_up(std::string_view words);

/// Words of `text` in lower case; all but letters and digits separates them.
std::string words_of(std::string_view text);

/// A word that says that the number is about memory, whatever else is said of it.
bool has_memory_word(std::string_view words);

/// Says that the number is a change, a mean or a limit, a share or a time.
bool is_other_measure(std::string_view words);

/// The name of a counter that has no entry: its last words, without numbers. "" where there is none.
std::string name_of_words(std::string_view words);

/// Cuts a unit of bytes off the end of the words ("rss mb", "heap in mib") and returns it; 0 where there is none.
std::uint64_t take_unit_word(std::string& words, bool decimal_units);

}  // namespace snapdiff::formats::metric_log
