#pragma once

#include <cstdint>
#include <string_view>

/// Fields of one line: numbers in hexadecimal without 0x, parted by single blanks.
namespace snapdiff::formats::heaptrack {

class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  /// The next number; false where there is none, or one of more than 64 bits.
  bool number(std::uint64_t& out);
  /// As number(), for an index or a line; false beyond 32 bits too.
  bool number(std::uint32_t& out);
  bool at_end() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }
  /// What was not read, without the blank in front.
  std::string_view text() const { return !rest_.empty() && rest_[0] == ' ' ? rest_.substr(1) : rest_; }

 private:
  std::string_view rest_;
};

}  // namespace snapdiff::formats::heaptrack
