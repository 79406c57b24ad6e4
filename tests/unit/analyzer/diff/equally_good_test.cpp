#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

using Values = std::map<std::int64_t, std::int64_t>;

/// What each row holds before, by what it holds now.
Values before_of_now(const GrowthReport& r) {
  Values out;
  for (const GrowthRow& row : r.rows) out[row.value.current] = row.value.baseline;
  return out;
}

std::string at(int line) { return ":" + std::to_string(line); }

std::string holds(int number, int size) {
  return " " + std::to_string(number * size) + " " + std::to_string(number) + "\n";
}

/// Two sites of a function, two lines apart, under five callers; the first one holds next to nothing.
std::string two_sites(int shift) {
  std::string out = "main@m.cc:90;keep@k.cc:1 3000000 100\nmain@m.cc:90" + moved_frames(shift) + " 10 1\n";
  for (int i = 0; i < 5; ++i) {
    const std::string up = "main@m.cc" + at(10 + i) + ";serve@s.cc";
    out += up + at(85 + shift) + holds(2 + i, 480) + up + at(87 + shift) + holds(20 + i, 4700);
  }
  return out;
}

/// Of two functions that are called by one line, and directly by its caller. `way`: what is between them now.
std::string two_ways(const std::string& way, const std::array<std::pair<int, int>, 2>& number, int shift) {
  std::string out;
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i), leaf = way + "order@l.cc:6" + n + ";site" + n + "@r.cc:5" + n;
    const auto& [by_run, by_main] = number[static_cast<std::size_t>(i)];
    out += "main@m.cc:41;run@m.cc:16;" + leaf + holds(by_run, 1800 + 900 * i) + "main@m.cc:41;" + leaf +
           holds(by_main, 1800 + 900 * i);
    out += "main@m.cc:41;run@m.cc:16;frame@i.cc:2" + n + ";leaf@l.cc:3" + holds(9 + i, 100);
    out += "main@m.cc:41;run@m.cc" + at(19 + 3 * i) + ";frame@i.cc:3" + n + ";leaf@l.cc:3" + holds(6 + i, 100);
  }
  return out + "main@m.cc:41;run@m.cc:22;moved@i.cc" + at(60 + shift) + moved_frames(shift) + holds(5, 10);
}

}  // namespace

TEST_CASE("stacks that are back in the next snapshot are no proof of another build") {
  const auto other_builds = [](std::initializer_list<int> shifts) {
    std::vector<SnapshotRef> snapshots;
    for (const int shift : shifts) snapshots.push_back(heap(two_sites(shift)));
    const Result<SeriesReport> series = diff::diff_series(snapshots, {});
    REQUIRE(series);
    return std::ranges::count_if(series->steps, [](const SeriesStep& step) { return step.other_build; });
  };
  CHECK(other_builds({0, 0, 3, 3}) == 1);
  CHECK(other_builds({0, 3, 0, 3}) == 0);
}

TEST_CASE("sites whose objects grew where they are, beside few new and gone ones, are one build") {
  std::string before = "main@m.cc:90;keep@k.cc:1 3000000 100\n", after = before;
  for (int i = 0; i < 5; ++i) {
    const std::string up = "main@m.cc" + at(10 + i) + ";serve@s.cc";
    before += up + at(85) + holds(2 + i, 480) + up + at(87) + holds(20 + i, 4700);
    after += up + at(89) + holds(2 + i, 950) + up + at(87) + holds(20 + i, 4740);
  }
  const GrowthReport r = must_diff(before, after);
  CHECK(r.rows.size() == 16);
  CHECK(r.matched[static_cast<std::size_t>(MatchTier::function_file)] == 0);
}

TEST_CASE("another build: where no lines are known a leak beside growth is no exchange of mean sizes") {
  const auto text = [](int shift, std::string_view own, std::string_view deep) {
    const std::string up = "run@m.js:1;prepare@s.js:88;assemble@w.js:62";
    return up + " " + std::string(own) + "\n" + up + ";order@p.js:8;parse@i.js:41 " + std::string(deep) + "\n" + up +
           ";order@p.js:8;parse@i.js:41;other@i.js" + at(43 + shift) + " 686504 91\nrun@m.js:1;keep@k.js" +
           at(3 + shift) + " 500 5\n";
  };
  const Values before =
      before_of_now(must_diff(text(0, "1522608 124", "915688 127"), text(2, "3687752 537", "3063072 268")));
  CHECK(before.at(3687752) == 1522608);
  CHECK(before.at(3063072) == 915688);
}

TEST_CASE("another build: means of several sizes drift, and are no objects of another size") {
  // V8 knows no lines: a stack is several sites, and its mean size depends on how many objects each holds.
  const auto text = [](int shift, std::string_view own, std::string_view deep) {
    const std::string up = "run@m.js:1;bucket@c.js:9";
    return up + " " + std::string(own) + "\n" + up + ";expand@c.js:41;verify@l.js:8;process@r.js:16 " +
           std::string(deep) + "\n" + up + ";expand@c.js:41;other@o.js" + at(3 + shift) +
           " 700 5\nrun@m.js:1;keep@k.js" + at(3 + shift) + moved_frames(shift) + " 500 5\n";
  };
  const GrowthReport r = must_diff(text(0, "1622064 86", "1087616 58"), text(2, "1715464 91", "1201536 63"));
  CHECK(before_of_now(r) == Values{{1715464, 1622064}, {1201536, 1087616}, {700, 700}, {500, 500}});
}

TEST_CASE("another build: of two stacks that only have frames more or less, not the one that holds another amount") {
  const std::string top = "main@m.cc:56;run@m.cc:16;", leaf = "batch@c.cc:41;load@q.cc:9";
  const auto others = [&](int shift) {
    std::string out = top + "save@r.cc" + at(12 + shift) + ";column@c.cc:130;order@r.cc:46" + holds(3, 100) + top +
                      "save@r.cc" + at(13 + shift) + ";update@r.cc:22" + holds(2, 100);
    for (int i = 0; i < 4; ++i)
      out += "main@m.cc:56;run@m.cc" + at(30 + i + shift) + ";other@o.cc" + at(20 + i + shift) + holds(10, 100 + i);
    return out;
  };
  // Two calls of `save` changed places: the last one is a jump, and so is the last one of what it calls.
  const GrowthReport r = must_diff(others(0) + top + "order@r.cc:44;" + leaf + holds(50, 2138) + top +
                                       "save@r.cc:11;update@r.cc:22;" + leaf + holds(40, 2138),
                                   others(3) + top + "save@r.cc:14;column@c.cc:128;order@r.cc:44;" + leaf +
                                       holds(52, 2138) + top + leaf + holds(41, 2138));
  // Which is which nothing says for certain: they may be one row, and never one of the other.
  for (const GrowthRow& row : r.rows) {
    if (row.value.current == std::int64_t{41} * 2138) CHECK(row.value.baseline != std::int64_t{50} * 2138);
    if (row.value.current == std::int64_t{52} * 2138) CHECK(row.value.baseline != std::int64_t{40} * 2138);
  }
  CHECK(r.total.growth() == 3 * 2138);
}

TEST_CASE("another build: a line and a part of it that a new frame makes are one where the frame was jumped over") {
  using Numbers = std::array<std::pair<int, int>, 2>;
  const GrowthReport r = must_diff(two_ways("", Numbers{{{61, 65}, {74, 49}}}, 0),
                                   two_ways("render@i.cc:34;", Numbers{{{57, 69}, {70, 50}}}, 3));
  const Values before = before_of_now(r);
  CHECK(before.at(57 * 1800) == 61 * 1800);
  CHECK(before.at(69 * 1800) == 65 * 1800);
  CHECK(before.at(70 * 2700) == 74 * 2700);
  CHECK(before.at(50 * 2700) == 49 * 2700);
}

TEST_CASE("another build: a call by a helper and a direct one that changed places are not taken for each other") {
  const auto others = [](int shift) {
    std::string out;
    for (int i = 0; i < 4; ++i)
      out += "main@m.cc:41;run@m.cc" + at(30 + i + shift) + ";other@o.cc" + at(20 + i + shift) + moved_frames(shift) +
             holds(10, 100 + i);
    return out;
  };
  const std::string top = "main@m.cc:41;run@m.cc:16;", by_helper = "flush@w.cc:34;verify@p.cc:16;decode@l.cc:36";
  const GrowthReport r =
      must_diff(others(0) + top + "decode@l.cc:47" + holds(78, 1763) + top + by_helper + holds(64, 4045),
                others(3) + top + "decode@l.cc:47" + holds(60, 4085) + top +
                    "flush@w.cc:35;publish@l.cc:31;decode@l.cc:47" + holds(87, 1803));
  for (const GrowthRow& row : r.rows) {
    if (row.value.current == std::int64_t{60} * 4085) CHECK(row.value.baseline != std::int64_t{78} * 1763);
    if (row.value.current == std::int64_t{87} * 1803) CHECK(row.value.baseline != std::int64_t{64} * 4045);
  }
}
