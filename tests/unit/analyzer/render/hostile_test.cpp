#include <catch2/catch.hpp>
#include <random>

#include "analyzer/render/render.hpp"
#include "unit/analyzer/render/stories.hpp"
#include "unit/analyzer/render/tools.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

/// Every output of a story; all must be made, the SVG must be well-formed.
void draw_everything(const render::Story& story) {
  const auto pdf = render::to_pdf(story, {});
  REQUIRE(pdf.has_value());
  const auto svg = render::to_svg(story, {});
  REQUIRE(svg.has_value());
  REQUIRE(render::to_dot(story, {}).has_value());
  int status = 0;
  if (installed("python3")) {
    const std::string path = temporary_file("hostile.svg", *svg);
    const std::string told = output_of(
        std::string("python3 -c \"import xml.dom.minidom as m; m.parse('").append(path).append("')\" 2>&1"), status);
    INFO(told);
    REQUIRE(status == 0);
  }
  if (installed("qpdf")) {
    const std::string told =
        output_of(std::string("qpdf --check '").append(temporary_file("hostile.pdf", *pdf)).append("' 2>&1"), status);
    INFO(told);
    REQUIRE(status == 0);
  }
}

}  // namespace

TEST_CASE("hostile: control characters, invalid UTF-8, bidirectional marks, noncharacters") {
  render::Story story = story_of({{std::string("ma\x1b[2Jin;\xff\xfe;\xed\xa0\x80;tab\there\x7f"), {0, 500}},
                                  {"main;\u202eevil\u2066;\ufeff\uffff", {0, 900}},
                                  {std::string("main;nul").append(1, '\0').append("byte"), {800, 0}},
                                  {"main;'quote' name='x' y=1)", {1, 2}}});
  story.title = "\x1b]0;title\x07\xff";
  story.version = "v\n1\r\xc0";
  story.order_note = "note\x01";
  draw_everything(story);
}

TEST_CASE("hostile: names of a megabyte, deep templates, other scripts, only combining marks") {
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += "A<";
  std::string marks;
  for (int i = 0; i < 500; ++i) marks += "\u0301";
  draw_everything(
      story_of({{std::string("main;").append(1'000'000, 'x'), {0, 500'000}},
                {std::string("main;").append(deep), {0, 400'000}},
                {std::string("main;z").append(marks), {0, 300'000}},
                {"main;\u05e9\u05dc\u05d5\u05dd\u0645\u0631\u062d\u0628\u0627;\u4f60\u597d\U0001f600", {0, 200'000}},
                {"main;          ;\u3000\u00a0", {0, 100'000}}}));
}

TEST_CASE("hostile: a stack of 100 000 frames, and one function that calls itself as often") {
  // Frames by hand: the readable form would take minutes.
  std::vector<FrameView> frames(100'000);
  std::vector<std::string> names(100'000);
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = std::string("f").append(std::to_string(i));
    frames[i].function = names[i];
  }
  auto view = std::make_shared<FakeStacks>();
  render::Story story = story_of({{"main", {0, 5000}}, {"main", {0, 4000}}});
  story.overall.stacks[0] = view->add(frames);
  story.overall.stacks[1] = view->add(std::vector<FrameView>(100'000, frames[7]));
  story.overall.view = view;
  draw_everything(story);
}

TEST_CASE("hostile: random graphs always fit their pages") {
  std::mt19937 random(5);
  for (int round = 0; round < 25; ++round) {
    std::vector<Line> lines;
    const int rows = 1 + static_cast<int>(random() % 120);
    for (int r = 0; r < rows; ++r) {
      std::string stack = "main";
      const int depth = static_cast<int>(random() % 15);
      for (int d = 0; d < depth; ++d) stack.append(";name_").append(std::to_string(random() % 40));
      lines.push_back({stack,
                       {static_cast<std::int64_t>(random() % 100'000), static_cast<std::int64_t>(random() % 100'000),
                        static_cast<std::int64_t>(random() % 100'000)}});
    }
    const auto pdf = render::to_pdf(story_of(lines), {});
    CAPTURE(round);
    REQUIRE(pdf.has_value());
  }
}
