#include "formats/heaptrack/line_of_hex.hpp"

#include <catch2/catch.hpp>
#include <charconv>
#include <cstdint>
#include <random>
#include <string>

namespace {

using snapdiff::formats::heaptrack::line_of_hex;
using snapdiff::formats::heaptrack::LineOfHex;

/// The same, by the standard library.
LineOfHex expected(const std::string& text) {
  const std::size_t digits = text.find('\n');
  if (digits == std::string::npos || digits == 0 || digits > 6) return {};
  if (text.substr(0, digits).find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  LineOfHex number{0, static_cast<std::uint32_t>(digits)};
  std::from_chars(text.data(), text.data() + digits, number.value, 16);
  return number;
}

void check(const std::string& text) {
  REQUIRE(text.size() == LineOfHex::kReads);
  const LineOfHex want = expected(text);
  const LineOfHex got = line_of_hex(text.data());
  INFO(text);
  REQUIRE(got.digits == want.digits);
  REQUIRE(got.value == want.value);
}

}  // namespace

TEST_CASE("heaptrack: the number of an event's line, of any length and before any other line") {
  std::mt19937 random(1);
  for (std::size_t digits = 0; digits <= 8; ++digits) {
    for (int i = 0; i < 2000; ++i) {
      std::string text;
      while (text.size() < digits) text += "0123456789abcdef"[random() % 16];
      text += '\n';
      while (text.size() < 8) text += "+- 0f\n\r"[random() % 7];
      check(text.substr(0, 8));
    }
  }
}

TEST_CASE("heaptrack: any other byte in front of the line's end makes it another line") {
  for (const std::string text : {"0123abc\n", "fedc\n+ 1", "9\n- 12a\n", "\n+ 1\n- 1", "12345678", "a 3\n+ 1\n"}) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string other = text;
        other[at] = static_cast<char>(byte);
        check(other);
      }
    }
  }
}
