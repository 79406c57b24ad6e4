#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "formats/heaptrack/record_fields.hpp"

using namespace snapdiff::formats::heaptrack;

namespace {

/// Digits and row of a line, with other bytes behind it.
std::pair<std::size_t, std::uint32_t> event(std::string line) {
  line.resize(line.size() + 10, '7');
  std::uint32_t row = 0;
  const std::size_t digits = short_event(line.data(), row);
  return {digits, row};
}

}  // namespace

TEST_CASE("heaptrack: short events are read as the slow way reads them") {
  for (std::uint64_t row = 0; row < 0x1000'0000; row = row * 3 / 2 + 1) {
    char line[16];
    std::snprintf(line, sizeof line, "+ %zx\n", static_cast<std::size_t>(row));
    CAPTURE(line);
    CHECK(event(line) == std::pair{std::string(line).size() - 3, static_cast<std::uint32_t>(row)});
    std::snprintf(line, sizeof line, "- %zX\n", static_cast<std::size_t>(row));
    CHECK(event(line) == std::pair{std::string(line).size() - 3, static_cast<std::uint32_t>(row)});
  }
  CHECK(event("+ 0000012\n") == std::pair{std::size_t{7}, 0x12U});
}

TEST_CASE("heaptrack: every other line is left to the slow way") {
  for (const std::string line :
       {"+ \n", "+ 12345678\n", "+1\n\n", "* 1\n", "c 1\n", "+\t1\n", "+ 1 2\n", "+ 1\r\n", "+ -1\n"}) {
    CAPTURE(line);
    CHECK(event(line).first == 0);
  }
  // Every byte in every place of a number.
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < 4; ++place) {
      std::string line = "+ 1234\n";
      line[2 + place] = static_cast<char>(byte);
      CAPTURE(byte, place);
      const std::size_t expected = hex_value(static_cast<char>(byte)) >= 0 ? 4 : byte == '\n' ? place : 0;
      CHECK(event(line).first == expected);
    }
  }
}
