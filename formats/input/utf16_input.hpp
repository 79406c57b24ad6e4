#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// Text in UTF-16 (PowerShell's `>` writes it) as UTF-8. Which byte order, the mark in front says;
/// the mark itself is left out. An unpaired surrogate becomes the three bytes that encode it, half a
/// unit at the end U+FFFD. offset() counts the bytes of the UTF-8 text.
class Utf16Input final : public Input {
 public:
  /// Whether `head` begins with a byte order mark of UTF-16.
  static bool is_utf16(std::string_view head);
  /// `head` as UTF-8 where it is UTF-16, for detection; else as it is. A unit that is cut is left out.
  static std::string head_as_utf8(std::string_view head);

  /// `source` stands before the mark and must outlive this.
  explicit Utf16Input(Input& source) : source_(source) {}

  Result<std::string_view> peek(std::size_t wanted) override;
  void consume(std::size_t n) override {
    begin_ += n;
    offset_ += n;
  }
  std::uint64_t offset() const override { return offset_; }
  const std::string& name() const override { return source_.name(); }
  std::string_view compression() const override { return source_.compression(); }

 private:
  Input& source_;
  std::string text_;  // converted; unread from begin_ on
  std::size_t begin_ = 0;
  std::uint64_t offset_ = 0;
  std::uint32_t high_ = 0;  // a high surrogate that waits for its other half
  bool started_ = false;
  bool big_endian_ = false;
  bool ended_ = false;
};

}  // namespace snapdiff::formats
