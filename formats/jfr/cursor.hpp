#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::jfr {

/// A place in the bytes of a chunk; every read is checked. Throws Failure: malformed.
class Cursor {
 public:
  /// `base`: offset of the first byte in the input.
  Cursor(std::string_view bytes, std::uint64_t base, std::size_t at = 0) : bytes_(bytes), base_(base), at_(at) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  std::uint64_t offset() const { return base_ + at_; }
  /// The same place, with `size` bytes in front of the end at most.
  Cursor first(std::size_t size) const { return Cursor(bytes_.substr(0, at_ + size), base_, at_); }

  void skip(std::uint64_t count) {
    if (count > left()) ends(count);
    at_ += static_cast<std::size_t>(count);
  }
  std::string_view take(std::uint64_t count) {
    const std::size_t begin = at_;
    skip(count);
    return bytes_.substr(begin, at_ - begin);
  }
  std::uint8_t byte() {
    if (at_ == bytes_.size()) ends(1);
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  /// Big-endian, `size` bytes.
  std::uint64_t fixed(std::size_t size) {
    std::uint64_t value = 0;
    for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  /// Seven bits a byte, the lowest first; the ninth byte has eight.
  std::uint64_t number() {
    std::uint64_t value = byte();
    if (value < 128) return value;
    value &= 127;
    for (unsigned shift = 7; shift < 56; shift += 7) {
      const std::uint64_t next = byte();
      value |= (next & 127) << shift;
      if (next < 128) return value;
    }
    return value | std::uint64_t{byte()} << 56;
  }
  void skip_numbers(std::uint64_t count) {
    for (; count > 0; --count) number();
  }
  /// How many elements follow, of at least one byte each.
  std::size_t count() {
    const std::uint64_t start = offset();
    const std::uint64_t value = number();
    if (value > left())
      fail_malformed(instead("count beyond the end", value, "at most " + std::to_string(left())), start);
    return static_cast<std::size_t>(value);
  }

 private:
  [[noreturn]] void ends(std::uint64_t wanted) const {
    fail_malformed("record too short: " + std::to_string(left()) + " bytes left, expected " + std::to_string(wanted),
                   offset());
  }

  std::string_view bytes_;
  std::uint64_t base_;
  std::size_t at_;
};

}  // namespace snapdiff::formats::jfr
