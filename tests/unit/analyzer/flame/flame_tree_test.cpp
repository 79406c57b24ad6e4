#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "analyzer/flame/flame_tree.hpp"
#include "unit/analyzer/flame/flame_text.hpp"
#include "unit/analyzer/graph/fake_report.hpp"

using namespace snapdiff;
using flame::flame_tree;
using test::as_text;
using test::FakeReport;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

FakeReport small_report() {
  FakeReport report;
  report.row("main;parse;copy", 100, 300).row("main;load", 200, 0).row("main;idle", 50, 50).row("main;parse", 0, 20);
  return report;
}

}  // namespace

TEST_CASE("flame tree: width of change shows both what came and what went") {
  FakeReport report = small_report();
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  CHECK(as_text(*tree) ==
        "all w420 350>370 +220 -200\n"
        " main w420 350>370 +220 -200\n"
        "  parse w220 100>320 +220 0\n"
        "   copy w200 100>300 +200 0\n"
        "  load w200 200>0 +0 -200\n");
  CHECK(tree->depth == 3);
  CHECK(tree->metric == "inuse_space");
  CHECK(tree->unit == "bytes");
}

TEST_CASE("flame tree: each width has its own boxes") {
  FakeReport report = small_report();
  const auto widths = [&](FlameWidth width) {
    const auto tree = flame_tree(report.get(), width);
    REQUIRE(tree);
    CHECK(tree->width == width);
    CHECK(tree->boxes.front().value == report.get().total);
    std::string out;
    for (std::size_t i = 0; i < tree->boxes.size(); ++i)
      out.append(test::box_name(*tree, i)).append(" ").append(std::to_string(tree->boxes[i].weight)).append("; ");
    return out;
  };
  CHECK(widths(FlameWidth::current) == "all 370; main 370; parse 320; copy 300; idle 50; ");
}

TEST_CASE("flame tree: what has no frame to show has a box of its own, and the root adds up") {
  FakeReport report;
  report.row("main", 0, 10).unattributed(5, 9).filtered(8, 1);
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  CHECK(as_text(*tree) ==
        "all w21 13>20 +14 -7\n"
        " main w10 0>10 +10 0\n"
        " [filtered out] w7 8>1 +0 -7\n"
        " [unattributed] w4 5>9 +4 0\n");
  CHECK(tree->frames[tree->boxes[2].name].pseudo);
}

TEST_CASE("flame tree: a row with every frame hidden is among what was filtered out") {
  FakeReport report;
  report.row("", 0, 10).filtered(0, 5);
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  CHECK(as_text(*tree) == "all w15 0>15 +15 0\n [filtered out] w15 0>15 +15 0\n");
}

TEST_CASE("flame tree: nothing changed leaves the root alone, with its values") {
  FakeReport report;
  report.row("main;a", 10, 10).row("main;b", 3, 3);
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  CHECK(as_text(*tree) == "all w0 13>13 +0 0\n");
  FakeReport empty;
  const auto nothing = flame_tree(empty.get(), FlameWidth::current);
  REQUIRE(nothing);
  CHECK(as_text(*nothing) == "all w0 0>0 +0 0\n");
}

TEST_CASE("flame tree: a recursive function is a box at each depth") {
  FakeReport report;
  report.row("main;walk;walk;walk", 0, 8).row("main;walk;walk", 0, 1);
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  CHECK(as_text(*tree) ==
        "all w9 0>9 +9 0\n main w9 0>9 +9 0\n  walk w9 0>9 +9 0\n   walk w9 0>9 +9 0\n    walk w8 0>8 +8 0\n");
}

TEST_CASE("flame tree: frames without a name are told apart by module and offset") {
  FakeReport report;
  report.row("main;+lib.so:0x10", 0, 4).row("main;+lib.so:0x20", 0, 2).row("main;+other.so:0x10", 0, 1);
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  CHECK(as_text(*tree) ==
        "all w7 0>7 +7 0\n main w7 0>7 +7 0\n  lib.so+0x10 w4 0>4 +4 0\n  lib.so+0x20 w2 0>2 +2 0\n"
        "  other.so+0x10 w1 0>1 +1 0\n");
}

TEST_CASE("flame tree: equal siblings come by name, whatever the order of rows") {
  FakeReport one;
  one.row("m;b", 0, 5).row("m;a", 0, 5).row("m;c", 5, 0);
  FakeReport other;
  other.row("m;c", 5, 0).row("m;a", 0, 5).row("m;b", 0, 5);
  const auto x = flame_tree(one.get(), FlameWidth::change);
  const auto y = flame_tree(other.get(), FlameWidth::change);
  REQUIRE(x);
  REQUIRE(y);
  CHECK(as_text(*x) == as_text(*y));
  CHECK(as_text(*x).find(" a ") < as_text(*x).find(" b "));
}

TEST_CASE("flame tree: an unknown error makes its callers' unknown, and theirs alone") {
  FakeReport report;
  report.row("main;a;x", 0, 8).row("main;b", 0, 4).row("main;a;y", 0, 2);
  report.get().exact = false;
  report.get().rows[0].error = 3;
  report.get().rows[2].error = 4;
  report.get().rows[1].error = kUnknownError;
  report.get().total_error = kUnknownError;
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  REQUIRE(tree->boxes.size() == 6);
  CHECK(std::isnan(tree->boxes[0].error));
  CHECK(std::isnan(tree->boxes[1].error));
  CHECK(tree->boxes[2].error == Approx(5));
  CHECK(tree->boxes[3].error == Approx(3));
  CHECK(std::isnan(tree->boxes[5].error));
}

TEST_CASE("flame tree: values at the edge of 64 bits fit, sums beyond are refused") {
  FakeReport report;
  report.row("main;a", 0, kMost).row("main;b", kMost, 0);
  const auto change = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(change);
  CHECK(change->boxes[0].weight == 0xfffffffffffffffeULL);
  CHECK(change->boxes[0].grew == kMost);

  FakeReport both;
  both.row("main;a", kMost - 1, kMost).row("main;c", 0, -kMost).row("main;d", -kMost, -kMost);
  REQUIRE(flame_tree(both.get(), FlameWidth::change));
  const auto wide = flame_tree(both.get(), FlameWidth::current);
  REQUIRE_FALSE(wide);
  CHECK(wide.error().code == ErrorCode::limit);
  CHECK(wide.error().message.find("does not fit") != std::string::npos);
}

TEST_CASE("flame tree: negative values have the width of their size") {
  FakeReport report;
  report.row("main;a", 0, -30).row("main;b", 0, 10);
  const auto tree = flame_tree(report.get(), FlameWidth::current);
  REQUIRE(tree);
  CHECK(as_text(*tree) == "all w40 0>-20 +10 -30\n main w40 0>-20 +10 -30\n  a w30 0>-30 +0 -30\n  b w10 0>10 +10 0\n");
}

TEST_CASE("flame tree: another grouping is refused, and rows that do not add up are our mistake") {
  FakeReport report = small_report();
  report.get().options.by = GroupBy::file;
  const auto refused = flame_tree(report.get(), FlameWidth::change);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::usage);
  CHECK(refused.error().message == "flame graph of rows by file, expected by stack");

  FakeReport broken = small_report();
  broken.get().total.current += 1;
  const auto found = flame_tree(broken.get(), FlameWidth::change);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::internal);
}

TEST_CASE("flame tree: a stack of a million frames is walked without recursion") {
  FakeReport report;
  std::vector<FrameView> deep(1'000'000);
  for (std::size_t i = 0; i < deep.size(); ++i) deep[i].function = i % 2 == 0 ? "even" : "odd";
  class Deep : public StackView {
   public:
    explicit Deep(const std::vector<FrameView>& frames) : frames_(frames) {}
    void frames(StackRef, std::vector<FrameView>& out) const override { out = frames_; }

   private:
    const std::vector<FrameView>& frames_;
  };
  report.row("main", 0, 7);
  report.get().view = std::make_shared<Deep>(deep);
  const auto tree = flame_tree(report.get(), FlameWidth::change);
  REQUIRE(tree);
  CHECK(tree->depth == 1'000'000);
  CHECK(tree->boxes.back().weight == 7);
}

TEST_CASE("flame tree: of one snapshot, values alone") {
  FakeReport frames;
  frames.row("main;a", 0, 30).row("main;b", 0, 12);
  TopReport top;
  top.metric = "inuse_space";
  top.unit = "bytes";
  top.view = frames.get().view;
  top.stacks = frames.get().stacks;
  for (std::uint32_t i = 0; i < 2; ++i) {
    TopRow row;
    row.key = i;
    row.value = i == 0 ? 30 : 12;
    top.rows.push_back(row);
  }
  top.unattributed = 3;
  top.total = 45;
  const auto tree = flame_tree(top);
  REQUIRE(tree);
  CHECK(tree->width == FlameWidth::current);
  CHECK(as_text(*tree) ==
        "all w45 0>45 +0 0\n main w42 0>42 +0 0\n  a w30 0>30 +0 0\n  b w12 0>12 +0 0\n [unattributed] w3 0>3 +0 0\n");
  top.total = 46;
  CHECK_FALSE(flame_tree(top));
}
