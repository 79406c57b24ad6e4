#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

/// Fields of one line: numbers in hexadecimal without 0x, parted by single blanks.
namespace snapdiff::formats::heaptrack {

class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  /// The next number; false where there is none, or one of more than 64 bits.
  bool number(std::uint64_t& out) {
    const std::size_t blanks = std::min(rest_.find_first_not_of(' '), rest_.size());
    const char* const end = rest_.data() + rest_.size();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(rest_.data() + blanks, end, value, 16);
    if (error != std::errc{} || (stop != end && *stop != ' ')) return false;
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    out = value;
    return true;
  }

  /// As number(), for an index or a line; false beyond 32 bits too.
  bool number(std::uint32_t& out) {
    std::uint64_t wide = 0;
    if (!number(wide) || wide > std::numeric_limits<std::uint32_t>::max()) return false;
    out = static_cast<std::uint32_t>(wide);
    return true;
  }

  bool at_end() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }
  /// What was not read, without the blank in front.
  std::string_view text() const { return !rest_.empty() && rest_[0] == ' ' ? rest_.substr(1) : rest_; }

 private:
  std::string_view rest_;
};

}  // namespace snapdiff::formats::heaptrack
