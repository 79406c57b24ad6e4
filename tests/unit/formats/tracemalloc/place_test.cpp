#include <catch2/catch.hpp>

#include "formats/tracemalloc/python_frames.hpp"
#include "formats/tracemalloc/text_lines.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats::tracemalloc;
using namespace std::string_literals;

TEST_CASE("tracemalloc: a place is called by its file, with its folder, and line") {
  CHECK(place_name("/srv/app/cache.py", 9) == "app/cache.py:9");
  CHECK(place_name("cache.py", 9) == "cache.py:9");
  CHECK(place_name("/cache.py", 9) == "cache.py:9");
  CHECK(place_name("C:\\srv\\app\\cache.py", 9) == "app/cache.py:9");
  CHECK(place_name("/usr/lib/python3/numpy/core/__init__.py", 1) == "core/__init__.py:1");
  CHECK(place_name("<frozen importlib._bootstrap>", 241) == "<frozen importlib._bootstrap>:241");
  CHECK(place_name("/srv/app/cache.py", 0) == "app/cache.py");
  CHECK(place_name("/srv/app/", 3) == "/srv/app/:3");
}

TEST_CASE("tracemalloc-text: lines out of every encoding, whatever the window") {
  const std::string utf16 =
      "\xff\xfe"
      "a\0\xe9\0\r\0\n\0\x3d\xd8\0\xde\n\0"
      "b\0"s;  // é; U+1F600
  const std::string big =
      "\xfe\xff"
      "\0a\0\xe9\0\r\0\n\xd8\x3d\xde\0\0\n"
      "\0b"s;
  const std::string bytes = "\xef\xbb\xbf\x1b[1;31ma\xc3\xa9\x1b[0m\r\n\xf0\x9f\x98\x80\nb"s;
  for (const std::string& text : {utf16, big, bytes}) {
    for (const std::size_t window : {0U, 1U, 3U}) {
      test::MemoryInput in(text, window);
      TextLines lines(in);
      std::string_view line;
      std::string all;
      while (lines.next(line)) all += "[" + std::string(line) + "]";
      CHECK(all == "[a\xc3\xa9][\xf0\x9f\x98\x80][b]");
      CHECK(lines.status());
    }
  }
}

TEST_CASE("tracemalloc-text: a line without end is left out, what follows is read") {
  const std::string text = "first\n" + std::string(TextLines::kMostLineBytes + 5, 'x') + "\nlast\n";
  for (const std::size_t window : {std::size_t{0}, std::size_t{4096}}) {
    test::MemoryInput in(text, window);
    TextLines lines(in);
    std::string_view line;
    std::string all;
    while (lines.next(line)) all += "[" + std::string(line) + "]";
    CHECK(all == "[first][][last]");
    CHECK(lines.too_long() == 1);
  }
}
