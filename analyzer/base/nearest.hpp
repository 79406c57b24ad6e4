#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "snapdiff/api.hpp"

namespace snapdiff {

/// Edits that turn one word into the other: a letter added, left out or replaced, or two neighbours swapped (optimal
/// string alignment). O(a.size() * b.size()).
SNAPDIFF_API std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that was most likely meant by `word`: the nearest one within a third of its letters, else the first
/// that begins with it; "" where none is near. The first of equally near ones wins; words beyond 64 bytes have none.
SNAPDIFF_API std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean NAME?" to end a message with, or "".
SNAPDIFF_API std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace snapdiff
