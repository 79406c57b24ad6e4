#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/rebuild/functions.hpp"
#include "analyzer/diff/rebuild/lines.hpp"
#include "analyzer/diff/rebuild/score.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using namespace snapdiff::diff::rebuild;

namespace {

/// Two builds as functions and lines.
struct Builds {
  Builds(std::string_view before, std::string_view after)
      : refs{heap(before), heap(after)},
        comparison(diff::compare(refs, {}).value()),
        a(comparison.sides[0]),
        b(comparison.sides[1]),
        map(map_functions(a, b)) {}

  static std::uint32_t find(const Code& code, std::string_view name) {
    for (std::uint32_t f = 0; f < code.functions.size(); ++f) {
      if (code.functions[f].name == name) return f;
    }
    return kNone;
  }
  /// The name of a function's counterpart, "" without one.
  std::string counterpart(std::string_view name) const {
    const std::uint32_t there = map.after[find(a, name)];
    return there == kNone ? "" : std::string(b.functions[there].name);
  }

  std::array<SnapshotRef, 2> refs;
  diff::Comparison comparison;
  Code a, b;
  FunctionMap map;
};

/// The lines of `run` in two builds.
struct Sites : Builds {
  Sites(std::string_view before, std::string_view after) : Builds(before, after) {
    const std::vector<std::uint32_t> none_a(a.functions.size(), kNone), none_b(b.functions.size(), kNone);
    const std::vector<std::uint64_t> names(b.functions.size(), 1);
    in_a.walk_all({map.after, none_a}, true, names, 3);
    in_b.walk_all({map.itself, none_b}, true, names, 3);
    for (Positions* positions : {&in_a, &in_b}) positions->gather({});
    lines = map_lines(in_a, in_b, b.functions.size());
  }
  /// The line of `run` now that was the line `before`; 0 without one.
  std::int32_t line_of(std::int32_t before) const {
    const std::uint32_t run = find(b, "run");
    for (std::uint32_t p = 0; p < in_a.all.size(); ++p) {
      if (in_a.all[p].function != run || in_a.all[p].line != before) continue;
      for (std::uint32_t q = 0; q < in_b.all.size(); ++q) {
        if (lines.after[q] == lines.before[p]) return in_b.all[q].line;
      }
    }
    return 0;
  }

  Positions in_a{a}, in_b{b};
  LineMap lines;
};

}  // namespace

TEST_CASE("score: objects of one size and number speak for one site, others against it") {
  const auto weight = [](double size, double number) {
    return weight_of_objects({1000, 10}, {size * number, number}, false);
  };
  CHECK(weight(100, 10) > 3);
  CHECK(weight(120, 10) > 0);
  CHECK(weight(120, 10) < weight(100, 10));
  CHECK(weight(700, 10) < 0);
  CHECK(weight(700, 90) < weight(700, 10));
  CHECK(weight_of_objects({}, {500, 5}, false) == 0);
  CHECK(weight_of_objects({1000, 10}, {7000, 10}, true) > weight(700, 10));  // of several sites: no size speaks
}

TEST_CASE("score: the same whichever build is the older one") {
  for (const double number : {1.0, 9.0, 11.0, 40.0}) {
    const diff::rebuild::Held x{1000, 10}, y{number * 130, number};
    CHECK(weight_of_objects(x, y, false) == weight_of_objects(y, x, false));
  }
}

TEST_CASE("functions: equal names first, then those with the same callers and callees") {
  const Builds builds("main@m.cc:1;store_order@s.cc:5;put@p.cc:2 900 9\nmain@m.cc:2;scan@n.cc:4 100 1\n",
                      "main@m.cc:1;store_all_order@s.cc:7;put@p.cc:2 950 9\nmain@m.cc:2;scan@n.cc:4 100 1\n");
  CHECK(builds.counterpart("main") == "main");
  CHECK(builds.counterpart("put") == "put");
  CHECK(builds.counterpart("store_order") == "store_all_order");
}

TEST_CASE("functions: of two that are as good, none is the counterpart") {
  const Builds builds(
      "main@m.cc:1;store_order@s.cc:5;put@p.cc:2 900 9\n",
      "main@m.cc:1;store_order_a@s.cc:7;put@p.cc:2 450 5\nmain@m.cc:2;store_order_b@s.cc:9;put@p.cc:2 450 5\n");
  CHECK(builds.counterpart("store_order").empty());
}

TEST_CASE("functions: a closure without a name goes with the function that it is written in") {
  const Builds builds("main@m.js:1;load@a.js:3;(anonymous)@a.js:4;put@p.js:2 900 9\n",
                      "main@m.js:1;load@b.js:8;(anonymous)@b.js:9;put@p.js:2 900 9\n"
                      "main@m.js:1;fresh@a.js:3;(anonymous)@a.js:4;keep@p.js:7 900 9\n");
  const std::uint32_t there = builds.map.after[Builds::find(builds.a, "(anonymous)")];
  REQUIRE(there != kNone);
  CHECK(builds.b.functions[there].file == "b.js");
}

TEST_CASE("sites: lines keep their order, and a new one has no counterpart") {
  const Sites sites("main@m.cc:1;run@r.cc:10;put@p.cc:2 900 9\nmain@m.cc:1;run@r.cc:14;get@p.cc:6 400 4\n",
                    "main@m.cc:1;run@r.cc:13;put@p.cc:2 900 9\nmain@m.cc:1;run@r.cc:15;more@p.cc:9 70 1\n"
                    "main@m.cc:1;run@r.cc:18;get@p.cc:6 400 4\n");
  CHECK(sites.line_of(10) == 13);
  CHECK(sites.line_of(14) == 18);
}

TEST_CASE("sites: neighbours that call other functions may change places, a line between them stays") {
  const std::string keep = "main@m.cc:1;run@r.cc:30;keep@k.cc:4 50 5\n";
  const Sites sites(keep + "main@m.cc:1;run@r.cc:10;put@p.cc:2 900 9\nmain@m.cc:1;run@r.cc:14;get@p.cc:6 400 4\n",
                    keep + "main@m.cc:1;run@r.cc:11;get@p.cc:6 400 4\nmain@m.cc:1;run@r.cc:15;put@p.cc:2 900 9\n");
  CHECK(sites.line_of(10) == 15);
  CHECK(sites.line_of(14) == 11);
  CHECK(sites.line_of(30) == 30);
}

TEST_CASE("sites: what is left over may have moved anywhere") {
  const Sites sites(
      "main@m.cc:1;run@r.cc:10;put@p.cc:2 900 9\nmain@m.cc:1;run@r.cc:14;get@p.cc:6 400 4\n"
      "main@m.cc:1;run@r.cc:16;keep@k.cc:4 50 5\n",
      "main@m.cc:1;run@r.cc:10;get@p.cc:6 400 4\nmain@m.cc:1;run@r.cc:12;keep@k.cc:4 50 5\n"
      "main@m.cc:1;run@r.cc:20;put@p.cc:2 900 9\n");
  CHECK(sites.line_of(10) == 20);
  CHECK(sites.line_of(14) == 10);
  CHECK(sites.line_of(16) == 12);
}

TEST_CASE("stacks: one of the library alone is the same where its functions are, at whatever lines") {
  const auto text = [](int by, std::string_view root, std::string_view held) {
    const std::string library(root);
    return "main@m.cc:" + std::to_string(10 + by) + moved_frames(by) + " 900 9\nruntime.systemstack@" + library +
           "asm.s:" + std::to_string(40 + by) + ";runtime.malg@" + library + "proc.go:" + std::to_string(90 + by) +
           " " + std::string(held) + "\n";
  };
  const GrowthReport r = must_diff(text(0, "/usr/local/go/src/runtime/", "480 1"), text(3, "runtime/", "960 2"));
  REQUIRE(r.rows.size() == 2);
  for (const GrowthRow& row : r.rows) CHECK((row.value.baseline > 0 && row.value.current > 0));
}
