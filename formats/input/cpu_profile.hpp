#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace snapdiff::formats {

/// Whether this is the head of a legacy CPU profile: words 0, header length 3, version 0 (Java: 1), sampling period in
/// us, padding 0 in one of four codings (gperftools, profiledata.cc).
inline bool is_cpu_profile(std::string_view head) {
  for (const std::size_t width : {std::size_t{8}, std::size_t{4}}) {
    if (head.size() < 5 * width) continue;
    for (const bool big_endian : {false, true}) {
      const auto word = [&](std::size_t index) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
          const std::size_t at = index * width + (big_endian ? i : width - 1 - i);
          value = value << 8 | static_cast<unsigned char>(head[at]);
        }
        return value;
      };
      if (word(0) == 0 && word(1) == 3 && word(2) <= 1 && word(3) > 0 && word(4) == 0) return true;
    }
  }
  return false;
}

}  // namespace snapdiff::formats
