#pragma once

namespace snapdiff::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Rounds that a sanitized run does fewer of, as in rounds.py: those left out run no code that the others did not.
template <class Number>
constexpr Number rounds(Number all, Number sanitized) {
  return kSanitized ? sanitized : all;
}

}  // namespace snapdiff::test
