#include <catch2/catch.hpp>

#include <cstdint>
#include <string_view>

#include "formats/text/quantity.hpp"
#include "formats/text/scan.hpp"

using namespace snapdiff::formats::text;

TEST_CASE("line forms: literal parts, fields, blanks, characters that may be missing, the end") {
  std::int64_t count = 0;
  std::uint64_t address = 0;
  std::string_view word;
  CHECK(reads("  12 blocks: ok", "~% blocks?:~%$", count, word));
  CHECK(count == 12);
  CHECK(word == "ok");
  CHECK(reads("1 block:ok", "~% blocks?:~%$", count, word));
  CHECK(reads("0xff6 in main", "0x% in ", address));
  CHECK(address == 0xff6);
  CHECK_FALSE(reads("12 blocks: ok then", "~% blocks?:~%$", count, word));
  CHECK_FALSE(reads("-1 block: ok", "~% blocks?:~%$", count, word));
  CHECK_FALSE(reads("9223372036854775808", "%", count));
  CHECK_FALSE(reads("", "%", word));
  CHECK(reads("", "~$"));
}

TEST_CASE("line forms: what does not fit is not consumed") {
  Cursor at("7 of 9 left");
  std::int64_t a = 0, b = 0;
  CHECK_FALSE(at.takes("% of % right", a, b));
  CHECK(at.rest() == "7 of 9 left");
  CHECK(at.takes("% of %", a, b));
  CHECK(a == 7);
  CHECK(b == 9);
  CHECK(at.rest() == " left");
}

TEST_CASE("line forms: a signed field, a number behind its name") {
  Integer change;
  CHECK(reads("-5 KiB", "% KiB$", change));
  CHECK(change.value == -5);
  CHECK(number_of("maxrss=3, rss = 17;", "rss", {"=%", " = %"}) == 17);
  CHECK_FALSE(number_of("maxrss=3", "rss", {"=%"}).has_value());
  CHECK(pid_line(" 18552:") == 18552);
  CHECK_FALSE(pid_line("18552: x").has_value());
}

TEST_CASE("line forms: words of a list, amounts with their unit") {
  CHECK(is_one_of("pss", "rss pss swap "));
  CHECK_FALSE(is_one_of("ss", "rss pss swap "));
  CHECK_FALSE(is_one_of("", "rss pss swap "));
  const Measure found = measure_at("rss  1.5 MiB", 3);
  REQUIRE(found.bytes().has_value());
  CHECK(found.bytes()->value == 1572864);
  CHECK_FALSE(measure_at("rss 12 apples", 3).bytes().has_value());
  CHECK(measure_at("rss 12", 3).bytes(1024)->value == 12288);
}
