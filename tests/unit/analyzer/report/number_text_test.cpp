#include "analyzer/base/number_text.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "analyzer/report/report.hpp"

using namespace snapdiff;

TEST_CASE("numbers: bytes have three significant digits and the next unit from 999.5") {
  const auto [bytes, expected] =
      GENERATE(table<std::int64_t, const char*>({{0, "0 B"},
                                                 {1, "1 B"},
                                                 {999, "999 B"},
                                                 {1000, "0.98 KiB"},
                                                 {1023, "1.00 KiB"},
                                                 {1024, "1.00 KiB"},
                                                 {1025, "1.00 KiB"},
                                                 {1029, "1.00 KiB"},   // 1.00488
                                                 {1030, "1.01 KiB"},   // 1.00586
                                                 {10229, "9.99 KiB"},  // 9.98926
                                                 {10234, "9.99 KiB"},  // 9.99414
                                                 {10235, "10.0 KiB"},  // 9.99512
                                                 {65536, "64.0 KiB"},
                                                 {102348, "99.9 KiB"},   // 99.9492
                                                 {102349, "100 KiB"},    // 99.9502
                                                 {1023487, "999 KiB"},   // 999.499
                                                 {1023488, "0.98 MiB"},  // 999.5
                                                 {1048576, "1.00 MiB"},
                                                 {2640000, "2.52 MiB"},
                                                 {255852544, "244 MiB"},
                                                 {1048051712, "0.98 GiB"},  // 999.5 MiB
                                                 {1LL << 40, "1.00 TiB"},
                                                 {1LL << 50, "1.00 PiB"},
                                                 {1LL << 60, "1.00 EiB"},
                                                 {std::numeric_limits<std::int64_t>::max(), "8.00 EiB"},
                                                 {std::numeric_limits<std::int64_t>::min(), "-8.00 EiB"},
                                                 {-1, "-1 B"},
                                                 {-4194304, "-4.00 MiB"}}));
  CHECK(bytes_text(bytes) == expected);
}

TEST_CASE("numbers: halves are rounded away from zero, on both sides") {
  CHECK(bytes_text(1024 + 512 * 1024) == "513 KiB");
  CHECK(bytes_text(513LL * 1024 * 1024 + 512 * 1024) == "514 MiB");  // 513.5
  CHECK(bytes_text(-513LL * 1024 * 1024 - 512 * 1024) == "-514 MiB");
  CHECK(bytes_text(10LL * 1024 * 1024 + 52429) == "10.1 MiB");  // 10.05000019
  CHECK(bytes_text(10LL * 1024 * 1024 + 52428) == "10.0 MiB");  // 10.04999924
}

TEST_CASE("numbers: growth always has its sign, zero has none") {
  CHECK(growth_text(0) == "0 B");
  CHECK(growth_text(1) == "+1 B");
  CHECK(growth_text(5982656) == "+5.71 MiB");
  CHECK(growth_text(-4194304) == "-4.00 MiB");
  CHECK(growth_text(std::numeric_limits<std::int64_t>::min()) == "-8.00 EiB");
}

TEST_CASE("numbers: counts are grouped from four digits on") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1000");
  CHECK(count_text(44011) == "44011");
  CHECK(count_text(1234567890) == "1234567890");
  CHECK(count_text(-1000) == "-1000");
  CHECK(growth_count_text(44011) == "+44011");
  CHECK(growth_count_text(0) == "0");
  CHECK(count_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(growth_count_text(std::numeric_limits<std::int64_t>::max()) == "+9223372036854775807");
}

TEST_CASE("numbers: other units than bytes") {
  CHECK(value_text(1500, "nanoseconds") == "1.50 us");
  CHECK(value_text(2'000'000'000, "nanoseconds", true) == "+2.00 s");
  CHECK(value_text(999, "nanoseconds") == "999 ns");
  CHECK(value_text(44011, "count", true) == "+44011");
  CHECK(value_text(-3, "bananas") == "-3");
}

TEST_CASE("numbers: pages have their own minus and blanks") {
  const NumberGlyphs page{"\u2212", "\u2009", "\u00a0"};
  CHECK(growth_text(-4194304, page) == "\u22124.00\u00a0MiB");
  CHECK(count_text(44011, page) == "44\u2009011");
  CHECK(percent_text(-1, 2, page) == "\u221250\u00a0%");
}

TEST_CASE("numbers: percents are whole, with open ends") {
  const auto [part, whole, expected] = GENERATE(table<std::int64_t, std::int64_t, const char*>({{0, 10, "0 %"},
                                                                                                {1, 0, "n/a"},
                                                                                                {1, 1000, "<1 %"},
                                                                                                {-1, 1000, "<1 %"},
                                                                                                {1, 100, "1 %"},
                                                                                                {15, 1000, "2 %"},
                                                                                                {14, 1000, "1 %"},
                                                                                                {994, 1000, "99 %"},
                                                                                                {995, 1000, ">99 %"},
                                                                                                {999, 1000, ">99 %"},
                                                                                                {1000, 1000, "100 %"},
                                                                                                {-49, 100, "-49 %"},
                                                                                                {49, -100, "-49 %"},
                                                                                                {562, 100, "562 %"}}));
  CHECK(percent_text(part, whole) == expected);
}

TEST_CASE("numbers: a change names its unit once, and its size where both ends read alike") {
  constexpr std::int64_t kMiB = 1 << 20;
  CHECK(change_text(kMiB, 7 * kMiB, "bytes") == "grew from 1.00 to 7.00 MiB");
  CHECK(change_text(7 * kMiB, 512, "bytes") == "shrank from 7.00 MiB to 512 B");
  CHECK(change_text(6523 * kMiB, 6524 * kMiB, "bytes") == "grew by 1.00 MiB to 6.37 GiB");
  CHECK(change_text(6524 * kMiB, 6523 * kMiB, "bytes") == "shrank by 1.00 MiB to 6.37 GiB");
  CHECK(change_text(5, 5, "bytes") == "stayed at 5 B");
  CHECK(change_text(1000, 2000, "objects") == "grew from 1000 to 2000");
  CHECK(change_text(INT64_MIN, INT64_MIN + 3, "bytes") == "grew by 3 B to -8.00 EiB");
}
