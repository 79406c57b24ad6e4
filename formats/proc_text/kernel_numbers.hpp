#pragma once

#include "formats/text/scan.hpp"

namespace snapdiff::formats::proc_text {

/// "kB" of the kernel, in bytes.
inline constexpr std::int64_t kKib = 1024;

/// A cgroup without a limit says 2^63-1, cut to a page of at most 64 KiB (include/linux/page_counter.h): from here on.
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() - (std::int64_t{64} << 10);

/// "   4140 kB" as bytes; false, and the cursor moved, where it is not that or does not fit.
inline bool take_kib(text::Cursor& at, std::int64_t& bytes) {
  return at.takes("~%~kB", bytes) && !__builtin_mul_overflow(bytes, kKib, &bytes);
}

}  // namespace snapdiff::formats::proc_text
