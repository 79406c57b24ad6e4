#include <catch2/catch.hpp>

#include "snapdiff/story.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

/// A snapshot of a source that lists only its largest rows.
SnapshotRef part(std::string_view text) {
  TextOptions options;
  options.facts.complete = false;
  return heap(text, options);
}

std::string stack_of(const GrowthReport& report, const ListedOnce& row) {
  std::vector<FrameView> frames;
  report.view->frames(row.stack, frames);
  return stack_text(frames);
}

SeriesReport must_series(const std::vector<SnapshotRef>& snapshots) {
  Result<SeriesReport> series = diff::diff_series(snapshots, {});
  if (!series) throw std::invalid_argument(series.error().text());
  return std::move(series).value();
}

bool has_note(const GrowthReport& report, std::string_view begin) {
  for (const Note& note : report.notes.all()) {
    if (note.text.starts_with(begin)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("listed once: absent from a list that leaves rows out is unknown, not zero") {
  const GrowthReport r = must_diff(part("m;a 10 1\nm;gone 7 1\n"), part("m;a 15 2\nm;new 400 4\nm;new2 2 1\n"));
  REQUIRE(r.rows.size() == 1);
  CHECK(row_called(r, "m;a").value == Change{10, 15});
  CHECK(r.total == Change{10, 15});
  CHECK(r.grew == 5);
  CHECK(r.listed_once_value == Change{7, 402});
  REQUIRE(r.listed_once.size() == 3);
  CHECK(stack_of(r, r.listed_once[0]) == "m;new");
  CHECK(r.listed_once[0].value.current == 400);
  CHECK(r.listed_once[0].first == 1);
  CHECK(stack_of(r, r.listed_once[1]) == "m;gone");
  CHECK(r.listed_once[1].first == 0);
  CHECK(r.listed_once[1].last == 0);
  CHECK(has_note(r, "top-N list: missing rows are unknown"));
}

TEST_CASE("listed once: a complete side says zero, the other one does not") {
  const GrowthReport r = must_diff(heap("m;a 10 1\nm;gone 7 1\n"), part("m;a 15 2\nm;new 400 4\n"));
  CHECK(row_called(r, "m;new").value == Change{0, 400});
  REQUIRE(r.listed_once.size() == 1);
  CHECK(stack_of(r, r.listed_once[0]) == "m;gone");
  CHECK(r.total == Change{10, 415});
}

TEST_CASE("listed once: a value that is unknown on one side") {
  const GrowthReport r = must_diff("m;a 10 1\nm;b ? 3\n", "m;a 12 1\nm;b 50 3\n");
  CHECK(r.total == Change{10, 12});
  REQUIRE(r.listed_once.size() == 1);
  CHECK(stack_of(r, r.listed_once[0]) == "m;b");
  CHECK(r.listed_once_value == Change{0, 50});
  CHECK(has_note(r, "values that an input does not know"));
  const GrowthReport mirrored = must_diff("m;a 12 1\nm;b 50 3\n", "m;a 10 1\nm;b ? 3\n");
  CHECK(mirrored.total.growth() == -r.total.growth());
  CHECK(mirrored.listed_once_value == Change{50, 0});
}

TEST_CASE("listed once: stacks that hidden frames make one are one") {
  DiffOptions options;
  options.hide = "^x$";
  Result<GrowthReport> r = diff::diff(part("m;x;a 3 1\nm;a 4 1\n"), part("m;other 1 1\n"), options);
  REQUIRE(r);
  REQUIRE(r->listed_once.size() == 2);
  CHECK(stack_of(*r, r->listed_once[0]) == "m;a");
  CHECK(r->listed_once[0].value.baseline == 7);
  CHECK(r->listed_once_value == Change{7, 1});
  CHECK(r->total == Change{0, 0});
}

TEST_CASE("listed once: points between two known ones lie on the line, and are told") {
  const SeriesReport s = must_series(
      {part("m;a 10 1\nm;b 100 1\n"), part("m;b 100 1\n"), part("m;b 100 1\n"), part("m;a 40 4\nm;b 100 1\n")});
  const GrowthReport& r = s.overall;
  REQUIRE(r.series_length == 4);
  REQUIRE(r.rows.size() == 2);
  REQUIRE(key_of(r, r.rows[0]) == "m;a");
  CHECK(r.series.values(0) == std::vector<std::int64_t>{10, 20, 30, 40});
  std::vector<std::uint8_t> known;
  r.series.known_row(0, known);
  CHECK(known == std::vector<std::uint8_t>{1, 0, 0, 1});
  r.series.known_row(1, known);
  CHECK(known == std::vector<std::uint8_t>{1, 1, 1, 1});
  CHECK(s.steps[1].total == 120);
  CHECK(s.steps[1].growth == 10);
  CHECK(has_note(r, "points of the series that no input lists"));
}

TEST_CASE("listed once: a complete snapshot between says zero") {
  const SeriesReport s =
      must_series({part("m;a 10 1\nm;b 1 1\n"), heap("m;b 1 1\n"), part("m;b 1 1\n"), part("m;a 40 4\nm;b 1 1\n")});
  const GrowthReport& r = s.overall;
  REQUIRE(key_of(r, r.rows[0]) == "m;a");
  CHECK(r.series.values(0) == std::vector<std::int64_t>{10, 0, 20, 40});
  CHECK(r.series.known(0, 1));
  CHECK_FALSE(r.series.known(0, 2));
}

TEST_CASE("listed once: a row that enters the list later keeps what is known of it") {
  const SeriesReport s =
      must_series({part("m;b 100 1\n"), part("m;b 100 1\nm;a 20 2\n"), part("m;b 100 1\nm;a 55 5\n")});
  REQUIRE(s.overall.listed_once.size() == 1);
  CHECK(s.overall.listed_once[0].first == 1);
  CHECK(s.overall.listed_once[0].last == 2);
  CHECK(s.overall.listed_once[0].value == Change{20, 55});
  CHECK(s.overall.total == Change{100, 100});
}

TEST_CASE("listed once: in a long series a row counts from where it is first listed") {
  std::vector<SnapshotRef> listed = {part("m;b 100 1\n"), part("m;b 100 1\n")};
  for (int i = 0; i < 9; ++i) listed.push_back(part("m;b 100 1\nm;a " + std::to_string(20 + 5 * i) + " 2\n"));
  const SeriesReport s = must_series(listed);
  const GrowthReport& r = s.overall;
  CHECK(r.listed_once.empty());
  CHECK(row_called(r, "m;a").value == Change{20, 60});
  CHECK(r.total == Change{120, 160});
  REQUIRE(key_of(r, r.rows[0]) == "m;a");
  CHECK(r.series.values(0) == std::vector<std::int64_t>{20, 20, 20, 25, 30, 35, 40, 45, 50, 55, 60});
  std::vector<std::uint8_t> known;
  r.series.known_row(0, known);
  CHECK(known == std::vector<std::uint8_t>{0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(has_note(r, "rows that the first inputs do not list"));
  // What is not there at the end, or in too few, stays aside.
  listed.push_back(part("m;b 100 1\n"));
  CHECK(must_series(listed).overall.listed_once.size() == 1);
  listed.erase(listed.begin() + 2, listed.begin() + 4);
  listed.back() = part("m;b 100 1\nm;a 60 2\n");
  CHECK(must_series(listed).overall.listed_once.empty());
  listed.erase(listed.begin() + 3);
  CHECK(must_series(listed).overall.listed_once.size() == 1);
}

TEST_CASE("rounding: half a step is one standard deviation, growth within it is marked") {
  SnapshotBuilder before, after;
  const auto fill = [](SnapshotBuilder& b, std::int64_t a, std::int64_t half) {
    b.facts().sampling = Sampling::exact;
    b.add_column({"inuse_space", "bytes"});
    b.add_column({half_unit_name("inuse_space"), "bytes"});
    SnapshotBuilder::FrameSpec spec;
    spec.function = b.function(b.string("f"), b.string("f"), {}, 0);
    const FrameId frame = b.frame(spec);
    const std::int64_t values[] = {a, half};
    b.add_row(b.stack(std::span(&frame, 1)), {}, values);
  };
  fill(before, 2949 * 1024, 512);
  fill(after, 2950 * 1024, 512);
  auto a = std::make_shared<const Snapshot>(std::move(before.finish()).value());
  auto b = std::make_shared<const Snapshot>(std::move(after.finish()).value());
  const GrowthReport r = must_diff(SnapshotRef{a, "a", ""}, SnapshotRef{b, "b", ""});
  CHECK(r.metric == "inuse_space");
  CHECK(r.has_error);
  CHECK(r.rounded);
  CHECK_FALSE(r.exact);
  REQUIRE(r.rows.size() == 1);
  CHECK(r.rows[0].error == Approx(std::sqrt(2.0) * 512));
  CHECK(marked_of(r).empty());
}

TEST_CASE("metric: counts are taken where no input has bytes") {
  TextOptions options;
  options.columns = {"inuse_objects"};
  const GrowthReport r = must_diff(heap("m;a 3\n", options), heap("m;a 9\n", options));
  CHECK(r.metric == "inuse_objects");
  CHECK(r.total == Change{3, 9});
}

TEST_CASE("listed once: a list that says its rest has a total, and what it leaves out is a part of the rest") {
  const GrowthReport r = must_diff(part("m;a 900 1\n[below threshold] 100 2\n"),
                                   part("m;new 7900 4\nm;a 1000 1\n[below threshold] 100 2\n"));
  CHECK(r.total == Change{1000, 9000});
  CHECK(r.listed_once.empty());
  CHECK(row_called(r, "m;new").value == Change{0, 7900});
  CHECK(row_called(r, "m;new").error == 100);
  CHECK(row_called(r, "m;a").error == 0);
  CHECK(r.total_error == 0);
}

TEST_CASE("listed once: a point that a list may leave out is unknown beside small values, and 0 beside large ones") {
  const SeriesReport s =
      must_series({part("m;big 500 1\nm;low 9 1\n[below threshold] 10 1\n"), part("m;a 1 1\n[below threshold] 10 1\n"),
                   part("m;big 500 1\nm;low 9 1\n[below threshold] 10 1\n")});
  std::vector<std::uint8_t> known;
  for (std::size_t row = 0; row < s.overall.rows.size(); ++row) {
    const std::string key = key_of(s.overall, s.overall.rows[row]);
    s.overall.series.known_row(row, known);
    if (key == "m;big") CHECK(known == std::vector<std::uint8_t>{1, 1, 1});
    if (key == "m;low") CHECK(known == std::vector<std::uint8_t>{1, 0, 1});
  }
  CHECK(s.steps[1].total == 11);
}
