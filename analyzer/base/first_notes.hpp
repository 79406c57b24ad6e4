#pragma once

#include <string_view>

namespace snapdiff {

/// Note of a GrowthReport whose two sides, though neither is empty, have no stack in common.
inline constexpr std::string_view kNothingInCommon = "no stack in common: two different programs?";

/// The same where nothing but what is recorded alike was compared.
inline constexpr std::string_view kNothingRecordedAlike =
    "no stack is recorded alike in both: another build? Without --match strict its stacks are matched";

/// How the note begins that names an input that was damaged and is missing from the answer.
inline constexpr std::string_view kLeftOut = "left out: ";

/// How the note begins that says why an allocation failed, in a log that holds the message.
inline constexpr std::string_view kOutOfMemory = "out of memory: ";

inline bool is_unrelated(std::string_view note) { return note == kNothingInCommon || note == kNothingRecordedAlike; }

/// Notes that stand before the answer, since they say whether it is one.
inline bool comes_first(std::string_view note) { return is_unrelated(note) || note.starts_with(kLeftOut); }

}  // namespace snapdiff
