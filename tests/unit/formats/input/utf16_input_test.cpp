#include <catch2/catch.hpp>
#include <string>

#include "formats/input/utf16_input.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

std::string read_all(std::string_view bytes, std::size_t window, std::size_t wanted) {
  test::MemoryInput source(bytes, window);
  Utf16Input in(source);
  std::string out;
  for (;;) {
    const Result<std::string_view> view = in.peek(wanted);
    REQUIRE(view);
    if (view->empty()) return out;
    CHECK(in.offset() == out.size());
    const std::size_t taken = std::min<std::size_t>(view->size(), wanted);
    out.append(view->substr(0, taken));
    in.consume(taken);
  }
}

}  // namespace

TEST_CASE("utf16: both byte orders, surrogate pairs, the mark is left out") {
  using namespace std::string_view_literals;
  // "aé€😀", from the tables of the Unicode standard.
  const std::string expected = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  CHECK(read_all("\xff\xfe\x61\0\xe9\0\xac\x20\x3d\xd8\0\xde"sv, 0, 1) == expected);
  CHECK(read_all("\xfe\xff\0\x61\0\xe9\x20\xac\xd8\x3d\xde\0"sv, 3, 100) == expected);
}

TEST_CASE("utf16: half pairs become the bytes that encode them, a half unit U+FFFD") {
  using namespace std::string_view_literals;
  CHECK(read_all("\xff\xfe\x3d\xd8\x61\0"sv, 0, 1) ==
        "\xed\xa0\xbd"
        "a");
  CHECK(read_all("\xff\xfe\0\xde"sv, 0, 1) == "\xed\xb8\x80");
  CHECK(read_all("\xff\xfe\x3d\xd8"sv, 0, 1) == "\xed\xa0\xbd");
  CHECK(read_all("\xff\xfe\x61\0\x62"sv, 0, 1) == "a\xef\xbf\xbd");
  CHECK(read_all("\xff\xfe"sv, 0, 1).empty());
}

TEST_CASE("utf16: more than a window, in any steps") {
  std::string wide = "\xff\xfe";
  std::string expected;
  for (int i = 0; i < 100'000; ++i) {
    const char c = static_cast<char>('a' + i % 26);
    wide += c;
    wide += '\0';
    expected += c;
  }
  for (const std::size_t wanted : {std::size_t{1000}, std::size_t{70'000}, std::size_t{1} << 20}) {
    CHECK(read_all(wide, 0, wanted) == expected);
    CHECK(read_all(wide, 1000, wanted) == expected);
  }
}

TEST_CASE("utf16: the head for detection") {
  using namespace std::string_view_literals;
  CHECK(Utf16Input::is_utf16("\xff\xfe"sv));
  CHECK_FALSE(Utf16Input::is_utf16("\xef\xbb\xbf"sv));
  CHECK(Utf16Input::head_as_utf8("\xfe\xff\0\x61\0"sv) == "a");
  CHECK(Utf16Input::head_as_utf8("plain") == "plain");
}
