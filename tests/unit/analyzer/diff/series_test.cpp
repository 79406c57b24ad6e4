#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

SeriesReport must_series(const std::vector<SnapshotRef>& snapshots, const DiffOptions& options = {}) {
  Result<SeriesReport> series = diff::diff_series(snapshots, options);
  if (!series) throw std::invalid_argument(series.error().text());
  return std::move(series).value();
}

std::vector<std::int64_t> values_of(const GrowthReport& r, std::string_view key) {
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    if (key_of(r, r.rows[i]) != key) continue;
    return r.series.values(i);
  }
  throw std::invalid_argument("no row " + std::string(key));
}

}  // namespace

TEST_CASE("series: steps, values at each snapshot, and what came and went") {
  const SeriesReport s =
      must_series({heap("main;a 10 1\nmain;c 1 1\n"), heap("main;a 20 2\nmain;burst 400 1\nmain;c 1 1\n"),
                   heap("main;a 30 3\nmain;burst 100 1\n"), heap("main;a 40 4\nmain;b 5 1\n")});
  REQUIRE(s.steps.size() == 4);
  CHECK(s.steps[0].total == 11);
  CHECK(s.steps[0].growth == 0);
  CHECK(s.steps[0].heaviest.empty());
  CHECK(s.steps[1].growth == 410);
  CHECK(stack_text(s.steps[1].heaviest) == "main;burst");
  CHECK(s.steps[1].heaviest_growth == 400);
  CHECK(s.steps[2].heaviest_growth == -300);
  CHECK(*s.steps[3].objects == 5);
  CHECK(s.overall.total == Change{11, 45});
  CHECK(s.overall.series_length == 4);
  CHECK(values_of(s.overall, "main;a") == std::vector<std::int64_t>{10, 20, 30, 40});
  CHECK(values_of(s.overall, "main;burst") == std::vector<std::int64_t>{0, 400, 100, 0});
  CHECK(values_of(s.overall, "main;b") == std::vector<std::int64_t>{0, 0, 0, 5});
  CHECK(row_called(s.overall, "main;burst").row_class == RowClass::same);
  CHECK(row_called(s.overall, "main;c").row_class == RowClass::gone);
  std::int64_t sum = 0;
  for (const SeriesStep& step : s.steps) sum += step.growth;
  CHECK(sum == s.overall.total.growth());
}

TEST_CASE("series: of more snapshots than are filled at a time every value is in its place") {
  std::vector<SnapshotRef> refs;
  // Odd ones hold a stack twice, by label: their rows are no entries as they stand.
  for (int i = 0; i < 19; ++i) {
    std::string text = "m;a " + std::to_string(10 * i + 1) + " " + std::to_string(i + 1) + "\n";
    text += i % 2 == 0 ? "m;b 6 2\n" : "m;b {t=1} 2 1\nm;b {t=2} 4 1\n";
    refs.push_back(heap(text));
  }
  const SeriesReport s = must_series(refs);
  std::vector<std::int64_t> expected;
  for (int i = 0; i < 19; ++i) expected.push_back(10 * i + 1);
  CHECK(values_of(s.overall, "m;a") == expected);
  CHECK(values_of(s.overall, "m;b") == std::vector<std::int64_t>(19, 6));
  for (int i = 0; i < 19; ++i) CHECK(s.steps[static_cast<std::size_t>(i)].total == 10 * i + 7);
}

TEST_CASE("series: by function") {
  const SeriesReport s =
      must_series({heap("m;a 10 1\n"), heap("m;a 20 1\nx;a 1 1\n"), heap("m;a 5 1\n")}, by(GroupBy::function));
  CHECK(values_of(s.overall, "a") == std::vector<std::int64_t>{10, 21, 5});
  CHECK(values_of(s.overall, "x") == std::vector<std::int64_t>{0, 0, 0});
}

TEST_CASE("series: by label") {
  DiffOptions options = by(GroupBy::label);
  options.label_key = "t";
  const SeriesReport s =
      must_series({heap("a {t=1} 10 1\n"), heap("a {t=1} 5 1\nb {t=2} 7 1\n"), heap("b 1 1\n")}, options);
  CHECK(values_of(s.overall, "1") == std::vector<std::int64_t>{10, 5, 0});
  CHECK(values_of(s.overall, "2") == std::vector<std::int64_t>{0, 7, 0});
  CHECK(values_of(s.overall, "[no label t]") == std::vector<std::int64_t>{0, 0, 1});
}

TEST_CASE("series: two snapshots are an ordinary diff") {
  const SnapshotRef a = heap("m;a 10 1\n");
  const SnapshotRef b = heap("m;a 30 1\n");
  const SeriesReport s = must_series({a, b});
  CHECK(s.overall.series.empty());
  CHECK(s.overall.series_length == 0);
  CHECK(growth_by_key(s.overall) == growth_by_key(must_diff(a, b)));
}

TEST_CASE("series: identity goes on through a rebuild in the middle") {
  const auto at = [](int line, int value) {
    return heap("main@m.cc:" + std::to_string(line) + ";f@f.cc:" + std::to_string(line + 1) + moved_frames(line) + " " +
                std::to_string(value));
  };
  const SeriesReport s = must_series({at(1, 10), at(1, 20), at(7, 30), at(7, 40), at(9, 50)});
  REQUIRE(s.overall.rows.size() == 1);
  REQUIRE(s.overall.series.rows() == 1);
  CHECK(s.overall.series.values(0) == std::vector<std::int64_t>{10, 20, 30, 40, 50});
  CHECK(s.overall.rows[0].tier == MatchTier::function_file);
}

TEST_CASE("series: restarts are told") {
  TextOptions one, two;
  one.facts.pid = 10;
  two.facts.pid = 11;
  const SeriesReport s = must_series({heap("a 100", one), heap("a 120", two), heap("a 20", two), heap("a 10", two)});
  CHECK(s.steps[0].restart.empty());
  CHECK(s.steps[1].restart == "process id 10, then 11");
  CHECK(s.steps[2].restart == "total fell below 30 % of the one before");
  CHECK(s.steps[3].restart.empty());
}

TEST_CASE("series: what one recording frees is no restart") {
  TextOptions recorded;
  recorded.facts.producer = "heaptrack 1.4.0";
  recorded.facts.source.sha256 = "a";
  TextOptions another = recorded;
  another.facts.source.sha256 = "b";
  const SeriesReport s = must_series({heap("a 100", recorded), heap("a 20", recorded), heap("a 5", another)});
  CHECK(s.steps[1].restart.empty());
  CHECK(s.steps[2].restart == "total fell below 30 % of the one before");
}

TEST_CASE("series: one snapshot is too few") {
  const std::vector<SnapshotRef> one{heap("a 1")};
  const Result<SeriesReport> r = diff::diff_series(one, {});
  REQUIRE_FALSE(r);
  CHECK(r.error().code == ErrorCode::usage);
}

TEST_CASE("series: a hundred snapshots") {
  std::vector<SnapshotRef> snapshots;
  for (int i = 0; i < 100; ++i) {
    std::string text;
    for (int k = i; k < i + 30; ++k) text += "main;f" + std::to_string(k) + " " + std::to_string(k + 1) + " 1\n";
    snapshots.push_back(heap(text));
  }
  const SeriesReport s = must_series(snapshots);
  CHECK(s.overall.rows.size() == 129);
  std::int64_t sum = 0;
  for (const SeriesStep& step : s.steps) sum += step.growth;
  CHECK(sum == s.overall.total.growth());
  CHECK(values_of(s.overall, "main;f50")[50] == 51);
}

TEST_CASE("series: thousands of snapshots with rows of their own keep only the values that there are") {
  std::vector<SnapshotRef> snapshots;
  for (int i = 0; i < 3500; ++i) {
    const std::string own = "main;f" + std::to_string(i) + " 8 1\n";
    snapshots.push_back(heap(own + "main;common " + std::to_string(i + 1) + " 1\n"));
  }
  DiffOptions by_function;
  by_function.by = GroupBy::function;
  for (const DiffOptions& options : {DiffOptions{}, by_function}) {
    const bool by_stack = options.by == GroupBy::stack;
    const SeriesReport series = must_series(snapshots, options);
    const GrowthReport& overall = series.overall;
    REQUIRE(overall.rows.size() == (by_stack ? 3501 : 3502));
    CHECK(overall.series.sparse());
    std::vector<std::int64_t> own(3500, 0), rising(3500);
    own[1234] = 8;
    std::iota(rising.begin(), rising.end(), 1);
    CHECK(values_of(overall, by_stack ? "main;f1234" : "f1234") == own);
    CHECK(values_of(overall, by_stack ? "main;common" : "common") == rising);
    std::vector<double> sums(3500, 0);
    for (std::size_t row = 0; row < overall.rows.size(); ++row) overall.series.add_to(sums, row);
    std::size_t unlike = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      unlike += sums[i] == static_cast<double>(series.steps[i].total) ? 0U : 1U;
    CHECK(unlike == 0);
    CHECK(std::abs(series.steps[7].heaviest_growth) == 8);  // f6 went, f7 came; `common` grew by 1
  }
}
