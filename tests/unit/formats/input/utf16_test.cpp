#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "formats/input/open_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;
using namespace std::string_view_literals;

namespace {

struct Peeled {
  std::string text;
  std::string head;
  std::size_t notes = 0;
};

Peeled read_all(std::string_view bytes, std::size_t window, std::size_t wanted) {
  InputOptions options;
  if (window > 0) {
    options.in_memory_bytes = 1;
    options.window_bytes = window;
  }
  Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_bytes(bytes, "log.txt", options);
  REQUIRE(opened);
  CHECK((*opened)->compression() == "utf-16");
  Peeled out;
  out.head = (*opened)->head();
  const Result<Input*> in = (*opened)->body();
  REQUIRE(in);
  for (;;) {
    const Result<std::string_view> view = (*in)->peek(wanted);
    REQUIRE(view);
    if (view->empty()) break;
    CHECK((*in)->offset() == out.text.size());
    const std::size_t taken = std::min<std::size_t>(view->size(), wanted);
    out.text.append(view->substr(0, taken));
    (*in)->consume(taken);
  }
  out.notes = (*opened)->notes().all().size();
  return out;
}

std::string text_of(std::string_view bytes, std::size_t window = 0) { return read_all(bytes, window, 100).text; }

}  // namespace

TEST_CASE("utf16: both byte orders, surrogate pairs, the mark is left out") {
  // "aé€😀", from the tables of the Unicode standard.
  const std::string expected = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  CHECK(text_of("\xff\xfe\x61\0\xe9\0\xac\x20\x3d\xd8\0\xde"sv) == expected);
  CHECK(text_of("\xfe\xff\0\x61\0\xe9\x20\xac\xd8\x3d\xde\0"sv, 64) == expected);
  CHECK(read_all("\xfe\xff\0\x61\0\xe9"sv, 0, 1).head == "a\xc3\xa9");
}

TEST_CASE("utf16: half pairs become the bytes that encode them, half a unit is left out and noted") {
  CHECK(text_of("\xff\xfe\x3d\xd8\x61\0"sv) ==
        "\xed\xa0\xbd"
        "a");
  CHECK(text_of("\xff\xfe\0\xde"sv) == "\xed\xb8\x80");
  CHECK(text_of("\xff\xfe\x3d\xd8"sv) == "\xed\xa0\xbd");
  const Peeled cut = read_all("\xff\xfe\x61\0\x62"sv, 0, 1);
  CHECK(cut.text == "a");
  CHECK(cut.notes == 1);
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
    CHECK(read_all(wide, 0, wanted).text == expected);
    CHECK(read_all(wide, 1000, wanted).text == expected);
  }
}

TEST_CASE("utf16: a mark of UTF-8 is none") {
  const Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_bytes("\xef\xbb\xbf text", "log.txt", {});
  REQUIRE(opened);
  CHECK((*opened)->compression().empty());
}
