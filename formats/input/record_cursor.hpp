#pragma once

#include "formats/input/byte_window.hpp"

namespace snapdiff::formats {

/// Parts of binary records with numbers of 7 bits a byte. Behind the end of the input lie zeros: whole() says
/// afterwards whether all that was read was there. Throws Failure: malformed, at the record's offset.
class RecordCursor {
 public:
  /// Names and tables of real programs have some KB.
  static constexpr std::size_t kMostTextBytes = std::size_t{1} << 24;

  explicit RecordCursor(Input& in) : window_(in) {}

  /// Moves to the next record; false at the end of the input.
  bool next() {
    room();
    offset_ = window_.offset_of(p_);
    return p_ < window_.end();
  }
  std::uint64_t offset() const { return offset_; }
  bool whole() const { return p_ <= window_.end(); }
  [[noreturn]] void malformed(std::string text) const { fail_malformed(std::move(text), offset_); }

  /// The next ByteWindow::kPadding bytes can be read: as much as any record has without its texts.
  void room() { window_.ensure(p_, ByteWindow::kPadding); }

  template <class T>
  T raw() {
    T value;
    std::memcpy(&value, p_, sizeof value);
    p_ += sizeof value;
    return value;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*p_++);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    malformed("number not readable: found more than 10 bytes, expected the last one to be below 0x80");
  }
  /// A difference to the number before: the sign is in the lowest bit.
  std::uint64_t delta() {
    const std::uint64_t value = number();
    return (value >> 1U) ^ (0 - (value & 1U));
  }

  /// `size` bytes, valid until room() or the next text; nothing where the input ends before.
  std::optional<std::string_view> bytes(std::uint64_t size) {
    if (size > kMostTextBytes)
      malformed("text too long: found " + std::to_string(size) + " bytes, expected up to 16 MiB");
    if (!window_.ensure(p_, size)) return std::nullopt;
    p_ += size;
    return std::string_view(p_ - size, size);
  }
  /// Moves over `size` bytes; false where the input ends before.
  bool skip(std::uint64_t size) { return window_.skip(p_, size); }
  /// Up to a zero, which is left out.
  std::optional<std::string_view> text() {
    for (std::size_t wanted = ByteWindow::kPadding; whole(); wanted *= 2) {
      const bool more = window_.ensure(p_, wanted);
      const auto size = std::min(static_cast<std::size_t>(window_.end() - p_), kMostTextBytes);
      if (const void* const end = std::memchr(p_, 0, size); end != nullptr) {
        const std::string_view found(p_, static_cast<std::size_t>(static_cast<const char*>(end) - p_));
        p_ += found.size() + 1;
        return found;
      }
      if (!more) return std::nullopt;
      if (size == kMostTextBytes) malformed("text too long: found no end, expected one within 16 MiB");
    }
    return std::nullopt;
  }

  /// Whether there are only zeros up to the end.
  bool only_zeros() {
    do {
      while (p_ < window_.end() && *p_ == 0) ++p_;
    } while (p_ == window_.end() && window_.ensure(p_, 1));
    return p_ == window_.end();
  }

 private:
  ByteWindow window_;
  const char* p_ = nullptr;
  std::uint64_t offset_ = 0;
};

}  // namespace snapdiff::formats
