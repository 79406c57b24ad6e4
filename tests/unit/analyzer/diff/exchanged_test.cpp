#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

using Values = std::map<std::int64_t, std::int64_t>;

/// What each row holds before, by what it holds now.
Values before_by_now(const GrowthReport& r) {
  Values out;
  for (const GrowthRow& row : r.rows) out[row.value.current] = row.value.baseline;
  return out;
}

double merged(const GrowthReport& r) { return r.matched[static_cast<std::size_t>(MatchTier::merged)]; }

/// Objects of a closure: how many of which size.
struct Held {
  int number, size;
  std::string text() const { return " " + std::to_string(number * size) + " " + std::to_string(number); }
};

/// Two callers of two anonymous functions of V8, which its agents name after their places.
std::string anonymous(const std::array<Held, 4>& held) {
  const auto stack = [](const std::string& caller, const std::string& line) {
    return "run@m.js:1;" + caller + "@m.js:7;(anonymous:L#" + line + ":C#6)@w.js:" + line + "#node";
  };
  return stack("load", "26") + held[0].text() + "\n" + stack("load", "29") + held[1].text() + "\n" +
         stack("save", "26") + held[2].text() + "\n" + stack("save", "29") + held[3].text() + "\n" +
         "run@m.js:1;keep@k.js:3 500 5\n";
}

}  // namespace

TEST_CASE("another build: two sites with objects of one size changed places, their callers tell which is which") {
  const auto text = [](int first, int second, int shift) {
    std::string out;
    const auto add = [&](std::string_view caller, int line, int site, int count) {
      out += "main@m.cc:" + std::to_string(line + shift) + ";" + std::string(caller) +
             "@m.cc:" + std::to_string(100 + line + shift) + ";render@m.cc:" + std::to_string(site) + " " +
             std::to_string(100 * count) + " " + std::to_string(count) + "\n";
    };
    add("read", 10, first, 10);
    add("load", 11, first, 20);
    add("scan", 12, first, 30);
    add("parse", 13, first, 40);
    add("write", 14, second, 12);
    add("save", 15, second, 22);
    add("store", 16, second, 32);
    return out;
  };
  const GrowthReport r = must_diff(text(24, 28, 0), text(34, 29, 5));
  REQUIRE(r.rows.size() == 7);
  for (const GrowthRow& row : r.rows) CHECK(row.value.growth() == 0);
}

TEST_CASE("objects that all became larger have not changed places") {
  const GrowthReport r = must_diff(anonymous({Held{20, 100}, {30, 120}, {40, 100}, {50, 120}}),
                                   anonymous({Held{31, 120}, {19, 140}, {52, 120}, {41, 140}}));
  CHECK(r.rows.size() == 5);
  CHECK(merged(r) == 0);
}

TEST_CASE("a few objects of the size of others have not changed places") {
  const GrowthReport r = must_diff(anonymous({Held{2, 100}, {3, 120}, {4, 100}, {5, 120}}),
                                   anonymous({Held{3, 120}, {2, 100}, {5, 120}, {4, 100}}));
  CHECK(r.rows.size() == 5);
  CHECK(merged(r) == 0);
}

TEST_CASE("another build: closures that changed places by their numbers of objects, under their other callers too") {
  const auto text = [](int shift, int first, int second, int third, int fourth) {
    const auto line = [&](int n) { return std::to_string(n + shift); };
    const auto stack = [&](int caller, int closure, int at, int number) {
      return "main.run@m.go:" + line(5 + caller) + ";main.call" + std::to_string(caller) +
             "@m.go:" + line(20 + caller) + ";main.put@w.go:" + line(at) + ";main.put.func" + std::to_string(closure) +
             "@w.go:" + line(at) + " " + std::to_string(number * 2688) + " " + std::to_string(number) + "\n";
    };
    return stack(1, 1, 29, first) + stack(1, 2, 32, second) + stack(2, 1, 29, third) + stack(2, 2, 32, fourth) +
           "main.run@m.go:" + line(9) + ";main.keep@k.go:" + line(3) + " 500 5\n";
  };
  const GrowthReport r = must_diff(text(0, 65, 49, 29, 28), text(3, 45, 65, 29, 30));
  CHECK(before_by_now(r) ==
        Values{{(45 + 65) * 2688, (65 + 49) * 2688}, {(29 + 30) * 2688, (29 + 28) * 2688}, {500, 500}});
  CHECK(merged(r) > 0.9);
  // One of them grew: nothing says that they changed places.
  CHECK(merged(must_diff(text(0, 65, 49, 29, 28), text(3, 65, 90, 29, 30))) == 0);
}

TEST_CASE("another build: lines of the library without a function's name are left out") {
  const auto text = [](std::string_view a, std::string_view b) {
    std::string out =
        "app.py:1@app.py:1;app.py:9@app.py:9;/usr/lib/python3/json.py:7@/usr/lib/python3/json.py:7 5000 50\n";
    for (int caller = 2; caller < 6; ++caller) {
      const std::string up = "app.py:" + std::to_string(caller) + "@app.py:" + std::to_string(caller);
      out += up + ";w.py:26@w.py:26 " + std::string(a) + "\n" + up + ";w.py:29@w.py:29 " + std::string(b) + "\n";
    }
    return out;
  };
  const GrowthReport r = must_diff(text("2000 20", "3600 30"), text("3720 31", "1900 19"));
  std::int64_t grown = 0;
  for (const GrowthRow& row : r.rows) grown += row.value.growth();
  CHECK(grown == 4 * (3720 + 1900 - 2000 - 3600));
}
