#pragma once

#include <string_view>

namespace snapdiff {

/// Note of a GrowthReport whose two sides, though neither is empty, have no stack in common.
inline constexpr std::string_view kNothingInCommon = "no stack in common: two different programs?";

/// How the note begins that names an input that was damaged and is missing from the answer.
inline constexpr std::string_view kLeftOut = "left out: ";

/// Notes that are before the answer, since they say whether it is one.
inline bool comes_first(std::string_view note) { return note == kNothingInCommon || note.starts_with(kLeftOut); }

}  // namespace snapdiff
