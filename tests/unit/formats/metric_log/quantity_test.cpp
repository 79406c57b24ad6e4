#include "formats/text/quantity.hpp"

#include <catch2/catch.hpp>

#include "formats/metric_log/metric_text.hpp"

using namespace snapdiff::formats::metric_log;

namespace {

std::string number(std::string_view text) {
  Decimal decimal;
  const std::size_t end = parse_decimal(text, 0, decimal);
  if (end == 0) return "none";
  const auto quantity = scale(decimal, 1000);
  return std::string(text.substr(0, end)) + " " + (quantity ? std::to_string(quantity->value) : "too big");
}

}  // namespace

TEST_CASE("quantity: decimals as people and programs print them") {
  CHECK(number("12") == "12 12000");
  CHECK(number("1,234,567.5 MB") == "1,234,567.5 1234567500");
  CHECK(number("1234,567") == "1234 1234000");
  CHECK(number("1,23") == "1 1000");
  CHECK(number("1,2345") == "1 1000");
  CHECK(number("-0.0015") == "-0.0015 -2");
  CHECK(number("1.5e3x") == "1.5 1500");
  CHECK(number("1.5e3") == "1.5e3 1500000");
  CHECK(number("2E-3") == "2E-3 2");
  CHECK(number("5.") == "5 5000");
  CHECK(number(".5") == "none");
  CHECK(number("x") == "none");
  CHECK(number("") == "none");
  CHECK(number("-") == "none");
  CHECK(number("9223372036854775808") == "none");
  CHECK(number("9223372036854775") == "9223372036854775 9223372036854775000");
  CHECK(number("9223372036854776") == "9223372036854776 too big");
  CHECK(number("1e18") == "1e18 too big");
  CHECK(number("0.000000000000000000000000001") == "0.000000000000000000000000001 0");
}

TEST_CASE("quantity: the half unit covers what was rounded away") {
  Decimal decimal;
  parse_decimal("1.1", 0, decimal);
  CHECK(scale(decimal, 1048576)->value == 1153434);
  CHECK(scale(decimal, 1048576)->half_unit == 52429);
  parse_decimal("19.074219", 0, decimal);
  CHECK(scale(decimal, 1048576)->value == 20000768);
  CHECK(scale(decimal, 1048576)->half_unit == 1);
  parse_decimal("7", 0, decimal);
  CHECK(scale(decimal, 1)->half_unit == 0);
  CHECK(scale(decimal, 1024)->half_unit == 512);
}

TEST_CASE("quantity: units of size") {
  CHECK(size_unit("MB", false) == 1048576);
  CHECK(size_unit("mb", true) == 1000000);
  CHECK(size_unit("MiB", true) == 1048576);
  CHECK(size_unit("Bytes", true) == 1);
  CHECK(size_unit("K", false) == 1024);
  CHECK(size_unit("PB", false) == std::uint64_t{1} << 50);
  CHECK(size_unit("kbytes", false) == 1024);
  CHECK(size_unit("Megabytes", true) == 1000000);
  CHECK(size_unit("mebibytes", true) == 1048576);
  CHECK(size_unit("KiByte", true) == 1024);
  for (const char* none : {"", "min", "mbps", "x", "bit", "kbit", "megabits", "kibi"})
    CHECK(size_unit(none, false) == 0);
}

TEST_CASE("quantity: tags stand in order of their keys") {
  CHECK(with_tag("live", "level", "total") == "live{level=total}");
  CHECK(with_tag("live{level=total,z=1}", "thread", "3") == "live{level=total,thread=3,z=1}");
  CHECK(with_tag("live{level=total}", "level", "x") == "live{level=x}");
  CHECK(with_tag("m{file=a, b.py,line=3}", "function", "f") == "m{file=a, b.py,function=f,line=3}");
}
