#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/store/store_failure.hpp"

/// Variable-length integers of the column chunks: little-endian groups of 7 bits, top bit set on
/// all but the last byte (LEB128, as in protobuf).
namespace snapdiff::store {

constexpr std::uint64_t zigzag(std::uint64_t value) { return (value << 1) ^ (std::uint64_t{0} - (value >> 63)); }
constexpr std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (std::uint64_t{0} - (value & 1)); }

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

/// Reads front to back; throws malformed instead of passing the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint64_t varint() {
    if (at_ != end_ && static_cast<signed char>(*at_) >= 0) return static_cast<std::uint8_t>(*at_++);
    return long_varint();
  }
  /// A varint that must be below `limit`.
  std::uint32_t below(std::uint64_t limit, const char* what) {
    const std::uint64_t value = varint();
    if (value >= limit) out_of_range(value, limit, what);
    return static_cast<std::uint32_t>(value);
  }
  std::uint8_t byte() {
    if (at_ == end_) ended();
    return static_cast<std::uint8_t>(*at_++);
  }
  std::string_view bytes(std::size_t count) {
    if (count > left()) ended();
    const std::string_view view(at_, count);
    at_ += count;
    return view;
  }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  void expect_end() const {
    if (at_ != end_) fail(ErrorCode::malformed, std::to_string(left()) + " bytes left over, expected none");
  }

 private:
  [[noreturn]] static void ended() { fail(ErrorCode::malformed, "column ends early"); }
  [[noreturn]] static void out_of_range(std::uint64_t value, std::uint64_t limit, const char* what) {
    fail(ErrorCode::malformed,
         std::string(what) + " " + std::to_string(value) + ", expected less than " + std::to_string(limit));
  }
  std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t group = byte();
      if (shift == 63 && group > 1) break;
      value |= static_cast<std::uint64_t>(group & 0x7f) << shift;
      if (group < 0x80) return value;
    }
    fail(ErrorCode::malformed, "integer of more than 64 bits");
  }

  const char* at_;
  const char* end_;
};

}  // namespace snapdiff::store
