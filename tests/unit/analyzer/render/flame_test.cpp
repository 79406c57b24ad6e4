#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analyzer/flame/flame_tree.hpp"
#include "analyzer/render/flame/flame_layout.hpp"
#include "analyzer/render/render.hpp"
#include "unit/analyzer/graph/fake_report.hpp"
#include "unit/analyzer/render/stories.hpp"
#include "unit/analyzer/render/tools.hpp"

using namespace snapdiff;
using render::FlameLayout;
using render::FlameMark;
using test::FakeReport;

namespace {

FakeReport random_report(std::uint32_t seed, std::size_t rows, std::size_t depth) {
  std::mt19937 random(seed);
  FakeReport report;
  for (std::size_t i = 0; i < rows; ++i) {
    std::string stack = "main";
    const std::size_t frames = random() % depth;
    for (std::size_t f = 0; f < frames; ++f) stack += ";f" + std::to_string(random() % 3);
    report.row(stack, static_cast<std::int64_t>(random() % 1000), static_cast<std::int64_t>(random() % 1000));
  }
  return report;
}

FlameTree tree_of(FakeReport& report, FlameWidth width = FlameWidth::change) {
  Result<FlameTree> tree = flame::flame_tree(report.get(), width);
  REQUIRE(tree);
  return *std::move(tree);
}

/// Widths of ends add up to the root's, boxes are counted once, rows do not overlap and lie below their callers.
void check_layout(const FlameTree& tree, const FlameLayout& layout, double width, std::uint32_t most_rows) {
  const std::uint64_t total = tree.boxes.front().weight;
  REQUIRE(layout.rows <= most_rows);
  std::uint64_t ends = 0;
  std::uint64_t frames = 0;
  std::int64_t grew = 0;
  std::int64_t shrank = 0;
  std::map<std::uint32_t, std::vector<const FlameMark*>> rows;
  for (const FlameMark& mark : layout.marks) {
    rows[mark.row].push_back(&mark);
    frames += mark.frames;
    if (!mark.end) continue;
    ends += mark.weight;
    grew += mark.grew;
    shrank += mark.shrank;
  }
  CHECK(ends == total);
  CHECK(layout.drawn + layout.merged == total);
  CHECK(grew == tree.boxes.front().grew);
  CHECK(shrank == tree.boxes.front().shrank);
  CHECK(frames == tree.boxes.size());
  CHECK(layout.drawn_boxes + layout.merged_boxes + layout.folded_boxes == tree.boxes.size());
  bool good = true;
  for (auto& [row, marks] : rows) {
    std::sort(marks.begin(), marks.end(), [](const FlameMark* a, const FlameMark* b) { return a->x < b->x; });
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const FlameMark& mark = *marks[i];
      good = good && std::fabs(mark.w - width * static_cast<double>(mark.weight) / static_cast<double>(total)) < 1e-6;
      if (i > 0) good = good && marks[i - 1]->x + marks[i - 1]->w <= mark.x + 1e-6;
      if (row == 0) continue;
      const auto& above = rows[row - 1];
      good = good && std::any_of(above.begin(), above.end(), [&](const FlameMark* caller) {
               return !caller->end && caller->x <= mark.x + 1e-6 && mark.x + mark.w <= caller->x + caller->w + 1e-6;
             });
    }
  }
  CHECK(good);
}

}  // namespace

TEST_CASE("flame layout: every box is drawn, merged or folded, and widths add up") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    FakeReport report = random_report(seed, 5 + seed * 3, 2 + seed % 20);
    const FlameTree tree = tree_of(report);
    for (const double least : {0.0, 2.0, 8.0, 60.0}) {
      for (const std::uint32_t most : {2U, 3U, 6U, 100U})
        check_layout(tree, render::lay_out(tree, 500, least, most / 2, most), 500, most);
    }
  }
}

TEST_CASE("flame layout: what was allocated in a frame itself stands beside its callees") {
  FakeReport report;
  report.row("main", 0, 60).row("main;a", 0, 40);
  const FlameLayout layout = render::lay_out(tree_of(report), 100, 1, 10, 10);
  REQUIRE(layout.marks.size() == 4);
  CHECK(layout.marks[2].kind == FlameMark::Kind::here);
  CHECK(layout.marks[2].x == Approx(0));
  CHECK(layout.marks[2].w == Approx(60));
  CHECK(layout.marks[3].x == Approx(60));
}

TEST_CASE("flame layout: a run of single callees folds where rows are few, and says how many") {
  FakeReport report;
  std::string stack = "main";
  for (int i = 0; i < 40; ++i) stack += ";f" + std::to_string(i);
  report.row(stack, 0, 10);
  const FlameLayout layout = render::lay_out(tree_of(report), 100, 1, 10, 10);
  CHECK(layout.rows == 3);
  CHECK(layout.folded_boxes == 40);
  CHECK(layout.cut_levels == 0);
  CHECK(layout.marks[1].kind == FlameMark::Kind::run);
  CHECK(layout.marks[2].end);
}

TEST_CASE("flame layout: levels that do not fit are one box a caller, counted") {
  FakeReport report;
  for (int depth = 1; depth <= 30; ++depth) {
    std::string stack = "main";
    for (int i = 0; i < depth; ++i) stack += ";f" + std::to_string(i);
    report.row(stack, 0, 100);
  }
  const FlameLayout layout = render::lay_out(tree_of(report), 3000, 1, 8, 8);
  CHECK(layout.rows == 8);
  const auto deeper = std::find_if(layout.marks.begin(), layout.marks.end(),
                                   [](const FlameMark& mark) { return mark.kind == FlameMark::Kind::deeper; });
  REQUIRE(deeper != layout.marks.end());
  CHECK(deeper->frames == 25);
  CHECK(deeper->levels == 25);
  CHECK(layout.cut_levels == 24);
}

TEST_CASE("flame graph: pictures of a comparison, the same bytes each time") {
  render::Story story = test::twelve_snapshots();
  Result<FlameTree> tree = flame::flame_tree(story.overall, FlameWidth::change);
  REQUIRE(tree);
  render::FlameStory flame = render::tell_flame(*tree, story.overall);
  flame.title = "svc_cache";
  flame.version = "snapdiff 0.1";
  CHECK(flame.before == "svc.1000.heap");
  for (const render::PictureForm form :
       {render::PictureForm::pdf, render::PictureForm::svg, render::PictureForm::png}) {
    const Result<std::string> first = render::draw_flame(flame, form);
    const Result<std::string> second = render::draw_flame(flame, form);
    REQUIRE(first);
    CHECK((*first == *second));
    const Result<std::string> letter = render::draw_flame(flame, form, render::Paper::letter);
    REQUIRE(letter);
  }
  const Result<std::string> svg = render::draw_flame(flame, render::PictureForm::svg);
  CHECK(svg->find("leak_sessions") != std::string::npos);
  CHECK(svg->find("= total") != std::string::npos);
  CHECK_FALSE(render::draw_flame({}, render::PictureForm::svg));
}

TEST_CASE("flame graph: boxes within two standard deviations are marked, unknown errors are not") {
  FakeReport report;
  report.row("main;sure", 0, 4000).row("main;chance", 1000, 1900).row("main;unknown", 0, 900);
  report.get().exact = false;
  report.get().rows[0].error = 100;
  report.get().rows[1].error = 800;
  report.get().rows[2].error = kUnknownError;
  report.get().total_error = kUnknownError;
  render::FlameStory story = render::tell_flame(tree_of(report), report.get());
  const Result<std::string> svg = render::draw_flame(story, render::PictureForm::svg);
  REQUIRE(svg);
  CHECK(svg->find("~+900") != std::string::npos);
  CHECK(svg->find("may be chance") != std::string::npos);
  CHECK(svg->find("~+3.91") == std::string::npos);
}

TEST_CASE("flame graph: values at the edge of 64 bits are drawn") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  FakeReport report;
  report.row("main;a", 0, kMost).row("main;b", kMost, 0);
  const render::FlameStory story = render::tell_flame(tree_of(report), report.get());
  for (const render::PictureForm form : {render::PictureForm::pdf, render::PictureForm::svg})
    REQUIRE(render::draw_flame(story, form));
}

TEST_CASE("series: a page of a series, and of two snapshots") {
  render::Story story = test::twelve_snapshots();
  const Result<std::string> svg = render::draw_series(story, render::PictureForm::svg);
  REQUIRE(svg);
  for (const char* text : {"Bands", "Snapshots", "svc.1011.heap", "alloc_body", "GROWING", "TOTAL"}) {
    INFO(text);
    CHECK(svg->find(text) != std::string::npos);
  }
  REQUIRE(render::draw_series(story, render::PictureForm::pdf));
  story.steps.resize(1);
  CHECK_FALSE(render::draw_series(story, render::PictureForm::pdf));
  const render::Story two = test::story_of({{"main;a", {100, 300}}, {"main;b", {50, 0}}});
  REQUIRE(render::draw_series(two, render::PictureForm::pdf));
}
