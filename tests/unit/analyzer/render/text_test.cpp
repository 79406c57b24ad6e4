#include "analyzer/render/paint/text.hpp"

#include <cairo.h>

#include <catch2/catch.hpp>
#include <limits>

#include "analyzer/base/markup_text.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/typesetter.hpp"

using namespace snapdiff::render;

TEST_CASE("text: sizes have three significant digits, half away from zero") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(999) == "999 B");
  CHECK(size_text(1000) == "0.98 KiB");  // 1000 / 1024 = 0.9766
  CHECK(size_text(1024) == "1.00 KiB");
  CHECK(size_text(65536) == "64.0 KiB");
  CHECK(size_text(2176) == "2.13 KiB");     // 2.125 exactly
  CHECK(size_text(10234) == "9.99 KiB");    // 9.9941
  CHECK(size_text(10236) == "10.0 KiB");    // 9.9961
  CHECK(size_text(102348) == "99.9 KiB");   // 99.949
  CHECK(size_text(102349) == "100 KiB");    // 99.950
  CHECK(size_text(1023487) == "999 KiB");   // 999.499
  CHECK(size_text(1023488) == "0.98 MiB");  // 999.5: the next unit
  CHECK(size_text(255852544) == "244 MiB");
  CHECK(size_text(-4194304) == "\u22124.00 MiB");
  CHECK(size_text(std::numeric_limits<std::int64_t>::max()) == "8.00 EiB");
  CHECK(size_text(std::numeric_limits<std::int64_t>::min()) == "\u22128.00 EiB");
}

TEST_CASE("text: growth carries its sign, zero none") {
  CHECK(size_growth_text(2642412) == "+2.52 MiB");
  CHECK(size_growth_text(-1) == "\u22121 B");
  CHECK(size_growth_text(0) == "0 B");
  CHECK(count_growth_text(44011) == "+44\u2009011");
  CHECK(snapdiff::render::count_text(999) == "999");
  CHECK(snapdiff::render::count_text(1000) == "1\u2009000");
  CHECK(snapdiff::render::count_text(1234567) == "1\u2009234\u2009567");
  CHECK(snapdiff::render::count_text(-1000) == "\u22121\u2009000");
}

TEST_CASE("text: shares are whole percents and never 0 or 100 by rounding") {
  CHECK(share_text(0) == "0\u2009%");
  CHECK(share_text(0.004) == "<1\u2009%");
  CHECK(share_text(0.474) == "47\u2009%");
  CHECK(share_text(0.999) == ">99\u2009%");
  CHECK(share_text(1) == "100\u2009%");
  CHECK(share_text(std::numeric_limits<double>::quiet_NaN()) == "n/a");
}

TEST_CASE("text: what cannot be printed is escaped") {
  CHECK(printable("plain<name>") == "plain<name>");
  CHECK(printable(std::string("a\x1b[31m\n\0b", 9)) == "a\\x1b[31m\\x0a\\x00b");
  CHECK(printable("\xff\xc3(\xe2\x82") == "\\xff\\xc3(\\xe2\\x82");          // stray bytes
  CHECK(printable("\xc0\xaf\xed\xa0\x80") == "\\xc0\\xaf\\xed\\xa0\\x80");   // overlong; a surrogate
  CHECK(printable("\xf5\x80\x80\x80") == "\\xf5\\x80\\x80\\x80");            // beyond U+10FFFF
  CHECK(printable("x\u202e\u2066y") == "x\\xe2\\x80\\xae\\xe2\\x81\\xa6y");  // turns the reading direction
  CHECK(printable("\u2028\ufeff\uffff") == "\\xe2\\x80\\xa8\\xef\\xbb\\xbf\\xef\\xbf\\xbf");
  CHECK(printable("\u05d0\u05d1 \u00e9 \u4e2d") == "\u05d0\u05d1 \u00e9 \u4e2d");
}

TEST_CASE("text: very long names lose their middle") {
  const std::string shown = printable(std::string(5'000'000, 'a').append("::last"));
  CHECK(shown.size() < 700);
  CHECK(shown.substr(shown.size() - 6) == "::last");
  CHECK(shown.find("\u2026") != std::string::npos);
}

TEST_CASE("text: markup is escaped for XML") {
  CHECK(snapdiff::entities("<a href=\"x\">&'</a>") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
}

TEST_CASE("text: paragraphs do not part a number from its unit") {
  CHECK(unbroken("hides 509 KiB of 12\u2009%, 3 blocks") == "hides 509\u00a0KiB of 12\u202f%, 3 blocks");
  CHECK(unbroken("5 B.") ==
        "5\u00a0"
        "B.");
}

TEST_CASE("text: times are ISO 8601 in UTC") {
  CHECK(time_text(0) == "1970-01-01 00:00:00Z");
  CHECK(time_text(1'700'000'000'000'000'000) == "2023-11-14 22:13:20Z");
  CHECK(time_text(-1) == "1969-12-31 23:59:59Z");
}

TEST_CASE("text: nothing fits into no room at all") {
  auto typesetter = Typesetter::make();
  REQUIRE(typesetter);
  const TextStyle style{9.4, FontWeight::regular};
  CHECK((*typesetter)->fit_middle("", style, -12).empty());
  CHECK((*typesetter)->fit_end("", style, -12).empty());
  CHECK((*typesetter)->fit_middle("name", style, -12).size() <= std::string("\u2026n").size());
}

TEST_CASE("text: what stands in angle brackets goes first where a name is too wide") {
  CHECK(without_template_arguments("std::vector<Session*, alloc<Session*>>::push_back") ==
        "std::vector<\u2026>::push_back");
  CHECK(without_template_arguments("map<int (*)(int)>::at<A->B>") == "map<\u2026>::at<\u2026>");
  CHECK(without_template_arguments("<alloc::vec::Vec<T> as Trait>::f") == "<alloc::vec::Vec<\u2026> as Trait>::f");
  CHECK(without_template_arguments("operator<<") == "operator<<");
  CHECK(without_template_arguments("a::operator<(X<int> const&)") == "a::operator<(X<\u2026> const&)");
  CHECK(without_template_arguments("cut<off") == "cut<off");
  CHECK(without_template_arguments("<module>") == "<module>");

  const auto type = Typesetter::make();
  REQUIRE(type);
  const TextStyle style{9};
  const std::string name = "cache::Table<std::string, std::shared_ptr<Session>>::grow";
  CHECK((*type)->fit_middle(name, style, 1000) == name);
  CHECK((*type)->fit_middle(name, style, (*type)->width(name, style) - 1) == "cache::Table<\u2026>::grow");
}

TEST_CASE("text: what no font has is told by its script") {
  const auto type = Typesetter::make();
  REQUIRE(type);
  cairo_surface_t* const surface = cairo_recording_surface_create(CAIRO_CONTENT_COLOR, nullptr);
  cairo_t* const context = cairo_create(surface);
  (*type)->show(context, "plain \u00e9", {9});
  CHECK((*type)->missing_note().empty());
  (*type)->show(context, "a \U000F1234 b", {9});  // for private use: no font has it
  CHECK((*type)->missing_note() == "no font for Zzzz (U+F1234): shown as boxes");
  cairo_destroy(context);
  cairo_surface_destroy(surface);
}
