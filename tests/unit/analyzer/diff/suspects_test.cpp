#include <catch2/catch.hpp>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::string path_of(const Suspect& suspect) {
  std::string text;
  for (const FrameView& frame : suspect.path) text += (text.empty() ? "" : " > ") + std::string(frame.function);
  return text;
}

/// The shape of the sample service: what grows in each of its steps.
std::string service(int steps, bool warm) {
  const auto n = [&](int per_step) { return std::to_string(per_step * steps); };
  return "main;handle_request;leak_sessions " + n(16'000) + " " + n(1000) +
         "\nmain;handle_request;leak_sessions;alloc_body " + n(240'000) + " " + n(1000) +
         "\nmain;handle_request;lru_touch;alloc_body 524288 256\n" + "main;background;leak_log;make_log_line " +
         n(200'000) + " " + n(2000) + "\nmain;background;leak_log;vector 16384 1\nmain;background;leak_rec;leak_rec " +
         n(65'536) + " " + n(1) + "\n" + (warm ? "main;background 4194304 1\n" : "");
}

}  // namespace

TEST_CASE("suspects: below an entry point the children are named, each walked on") {
  const GrowthReport r = must_diff(service(1, false), service(12, false));
  REQUIRE(r.suspects.size() == 2);
  CHECK(path_of(r.suspects[0]) == "main > handle_request > leak_sessions");
  CHECK(r.suspects[0].growth == 11 * 256'000);
  CHECK(r.suspects[0].share == Approx(256.0 / 521.536));
  REQUIRE(r.suspects[0].sites.size() == 2);
  CHECK(r.suspects[0].sites[0].frame.function == "alloc_body");
  CHECK(r.suspects[0].sites[0].growth == 11 * 240'000);
  CHECK(r.suspects[0].sites[0].objects == 11'000);
  CHECK(path_of(r.suspects[1]) == "main > background > leak_log");
  CHECK(r.suspects[1].sites[0].frame.function == "make_log_line");
  CHECK(r.common_path == "main");
  REQUIRE(r.suspects[0].rows.size() == 2);
  CHECK(key_of(r, r.rows[r.suspects[0].rows[0]]) == "main;handle_request;leak_sessions;alloc_body");
}

TEST_CASE("suspects: where more was freed than grew, the freed path comes first") {
  const GrowthReport r = must_diff(service(5, true), service(6, false));
  REQUIRE(r.suspects.size() == 3);
  CHECK(path_of(r.suspects[0]) == "main > background");
  CHECK(r.suspects[0].growth == -4194304 + 265'536);  // the net through background
  CHECK(path_of(r.suspects[1]) == "main > handle_request > leak_sessions");
  CHECK(r.suspects[1].growth == 256'000);
  CHECK(path_of(r.suspects[2]) == "main > background > leak_log");
  CHECK(r.suspects[2].growth == 200'000);
}

TEST_CASE("suspects: the deepest frame that still carries 70 % of its parent") {
  const GrowthReport r = must_diff("", "main;a;b;c;x 40 1\nmain;a;b;c;y 40 1\nmain;a;b;z 10 1\nmain;q 10 1\n");
  REQUIRE(r.suspects.size() == 1);
  CHECK(path_of(r.suspects[0]) == "main > a > b > c");
  CHECK(r.suspects[0].growth == 80);
  CHECK(r.suspects[0].share == Approx(0.8));
  CHECK(r.suspects[0].sites.size() == 2);
  CHECK(r.common_path == "b");
}

TEST_CASE("suspects: an allocation right below the entry point is named itself") {
  const GrowthReport r = must_diff("", "main;grower 100 1\n");
  REQUIRE(r.suspects.size() == 1);
  CHECK(path_of(r.suspects[0]) == "main > grower");
  CHECK(r.suspects[0].sites[0].frame.function == "grower");
}

TEST_CASE("suspects: a frame that allocates a good part itself is not passed over") {
  const GrowthReport r = must_diff("", "main;worker 75 1\nmain;worker;helper;deep;site 25 1\n");
  REQUIRE(r.suspects.size() == 1);
  CHECK(path_of(r.suspects[0]) == "main > worker");
  CHECK(r.suspects[0].growth == 100);
}

TEST_CASE("suspects: growth from many small callers names where it fans out") {
  std::string after;
  for (int i = 0; i < 50; ++i) after += "main;dispatch;handler" + std::to_string(i) + ";site 10 1\n";
  const GrowthReport r = must_diff("", after);
  REQUIRE(r.suspects.size() == 1);
  CHECK(path_of(r.suspects[0]) == "main > dispatch");
}

TEST_CASE("suspects: recursion is folded, also of two functions") {
  const GrowthReport r =
      must_diff("", "main;a;b;a;b;grow;site 10 1\nmain;a;b;grow;site 10 1\nmain;a;b;a;b;a;b;grow;site 10 1\n");
  REQUIRE(r.suspects.size() == 1);
  CHECK(path_of(r.suspects[0]) == "main > a > b > grow");
  CHECK(r.suspects[0].growth == 30);
}

TEST_CASE("suspects: what was only moved is none") {
  const GrowthReport r = must_diff("main;f;x 100 1\n", "main;f;y 100 1\n");
  CHECK(r.suspects.empty());
}

TEST_CASE("suspects: none where nothing grew") {
  CHECK(must_diff("main;a 5 1\n", "main;a 5 1\n").suspects.empty());
  const GrowthReport freed = must_diff("main;a;b 5 1\n", "");
  REQUIRE(freed.suspects.size() == 1);
  CHECK(freed.suspects[0].growth == -5);
  CHECK(freed.suspects[0].share == 1);
}

TEST_CASE("suspects: growth within its sampling error is none") {
  TextOptions sampled;
  sampled.sampling = Sampling::poisson;
  sampled.period = 524288;
  const GrowthReport r =
      must_diff(heap("main;a;x 1000000 10000\n", sampled), heap("main;a;x 1100000 11000\n", sampled));
  CHECK(r.suspects.empty());
  // One that stands out although it is a small part of the noise.
  const GrowthReport one = must_diff(heap("main;a;x 10000000 100000\nmain;b;big 1048576 1\n", sampled),
                                     heap("main;a;x 15000000 150000\nmain;b;big 10485760 10\n", sampled));
  REQUIRE(one.suspects.size() == 1);
  CHECK(path_of(one.suspects[0]) == "main > b");
}

TEST_CASE("suspects: two processes' load addresses do not matter") {
  const GrowthReport r = must_diff("app+0x10;app+0x20;app+0x30 1 1\n", "app+0x10;app+0x20;app+0x30 100 1\n");
  REQUIRE(r.suspects.size() == 1);
  CHECK(r.suspects[0].path.back().offset == 0x20);
}

TEST_CASE("suspects: deep and wide inputs are no trouble") {
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep.append("f").append(std::to_string(i)).append(";");
  const GrowthReport r = must_diff("", deep + "leaf 10 1\n");
  REQUIRE(r.suspects.size() == 1);
  CHECK(r.suspects[0].path.size() == 200'000);
  std::string wide;
  for (int i = 0; i < 20'000; ++i) {
    wide.append("r").append(std::to_string(i)).append(";x;leaf ").append(std::to_string(1 + i % 7)).append(" 1\n");
  }
  CHECK(must_diff("", wide).suspects.empty());
}
