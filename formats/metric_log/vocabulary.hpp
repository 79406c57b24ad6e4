#pragma once

#include <cstdint>
#include <string_view>

namespace snapdiff::formats::metric_log {

/// What a word in front of a number means.
struct Word {
  std::string_view words;    ///< in lower case, a blank between words
  std::string_view counter;  ///< its canonical name
  bool is_count = false;     ///< else bytes
  bool alone = false;        ///< says by itself that the number is about memory
  bool needs_unit = false;   ///< without a unit the number may be in any
  bool needs_step = false;   ///< an everyday word: only in a line with a step, or beside a word that is alone
};

/// The entry that is the longest tail of `words` (lower case, single blanks), or null; null, too, where
/// the word in front of it says that the number is a change, a mean or a limit.
const Word* find_word(std::string_view words);

}  // namespace snapdiff::formats::metric_log
