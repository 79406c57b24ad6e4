#include <algorithm>
#include <catch2/catch.hpp>

#include "snapdiff/story.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const CumulativeChange& cumulative_of(const GrowthReport& r, std::string_view key) {
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    if (r.keys[r.rows[i].key] == key) return r.cumulative[i];
  }
  throw std::invalid_argument("no key " + std::string(key));
}

constexpr std::string_view kBefore =
    "main@m.cc:1#/bin/app;a@a.cc:5#/bin/app;b@b.cc:7#/bin/app 10 1\n"
    "main@m.cc:1#/bin/app;a@a.cc:6#/bin/app 20 2\n"
    "main@m.cc:2#/bin/app;r@r.cc:1#/bin/app;r@r.cc:1#/bin/app;r@r.cc:2#/bin/app 40 4\n";
constexpr std::string_view kAfter =
    "main@m.cc:1#/bin/app;a@a.cc:5#/bin/app;b@b.cc:7#/bin/app 4 1\n"
    "main@m.cc:1#/bin/app;a@a.cc:6#/bin/app 25 2\n"
    "main@m.cc:2#/bin/app;r@r.cc:1#/bin/app;r@r.cc:2#/bin/app 7 1\n"
    "main@m.cc:2#/bin/app;r@r.cc:1#/bin/app;r@r.cc:1#/bin/app;r@r.cc:2#/bin/app 44 4\n"
    "/lib/libx.so+0x10 3 1\n";

}  // namespace

TEST_CASE("by function: flat at the leaf, cumulative once per stack") {
  const GrowthReport r = must_diff(kBefore, kAfter, by(GroupBy::function));
  CHECK(row_called(r, "b").value == Change{10, 4});
  CHECK(row_called(r, "a").value == Change{20, 25});
  CHECK(row_called(r, "r").value == Change{40, 51});
  CHECK(row_called(r, "r").grew == 11);
  CHECK(row_called(r, "main").value == Change{0, 0});
  CHECK(row_called(r, "libx.so+0x10").value == Change{0, 3});
  CHECK(cumulative_of(r, "main").value == Change{70, 80});
  CHECK(cumulative_of(r, "main").objects == Change{7, 8});
  CHECK(cumulative_of(r, "a").value == Change{30, 29});
  CHECK(cumulative_of(r, "a").grew == 5);
  CHECK(cumulative_of(r, "a").shrank == -6);
  CHECK(cumulative_of(r, "r").value == Change{40, 51});  // a recursive function counts once
  CHECK(r.grew == 19);
  CHECK(r.shrank == -6);
}

TEST_CASE("by file, line and module") {
  GrowthReport r = must_diff(kBefore, kAfter, by(GroupBy::file));
  CHECK(row_called(r, "a.cc").value == Change{20, 25});
  CHECK(cumulative_of(r, "m.cc").value == Change{70, 80});
  CHECK(row_called(r, "[unknown in libx.so]").value == Change{0, 3});
  r = must_diff(kBefore, kAfter, by(GroupBy::line));
  CHECK(row_called(r, "a.cc:6").value == Change{20, 25});
  CHECK(cumulative_of(r, "m.cc:1").value == Change{30, 29});
  CHECK(cumulative_of(r, "r.cc:1").value == Change{40, 51});
  CHECK(row_called(r, "libx.so+0x10").value == Change{0, 3});
  r = must_diff(kBefore, kAfter, by(GroupBy::module));
  CHECK(row_called(r, "app").value == Change{70, 80});
  CHECK(row_called(r, "libx.so").value == Change{0, 3});
}

TEST_CASE("by function: two files of one name are one function, and order is by change, size, name") {
  const GrowthReport r = must_diff("f@x.cc:1 1 1\n", "f@y.cc:1 4 1\nc 3 1\nb 3 1\n", by(GroupBy::function));
  CHECK(keys_in_order(r) == std::vector<std::string>{"f", "b", "c"});
  CHECK(row_called(r, "f").value == Change{1, 4});
  CHECK(row_called(r, "f").grew == 4);
  CHECK(row_called(r, "f").shrank == -1);
}

TEST_CASE("by label and type: values of a label, and the rows without it") {
  const std::string_view before = "a {thread=1 type=int} 10 1\na {thread=2} 5 1\nb 7 1\n[unattributed] 2 1\n";
  const std::string_view after = "a {thread=1 type=int} 12 1\na {thread=2} 3 1\nb 7 1\nb {type=int} 9 1\n";
  DiffOptions options = by(GroupBy::label);
  options.label_key = "thread";
  GrowthReport r = must_diff(before, after, options);
  CHECK(row_called(r, "1").value == Change{10, 12});
  CHECK(row_called(r, "2").value == Change{5, 3});
  CHECK(row_called(r, "[no label thread]").value == Change{7, 16});
  CHECK(r.unattributed.growth() == -2);
  r = must_diff(before, after, by(GroupBy::type));
  CHECK(row_called(r, "int").value == Change{10, 21});
  CHECK(row_called(r, "int").grew == 11);
  CHECK(row_called(r, "[no label type]").value == Change{12, 10});
  CHECK(cumulative_of(r, "int").value == Change{10, 21});
  CHECK(row_called(r, "int").row_class == RowClass::grew);
}

TEST_CASE("by label: that no row has the label is said") {
  DiffOptions options = by(GroupBy::label);
  const auto says = [&](const GrowthReport& r) {
    return std::any_of(r.notes.all().begin(), r.notes.all().end(),
                       [](const Note& note) { return note.text.starts_with("no row has the label 'role'"); });
  };
  options.label_key = "role";
  CHECK(says(must_diff("a {type=int} 5 1\n", "a {type=int} 6 1\n", options)));
  CHECK_FALSE(says(must_diff("a {type=int} 5 1\n", "a {role=input} 6 1\n", options)));
}

TEST_CASE("by label: a key that occurs twice makes one row of both values") {
  DiffOptions options = by(GroupBy::label);
  options.label_key = "pool";
  CHECK(keys_in_order(must_diff("", "a {pool=x pool=y} 1 1\n", options)) == std::vector<std::string>{"x, y"});
}

TEST_CASE("culprits are the same whatever the rows are") {
  const GrowthReport stack = must_diff(kBefore, kAfter);
  for (const GroupBy group : {GroupBy::function, GroupBy::file, GroupBy::line, GroupBy::module}) {
    const GrowthReport r = must_diff(kBefore, kAfter, by(group));
    const std::vector<const Culprit*> some = marked_of(r), all = marked_of(stack);
    REQUIRE(some.size() == all.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      CHECK(some[i]->growth() == all[i]->growth());
      CHECK(some[i]->rows.empty());
    }
  }
}
