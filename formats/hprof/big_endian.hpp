#pragma once

#include <cstdint>
#include <cstring>

namespace snapdiff::formats::hprof {

/// Big-endian numbers of 2, 4 and 8 bytes, at any address.
inline std::uint32_t load_u2(const char* p) {
  std::uint16_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap16(value);
}
inline std::uint32_t load_u4(const char* p) {
  std::uint32_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap32(value);
}
inline std::uint64_t load_u8(const char* p) {
  std::uint64_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap64(value);
}

}  // namespace snapdiff::formats::hprof
