#include "analyzer/report/text_tools.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "analyzer/base/printable.hpp"
#include "analyzer/report/headline.hpp"

using namespace snapdiff::report;
using snapdiff::printable;

TEST_CASE("isolation: a name with right-to-left letters stands between marks, and nothing else changes") {
  const std::string open = "\u2068", close = "\u2069", shalom = "\u05e9\u05dc\u05d5\u05dd", alef = "\u05d0";
  CHECK(isolated("") == "");
  CHECK(isolated("main ‹ größe\n") == "main ‹ größe\n");
  CHECK(isolated(shalom) == open + shalom + close);
  CHECK(isolated("1 KiB  " + shalom + " ‹ " + alef + " ‹ main\n" + alef + "\n") ==
        "1 KiB  " + open + shalom + close + " ‹ " + open + alef + close + " ‹ main\n" + open + alef + close + "\n");
  // The whole words of a name, but not of its neighbours.
  CHECK(isolated("f ‹ ns::" + shalom + " a " + alef + "(int) const ‹ g") ==
        "f ‹ " + open + "ns::" + shalom + " a " + alef + "(int)" + close + " const ‹ g");
  // Colours stay outside.
  CHECK(isolated("\x1b[1m" + shalom + "\x1b[0m  " + alef) ==
        "\x1b[1m" + open + shalom + close + "\x1b[0m  " + open + alef + close);
  CHECK(isolated(shalom + "\xff" + alef) == open + shalom + "\xff" + alef + close);
}

TEST_CASE("text: control characters, escape sequences and broken UTF-8 are spelt in hex") {
  CHECK(printable("plain") == "plain");
  CHECK(printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(printable(std::string_view("a\0b\n\t\x7f", 6)) == "a\\x00b\\x0a\\x09\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");                               // C1 control sequence introducer
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");                             // stray, cut
  CHECK(printable("\xc0\xaf\xed\xa0\x80") == "\\xc0\\xaf\\xed\\xa0\\x80");  // overlong, surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");           // beyond U+10FFFF
  CHECK(printable("\xe2\x80\xae"
                  "x") == "\\xe2\\x80\\xaex");  // right-to-left override
  CHECK(printable("größe 漢字") == "größe 漢字");
  CHECK(printable("größe", false) == "gr\\xc3\\xb6\\xc3\\x9fe");
}

TEST_CASE("text: widths are those of a terminal") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("größe") == 5);
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("→ ‹ … ↻ ±") == 9);
  CHECK(pad_left("漢", 4) == "  漢");
  CHECK(pad_right("ö", 3) == "ö  ");
}

TEST_CASE("text: cutting keeps whole characters and the end of the name") {
  CHECK(cut_middle("abcdefghij", 10, "…") == "abcdefghij");
  CHECK(cut_middle("abcdefghij", 7, "…") == "abc…hij");
  CHECK(cut_middle("漢字漢字", 5, "…") == "漢…字");
  CHECK(cut_middle("abc", 0, "…").empty());
  CHECK(cut_name("namespace::klass::method", 16, "…") == "klass::method");
  CHECK(cut_name("a_very_long_single_name", 9, "…") == "a_ve…name");
  CHECK(cut_name("/usr/lib/some/where/file.c", 14, "..") == "file.c");
}

TEST_CASE("text: paths lose folders from the front, offsets stay whole") {
  CHECK(cut_path("/srv/build/src/goq/main.go:28", 19, "…") == "…/goq/main.go:28");
  CHECK(cut_path("/srv/build/src/goq/main.go:28", 12, "…") == "…/main.go:28");
  CHECK(cut_path("/srv/a_rather_long_file_name.cc", 12, "…") == "a_rat…ame.cc");
  CHECK(cut_path("short.c", 12, "…") == "short.c");
  CHECK(cut_name("libsqlite3.so.0.8.6+0xa7503", 20, "…") == "libsqlite3.…+0xa7503");
}

TEST_CASE("text: no colour means no escape bytes") {
  CHECK(painted("x", Paint::growth, false) == "x");
  CHECK(painted("x", Paint::growth, true) == "\x1b[38;5;166mx\x1b[0m");
  CHECK(painted("", Paint::growth, true).empty());
}

TEST_CASE("renamed functions: where only the arguments changed, these are shown") {
  CHECK(renamed_note({{"app::Cache::put(int)", "app::Store::insert(int)", 41}}, true) ==
        "renamed: app::Cache::put → app::Store::insert, 41 stacks");
  CHECK(renamed_note({{"Compiler::Finish()", "Compiler::Finish(Regexp*)", 1}}, false) ==
        "renamed: Compiler::Finish() -> Compiler::Finish(Regexp*), 1 stack");
}

TEST_CASE("text tools: a name is shortened by the rules of its language before it is cut") {
  const char* const go = "github.com/acme-industries/traefik-http-cache/map.(*Map[go.shape.string,*uint8]).Set";
  CHECK(cut_name(go, 60, "…") == "map.(*Map[…]).Set");
  CHECK(cut_name(go, 64, "…") == "github.com/acme-industries/traefik-http-cache/map.(*Map[…]).Set");
  CHECK(cut_name("github.com/alicebob/miniredis/v2/server.(*Server).ServeConn.func1", 40, "…") ==
        "server.(*Server).ServeConn.func1");
  CHECK(cut_name("shop::orders::Pool<shop::Order, 64>::acquire", 29, "…") == "orders::Pool<…>::acquire");
  CHECK(cut_name("org.springframework.retry.support.RetryTemplate", 36, "…") == "o.s.retry.support.RetryTemplate");
  CHECK(cut_name("org.springframework.retry.support.RetryTemplate", 25, "…") == "o.s.r.s.RetryTemplate");
  CHECK(cut_name("aiohttp/web_urldispatcher.py:951", 26, "…") == "web_urldispatcher.py:951");
}
