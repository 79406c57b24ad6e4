#include <catch2/catch.hpp>

#include "formats/tracemalloc/python_frames.hpp"

using namespace snapdiff::formats::tracemalloc;

TEST_CASE("tracemalloc: a place is called by its file, with its folder, and line") {
  CHECK(place_name("/srv/app/cache.py", 9) == "app/cache.py:9");
  CHECK(place_name("cache.py", 9) == "cache.py:9");
  CHECK(place_name("/cache.py", 9) == "cache.py:9");
  CHECK(place_name("C:\\srv\\app\\cache.py", 9) == "app/cache.py:9");
  CHECK(place_name("/usr/lib/python3/numpy/core/__init__.py", 1) == "core/__init__.py:1");
  CHECK(place_name("/usr/lib/python3/dist-packages/numpy/core/__init__.py", 1) == "numpy/core/__init__.py:1");
  CHECK(place_name("C:\\py\\Lib\\site-packages\\six.py", 2) == "six.py:2");
  CHECK(place_name("<frozen importlib._bootstrap>", 241) == "<frozen importlib._bootstrap>:241");
  CHECK(place_name("/srv/app/cache.py", 0) == "app/cache.py");
  CHECK(place_name("/srv/app/", 3) == "/srv/app/:3");
}
