#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/hash.hpp"

/// The RowBinary format of ClickHouse: little-endian numbers, texts and arrays with their length before them.
namespace snapdiff::fleet {

inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostItems = std::uint64_t{1} << 20;

/// Appends values of rows.
class RowWriter {
 public:
  template <class Number>
  RowWriter& number(Number value) {
    static_assert(std::endian::native == std::endian::little);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
    return *this;
  }
  RowWriter& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>((value & 0x7f) | 0x80);
    out_ += static_cast<char>(value);
    return *this;
  }
  RowWriter& text(std::string_view value) {
    varint(value.size());
    out_.append(value);
    return *this;
  }
  RowWriter& hash(const Hash128& value) { return number(value.high).number(value.low); }

  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }
  void clear() { out_.clear(); }
  std::size_t size() const { return out_.size(); }

 private:
  std::string out_;
};

/// Reads values of rows. Where the bytes end within a row, everything after is 0 and is_short() says so; a length
/// beyond the limits makes it is_bad().
class RowReader {
 public:
  explicit RowReader(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number number() {
    Number value{};
    if (!has(sizeof value)) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t varint(std::uint64_t most) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      if (!has(1)) return 0;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        if (value <= most) return value;
        break;
      }
    }
    is_bad_ = true;
    return 0;
  }
  std::string_view text() {
    const std::uint64_t size = varint(kMostTextBytes);
    if (!has(size)) return {};
    const std::string_view value = bytes_.substr(at_, size);
    at_ += size;
    return value;
  }
  Hash128 hash() {
    Hash128 value;
    value.high = number<std::uint64_t>();
    value.low = number<std::uint64_t>();
    return value;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> out;
    const std::uint64_t count = varint(kMostItems);
    for (std::uint64_t i = 0; i < count && whole(); ++i) out.emplace_back(text());
    return out;
  }
  template <class Number>
  std::vector<Number> numbers() {
    std::vector<Number> out;
    const std::uint64_t count = varint(kMostItems);
    for (std::uint64_t i = 0; i < count && whole(); ++i) out.push_back(number<Number>());
    return out;
  }

  bool whole() const { return !is_short_ && !is_bad_; }
  bool is_bad() const { return is_bad_; }
  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }

 private:
  bool has(std::uint64_t size) {
    if (is_short_ || is_bad_) return false;
    if (bytes_.size() - at_ < size) is_short_ = true;
    return !is_short_;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool is_short_ = false;
  bool is_bad_ = false;
};

}  // namespace snapdiff::fleet
