#include <catch2/catch.hpp>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

TEST_CASE("top: heaviest stacks first, sums add up") {
  const SnapshotRef s = heap("main;a;malloc 10 1\nmain;b 30 2\nmain;c 30 1\n[unattributed] 4 1\n");
  Result<TopReport> r = diff::top(s, {});
  REQUIRE(r);
  CHECK(r->total == 74);
  CHECK(r->unattributed == 4);
  CHECK(r->total_objects == 5);
  REQUIRE(r->rows.size() == 3);
  std::vector<std::string> keys;
  std::vector<FrameView> frames;
  for (const TopRow& row : r->rows) {
    r->view->frames(r->stacks[row.key], frames);
    CHECK(r->stacks[row.key].side == 1);
    keys.push_back(stack_text(frames));
  }
  CHECK(keys == std::vector<std::string>{"main;b", "main;c", "main;a"});
  CHECK(r->rows[0].objects == 2);
}

TEST_CASE("top: by function has flat and cumulative") {
  DiffOptions options = by(GroupBy::function);
  Result<TopReport> r = diff::top(heap("main;a;b 10 1\nmain;b 5 1\n"), options);
  REQUIRE(r);
  REQUIRE(r->rows.size() == 3);
  CHECK(r->keys[r->rows[0].key] == "b");
  CHECK(r->rows[0].value == 15);
  CHECK(r->rows[0].cumulative == 15);
  CHECK(r->keys[r->rows[2].key] == "main");
  CHECK(r->rows[2].cumulative == 15);
}

TEST_CASE("top: by label, filters, and a metric that is not there") {
  DiffOptions options = by(GroupBy::label);
  options.label_key = "t";
  options.ignore = "^b$";
  Result<TopReport> r = diff::top(heap("a {t=1} 10 1\nb {t=1} 5 1\n"), options);
  REQUIRE(r);
  CHECK(r->filtered == 5);
  CHECK(r->keys[r->rows[0].key] == "1");
  DiffOptions wrong;
  wrong.metric = "rss";
  CHECK(diff::top(heap("a 1"), wrong).error().code == ErrorCode::usage);
}

TEST_CASE("top: sampling error of one snapshot") {
  TextOptions sampled;
  sampled.sampling = Sampling::poisson;
  sampled.period = 4096;
  Result<TopReport> r = diff::top(heap("a 6400 100\n", sampled), {});
  REQUIRE(r);
  CHECK(r->rows[0].error == Approx(std::sqrt(6400.0 * 64 / std::expm1(64.0 / 4096))));
}

TEST_CASE("peek: callers and callees with their growth") {
  Result<PeekReport> r =
      diff::peek(heap("main;f;g 10 1\nother;f 5 1\n"), heap("main;f;g 30 2\nother;f 6 1\nmain;f;f;h 7 1\n"), "^f$", {});
  REQUIRE(r);
  CHECK(r->total == Change{15, 43});
  REQUIRE(r->functions.size() == 1);
  const PeekFunction& f = r->functions[0];
  CHECK(f.function == "f");
  CHECK(f.flat == Change{5, 6});
  CHECK(f.cumulative == Change{15, 43});
  REQUIRE(f.callers.size() == 3);
  CHECK(f.callers[0].function == "main");
  CHECK(f.callers[0].value == Change{10, 37});
  CHECK(f.callers[0].objects == Change{1, 3});
  CHECK(f.callers[1].function == "f");
  CHECK(f.callers[1].value == Change{0, 7});
  CHECK(f.callers[2].function == "other");
  REQUIRE(f.callees.size() == 3);
  CHECK(f.callees[0].function == "g");
  CHECK(f.callees[1].function == "f");
  CHECK(f.callees[2].function == "h");
}

TEST_CASE("peek: no match is an empty report, a bad expression an error") {
  CHECK(diff::peek(heap("a 1"), heap("a 1"), "zzz", {})->functions.empty());
  CHECK(diff::peek(heap("a 1"), heap("a 1"), "(", {}).error().code == ErrorCode::usage);
}
