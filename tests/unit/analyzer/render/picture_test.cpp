#include <graphviz/cgraph.h>

#include <catch2/catch.hpp>

#include "analyzer/render/render.hpp"
#include "unit/analyzer/render/stories.hpp"
#include "unit/analyzer/render/tools.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

render::Story with_markup() {
  return story_of({{"main;</script><script>alert(1)</script>;std::vector<int>::push_back", {0, 5000}},
                   {"main;a\"b\\N\\l{|}&]]>", {7000, 100}},
                   {"main;trailing\\", {0, 900}}});
}

/// The texts of an SVG file as python's parser sees them; fails the test when it is not well-formed.
std::string svg_texts(const std::string& svg) {
  if (!installed("python3")) {
    WARN("skipped: python3 is not installed");
    return "";
  }
  int status = 0;
  const std::string path = temporary_file("graph.svg", svg);
  const std::string script =
      "import sys,xml.etree.ElementTree as E\n"
      "r=E.parse(sys.argv[1]).getroot()\n"
      "n='{http://www.w3.org/2000/svg}'\n"
      "assert r.tag==n+'svg'\n"
      "print('\\n'.join(e.text or '' for e in r.iter() if e.tag in (n+'text',n+'title')))\n"
      "bad=[e.tag for e in r.iter() if e.tag.split('}')[1] in ('script','image','a','foreignObject')]\n"
      "assert not bad, bad\n";
  const std::string text = output_of(std::string("PYTHONIOENCODING=utf-8 python3 '")
                                         .append(temporary_file("texts.py", script))
                                         .append("' '")
                                         .append(path)
                                         .append("' 2>&1"),
                                     status);
  INFO(text);
  REQUIRE(status == 0);
  return text;
}

/// All labels and tooltips of a DOT file, read back by Graphviz's own parser.
std::vector<std::string> dot_labels(const std::string& dot) {
  Agraph_t* const graph = agmemread(dot.c_str());
  REQUIRE(graph != nullptr);
  std::vector<std::string> labels;
  for (Agnode_t* n = agfstnode(graph); n != nullptr; n = agnxtnode(graph, n)) {
    labels.emplace_back(agget(n, const_cast<char*>("label")));
    labels.emplace_back(agget(n, const_cast<char*>("tooltip")));
  }
  agclose(graph);
  return labels;
}

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("svg: well-formed, its texts are texts, markup in names is none") {
  const auto svg = render::to_svg(with_markup(), {});
  REQUIRE(svg.has_value());
  CHECK(svg->find("<script") == std::string::npos);
  const std::string texts = svg_texts(*svg);
  if (texts.empty()) return;
  CHECK(texts.find("</script><script>alert(1)</script>") != std::string::npos);  // the tooltip has the full name
  CHECK(texts.find("a\"b\\N\\l{|}&]]>") != std::string::npos);
  CHECK(texts.find("all change") != std::string::npos);
  CHECK(texts.find("\u22126.74 KiB") != std::string::npos);  // 100 - 7000
}

TEST_CASE("pictures: what a comparison says of its inputs stands below") {
  render::Story story = with_markup();
  story.overall.notes.add(Severity::info, "native <memory> is invisible to it");
  CHECK(svg_texts(*render::to_svg(story, {})).find("native <memory> is invisible to it") != std::string::npos);
  CHECK(render::to_dot(story, {})->find("note: native") != std::string::npos);
}

TEST_CASE("svg: refers to nothing outside itself and is the same each time") {
  const auto svg = render::to_svg(twelve_snapshots(), {});
  REQUIRE(svg.has_value());
  CHECK(svg->find("href") == std::string::npos);
  CHECK(svg->find("url(http") == std::string::npos);
  CHECK(*svg == *render::to_svg(twelve_snapshots(), {}));
}

TEST_CASE("png: a picture, the same each time, of at most 16 000 pixels a side") {
  const auto png = render::to_png(twelve_snapshots(), {});
  REQUIRE(png.has_value());
  CHECK(png->substr(1, 3) == "PNG");
  CHECK(*png == *render::to_png(twelve_snapshots(), {}));
  std::vector<Line> wide;  // boxes beside each other, far wider than that at 2 pixels a point
  for (int i = 0; i < 150; ++i) wide.push_back({"main;callee_" + std::to_string(i), {0, 1000}});
  const auto large = render::to_png(story_of(wide), {200, 0, 0});
  REQUIRE(large.has_value());
  const auto side = [&](std::size_t at) {
    std::uint32_t v = 0;
    for (std::size_t i = 0; i < 4; ++i) v = (v << 8) | static_cast<unsigned char>((*large)[at + i]);
    return v;
  };
  CHECK(side(16) <= 16000);
  CHECK(side(20) <= 16000);
  CHECK(side(16) > 8000);
}

TEST_CASE("dot: read back by Graphviz, names quoted") {
  const auto dot = render::to_dot(with_markup(), {});
  REQUIRE(dot.has_value());
  const auto labels = dot_labels(*dot);
  CHECK(labels.size() >= 8);
  CHECK(any_contains(labels, "a\"b\\\\N\\\\l{|}&]]>"));  // backslashes doubled: no escapes
  CHECK(any_contains(labels, "trailing\\\\"));
  CHECK(*dot == *render::to_dot(with_markup(), {}));
}

TEST_CASE("dot: new lines are lines, bold and dashed tell spine and gone") {
  const auto dot = render::to_dot(story_of({{"main;gone", {5000, 0}}, {"main;fresh", {0, 900}}}), {});
  REQUIRE(dot.has_value());
  CHECK(dot->find("filled,dashed") != std::string::npos);
  CHECK(dot->find("peripheries=2") != std::string::npos);
  CHECK(dot->find("penwidth=2") != std::string::npos);
}
