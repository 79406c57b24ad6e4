#include <catch2/catch.hpp>

#include <limits>
#include <string>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

TEST_CASE("diff: each stack gets its class") {
  const GrowthReport r = must_diff(
      "main;only_before 10 1\n"
      "main;shrinks 30 3\n"
      "main;stays 5 1\n"
      "main;grows 7 1\n",
      "main;grows 17 2\n"
      "main;stays 5 1\n"
      "main;shrinks 10 1\n"
      "main;only_after 4 1\n");
  REQUIRE(r.rows.size() == 5);
  CHECK(row_called(r, "main;only_before").row_class == RowClass::gone);
  CHECK(row_called(r, "main;only_after").row_class == RowClass::added);
  CHECK(row_called(r, "main;shrinks").row_class == RowClass::shrank);
  CHECK(row_called(r, "main;grows").row_class == RowClass::grew);
  CHECK(row_called(r, "main;stays").row_class == RowClass::same);
  CHECK(row_called(r, "main;only_before").tier == MatchTier::none);
  CHECK(row_called(r, "main;stays").tier == MatchTier::function_line);
  CHECK(row_called(r, "main;grows").value == Change{7, 17});
  CHECK(row_called(r, "main;grows").objects == Change{1, 2});
  CHECK(r.total == Change{52, 36});
  CHECK(r.total_objects == Change{6, 5});
  CHECK(r.grew == 14);
  CHECK(r.shrank == -30);
  CHECK(r.metric == "inuse_space");
  CHECK(r.objects_metric == "inuse_objects");
  CHECK(r.exact);
  CHECK_FALSE(r.has_error);
  CHECK(diff::check_conservation(r));
}

TEST_CASE("diff: rows come by size of change, then by their own size, then by key text from the leaf") {
  const GrowthReport r = must_diff("main;b 10\nmain;z 3\nmain;same2 1\nmain;same1 1\n",
                                   "main;a 10\nmain;c 5\nmain;z 3\nother;a 10\nmain;same1 1\nmain;same2 1\n");
  CHECK(keys_in_order(r) ==
        std::vector<std::string>{"main;a", "other;a", "main;b", "main;c", "main;z", "main;same1", "main;same2"});
}

TEST_CASE("diff: other sort keys") {
  const std::string_view before = "a 10 1\nb 50 1\nc 5 9\n";
  const std::string_view after = "a 30 2\nb 5 1\nc 6 1\n";
  DiffOptions options;
  options.sort = SortKey::growth;
  CHECK(keys_in_order(must_diff(before, after, options)) == std::vector<std::string>{"a", "c", "b"});
  options.sort = SortKey::after;
  CHECK(keys_in_order(must_diff(before, after, options)) == std::vector<std::string>{"a", "c", "b"});
  options.sort = SortKey::objects;
  CHECK(keys_in_order(must_diff(before, after, options)) == std::vector<std::string>{"c", "a", "b"});
  options.sort = SortKey::name;
  CHECK(keys_in_order(must_diff(before, after, options)) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("diff: many ties are in text order too") {
  std::string before, after;
  std::vector<std::string> expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string stack = "main;f" + std::to_string(10000 + i * 7919 % 3000 / 10) + ";leaf" +
                              std::to_string(10000 + i * 7919 % 3000 % 10);
    before += stack + " 1\n";
    after += stack + " 3\n";
  }
  const GrowthReport r = must_diff(before, after);
  REQUIRE(r.rows.size() == 3000);
  std::vector<FrameView> one, next;
  for (std::size_t i = 0; i + 1 < r.rows.size(); ++i) {
    r.frames(r.rows[i], one);
    r.frames(r.rows[i + 1], next);
    const auto key = [](const std::vector<FrameView>& f) {
      return std::string(f[0].function) + ";" + std::string(f[1].function);
    };
    REQUIRE(key(one) < key(next));
  }
}

TEST_CASE("diff: unattributed bytes are no row, but count") {
  const GrowthReport r = must_diff("[unattributed] 100 4\nmain;a 1 1\n", "[unattributed] 40 2\nmain;a 2 1\n");
  CHECK(r.rows.size() == 1);
  CHECK(r.unattributed == Change{100, 40});
  CHECK(r.unattributed_objects == Change{4, 2});
  CHECK(r.total == Change{101, 42});
  CHECK(r.grew == 1);
  CHECK(r.shrank == -60);
}

TEST_CASE("diff: a row without a stack is an ordinary row") {
  const GrowthReport r = must_diff("10 1\n", "30 1\n");
  REQUIRE(r.rows.size() == 1);
  CHECK(key_of(r, r.rows[0]) == "[no stack recorded]");
  CHECK(r.rows[0].value.growth() == 20);
}

TEST_CASE("diff: stacks that hold nothing on either side are no rows") {
  TextOptions with_alloc;
  with_alloc.columns = {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"};
  const GrowthReport r = must_diff(heap("freed 4 400 0 0\nlive 1 10 1 10\n", with_alloc),
                                   heap("freed 5 500 0 0\nlive 2 20 2 20\n", with_alloc));
  CHECK(keys_in_order(r) == std::vector<std::string>{"live"});
  DiffOptions options;
  options.metric = "alloc_space";
  const GrowthReport alloc = must_diff(heap("freed 4 400 0 0\nlive 1 10 1 10\n", with_alloc),
                                       heap("freed 5 500 0 0\nlive 2 20 2 20\n", with_alloc), options);
  CHECK(growth_by_key(alloc) == std::map<std::string, std::int64_t>{{"freed", 100}, {"live", 10}});
  CHECK(alloc.objects_metric == "alloc_objects");
}

TEST_CASE("diff: labels of a stack are summed") {
  const GrowthReport r = must_diff("main;a {bytes=16} 16 1\nmain;a {bytes=32} 64 2\n", "main;a {bytes=16} 32 2\n");
  REQUIRE(r.rows.size() == 1);
  CHECK(r.rows[0].value == Change{80, 32});
  CHECK(r.rows[0].objects == Change{3, 2});
}

TEST_CASE("diff: two snapshots out of one dictionary") {
  const SnapshotRef a = heap("main;a 10 1\nmain;b 20 1\nmain;c 5 1\n");
  Snapshot half = *a.snapshot;  // the same dictionary, other rows
  SampleTable& samples = half.samples;
  samples.stack.pop_back();
  samples.labels.pop_back();
  for (Column& column : samples.columns) {
    column.value.pop_back();
    column.value[0] += 7;
  }
  SnapshotRef b;
  b.snapshot = std::make_shared<Snapshot>(half);
  const GrowthReport r = must_diff(a, b);
  CHECK(growth_by_key(r) == std::map<std::string, std::int64_t>{{"main;a", 7}, {"main;b", 0}, {"main;c", -5}});
}

TEST_CASE("diff: negative values of saved diffs are kept") {
  const GrowthReport r = must_diff("a -10 -1\n", "a 5 1\n");
  CHECK(r.rows[0].value == Change{-10, 5});
  CHECK(r.rows[0].value.growth() == 15);
  CHECK(r.rows[0].row_class == RowClass::grew);
}

TEST_CASE("diff: sums beyond 64 bits are refused") {
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  const Result<GrowthReport> alone = diff::diff(heap("a 0 1\n"), heap("a " + most + " 1\n"), {});
  REQUIRE(alone);
  CHECK(alone->total.growth() == std::numeric_limits<std::int64_t>::max());
  const Result<GrowthReport> growth = diff::diff(heap("a -2 1\n"), heap("a " + most + " 1\n"), {});
  REQUIRE_FALSE(growth);
  CHECK(growth.error().code == ErrorCode::limit);
  // Each total fits, the sum of what grew does not.
  const Result<GrowthReport> parts =
      diff::diff(heap("z 1\n"), heap("a " + most + "\nc -" + most + "\nb " + most + "\nd -" + most + "\n"), {});
  REQUIRE_FALSE(parts);
  CHECK(parts.error().code == ErrorCode::limit);
  // Two stacks that become one when a frame is hidden.
  DiffOptions hide;
  hide.hide = "x";
  const Result<GrowthReport> merged =
      diff::diff(heap("z 1\n"), heap("a;x1 " + most + "\nb -" + most + "\na;x2 " + most + "\n"), hide);
  REQUIRE_FALSE(merged);
  CHECK(merged.error().code == ErrorCode::limit);
}

TEST_CASE("diff: a stack of 100 000 frames and its twin with another root") {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep.append("f").append(std::to_string(i % 1000)).append(";");
  const GrowthReport r =
      must_diff("root1;" + deep + "leaf 10 1\nroot2;" + deep + "leaf 20 1\n", "root1;" + deep + "leaf 30 1\n");
  REQUIRE(r.rows.size() == 2);
  CHECK(r.total.growth() == 0);
  std::vector<FrameView> frames;
  r.frames(r.rows[0], frames);
  CHECK(frames.size() == 100'002);
  for (const GroupBy group : {GroupBy::function, GroupBy::line, GroupBy::file, GroupBy::module}) {
    CHECK(diff::check_conservation(
        must_diff("root1;" + deep + "leaf 10 1\n", "root1;" + deep + "leaf 30 1\n", by(group))));
  }
}

TEST_CASE("diff: empty snapshots") {
  const GrowthReport r = must_diff("", "");
  CHECK(r.rows.empty());
  CHECK(r.total == Change{0, 0});
  for (const double share : r.matched) CHECK(share == 0);
  CHECK(must_diff("", "a 5 1\n").rows[0].row_class == RowClass::added);
}

TEST_CASE("diff: values that an input does not know are told, and in no total") {
  const GrowthReport r = must_diff("a 5 ?\nb ? 1\n", "a 6 1\nb 2 1\n");
  CHECK((r.total.baseline == 5 && r.total.current == 6));
  CHECK_FALSE(r.has_objects);
  CHECK((r.listed_once_value.baseline == 0 && r.listed_once_value.current == 2));
  REQUIRE(r.notes.all().size() == 2);
  CHECK(r.notes.all()[0].text == "an input does not know every count: no counts are compared");
  CHECK(r.notes.all()[1].text == "values that an input does not know: such rows are not compared");
}

TEST_CASE("diff: same bytes twice, and a baseline that is younger, are noted") {
  TextOptions a, b;
  a.facts.source.sha256 = b.facts.source.sha256 = "00ff";
  a.facts.taken_at_ns = 20;
  b.facts.taken_at_ns = 10;
  const GrowthReport r = must_diff(heap("x 1", a), heap("x 1", b));
  REQUIRE(r.notes.all().size() == 2);
  CHECK(r.notes.all()[0].severity == Severity::warning);
  CHECK(r.notes.all()[1].text == "two snapshots come from equal bytes");
}

TEST_CASE("diff: stacks that differ only in how deep they recurse are one row") {
  const std::string_view before = "main;walk;walk;leaf 10 1\nmain;visit;accept;visit;accept;leaf 4 1\n";
  const std::string_view after =
      "main;walk;walk;walk;walk;leaf 30 2\nmain;walk;leaf 5 1\nmain;visit;accept;visit;accept;visit;accept;leaf 9 1\n";
  const GrowthReport r = must_diff(before, after);
  CHECK(keys_in_order(r) == std::vector<std::string>{"main;walk;leaf", "main;visit;accept;leaf"});
  CHECK(row_called(r, "main;walk;leaf").value == Change{10, 35});
  CHECK(row_called(r, "main;walk;leaf").objects == Change{1, 3});
  CHECK(row_called(r, "main;visit;accept;leaf").value == Change{4, 9});
  CHECK(r.total == Change{14, 44});
  CHECK(diff::check_conservation(r));

  DiffOptions whole;
  whole.fold_recursion = false;
  CHECK(must_diff(before, after, whole).rows.size() == 5);
}

TEST_CASE("diff: recursion is folded alike where the sides share a dictionary") {
  // The stack without recursion comes first, in the middle, last, and not at all.
  const auto* const stacks = GENERATE("main;walk;leaf 1 1\nmain;walk;walk;leaf 2 1\nmain;walk;walk;walk;leaf 4 1\n",
                                      "main;walk;walk;leaf 2 1\nmain;walk;leaf 1 1\nmain;walk;walk;walk;leaf 4 1\n",
                                      "main;walk;walk;leaf 2 1\nmain;walk;walk;walk;leaf 4 1\nmain;walk;leaf 1 1\n",
                                      "main;walk;walk;leaf 2 1\nmain;walk;walk;walk;leaf 5 1\n");
  const SnapshotRef ref = heap(std::string("other 1 1\n") + stacks);
  const GrowthReport r = must_diff(ref, ref);
  REQUIRE(r.rows.size() == 2);
  CHECK(row_called(r, "main;walk;leaf").value == Change{7, 7});
}

TEST_CASE("diff: what only looks like recursion is not folded") {
  // A function that comes again further up, a cycle of five, and two lines of one function.
  const GrowthReport r = must_diff("main;a;b;a;c 1\n", "main;a;b;a;c 2\nmain;a;b;c;d;e;a;b;c;d;e 8\n");
  CHECK(keys_in_order(r) == std::vector<std::string>{"main;a;b;c;d;e;a;b;c;d;e", "main;a;b;a;c"});
}
