#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "formats/input/all_formats.hpp"
#include "formats/registry.hpp"
#include "support/memory_input.hpp"
#include "support/object_graph_text.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
namespace fs = std::filesystem;

namespace {

const std::string kSmall = R"(digraph ObjectGraph {
  node[shape=box, style=filled, fillcolor=white];
  o10[fontcolor=red];
  o10[label="app.Session [2]\n<app.Session object at 0x7f98daa87"];
  o10[fillcolor="0,0,1"];
  o_3 -> o10 [label="builtins.int\n7"];
  o_3[label="builtins.dict\n{\"a\": 1, \"b\\\\\": 2}\nextra; [x] -> o5"];
  o_3[fillcolor="0,0,0.5"];
  o20 -> o_3 [label="say \"hi\"\\",weight=2];
  o20 -> o10;
  o20[label="builtins.module [-1]\nmod"];
  o20->o20_has_a_del[color=red,style=dotted,len=0.25,weight=10];
  o20_has_a_del[label="__del__",shape=doublecircle,height=0.25,color=red,fillcolor="0,.5,1",fontsize=6];
  too_many_o10->o10[color=red,style=dotted,len=0.25,weight=10];
  too_many_o10[label="12 more backreferences",shape=box,height=0.25];
  too_many_o10[fontcolor=white];
  o10 -> o30 [label="strange"];
}
)";

Result<Snapshot> read(std::string_view text, std::size_t window = 0) {
  MemoryInput in(text, window);
  SnapshotList list;
  if (Status status = formats::kObjgraphDot.read(in, list); !status) return std::move(status).error();
  return std::move(list.snapshots.at(0));
}

}  // namespace

TEST_CASE("objgraph: objects, references and roots, marks beside objects are none") {
  const auto window = GENERATE(as<std::size_t>{}, 0, 1, 50, 1000);
  const Result<Snapshot> snapshot = read(kSmall, window);
  if (!snapshot) FAIL(snapshot.error().text());
  CHECK(graph_text(*snapshot) ==
        "0 app.Session #10: strange>3\n"
        "1 builtins.dict #18446744073709551613: builtins.int 7>0\n"
        "2 builtins.module #20 root: say \"hi\"\\>1 >0\n"
        "3 ? #30:\n"
        "root 2 module\n");
  CHECK(rows_of(*snapshot) == Rows{{"app.Session", {1}}, {"builtins.dict", {1}}, {"builtins.module", {1}}, {"?", {1}}});
  CHECK(snapshot->samples.columns.size() == 1);
  CHECK_FALSE(snapshot->facts.complete);
  CHECK_FALSE(snapshot->facts.partial);
  CHECK(snapshot->facts.notes.all().size() == 2);
}

TEST_CASE("objgraph: a cut graph is partial, at whatever byte, once there is an object") {
  for (std::size_t size = 0; size < kSmall.size(); ++size) {
    for (const std::size_t window : {std::size_t{0}, std::size_t{1}}) {
      const Result<Snapshot> snapshot = read(std::string_view(kSmall).substr(0, size), window);
      if (size < kSmall.find("o10[fontcolor=red];") + 19) {
        REQUIRE_FALSE(snapshot.has_value());
        CHECK(snapshot.error().code == ErrorCode::malformed);
        CHECK(snapshot.error().offset.value_or(size + 1) <= size);
      } else {
        REQUIRE(snapshot.has_value());
        CHECK(snapshot->facts.partial == (size < kSmall.rfind('}') + 1));
      }
    }
  }
}

TEST_CASE("objgraph: lines that are no statements are told") {
  const std::string line =
      GENERATE(as<std::string>{}, "o1", "o1 -> o2", "o1 -> o2 o3;", "x1[label=\"a\"];", "o1[label=\"a];", "o1[label];",
               "o1[];", "o1{};", "o99999999999999999999[label=\"a\"];", "subgraph {", "o1 -> o2 [label=\"a\"] x;",
               "node[shape=box;", "too_many_;", "too_many_o1 x;", "o[a=b];");
  const std::string text = "digraph ObjectGraph {\no7[label=\"a\"];\n" + line + "\n}\n";
  const Result<Snapshot> snapshot = read(text);
  REQUIRE_FALSE(snapshot.has_value());
  CHECK(snapshot.error().message == "line not recognised: found \"" + line + "\", expected a statement of objgraph");
  CHECK(snapshot.error().offset.value_or(0) == 37);
}

TEST_CASE("objgraph: other graphs, text behind the end, no objects, a line without an end") {
  const auto message = [](std::string_view text) {
    const Result<Snapshot> snapshot = read(text);
    return snapshot ? std::string("it was read") : snapshot.error().message;
  };
  CHECK(message("digraph G {\n}\n") == "header not recognised: found \"digraph G {\", expected digraph ObjectGraph {");
  CHECK(message("") == "header not recognised: found \"\", expected digraph ObjectGraph {");
  CHECK(message("digraph ObjectGraph {\n}\n") == "no objects in the graph: expected at least one");
  CHECK(message(kSmall + "digraph ObjectGraph {\n") ==
        "text after the graph: found \"digraph ObjectGraph {\", expected the end");
  CHECK(message(kSmall + "\r\n  \n") == "it was read");
  CHECK(message("\xef\xbb\xbf\n" + kSmall) == "it was read");
  const std::string long_line = "digraph ObjectGraph {\no7[label=\"" + std::string(17 << 20, 'a');
  CHECK(message(long_line + "\"];\n}") == "line too long: no end within 16777216 bytes");
}

TEST_CASE("objgraph: lines of Windows, and who holds nobody but itself is a root") {
  const Result<Snapshot> snapshot = read("digraph ObjectGraph {\r\n o1[label=\"a [0]\"];\r\n o1 -> o1;\r\n}\r\n");
  REQUIRE(snapshot);
  CHECK(graph_text(*snapshot) == "0 a #1 root: >0\nroot 0 no visible referrer\n");
}

TEST_CASE("objgraph: the registry that keeps sessions is on the path of the real graphs") {
  const fs::path folder = fs::path(SNAPDIFF_SHARED_DATA) / "trackers" / "objgraph";
  if (!fs::exists(folder)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  for (int step = 0; step < 4; ++step) {
    for (const std::string kind : {"refs", "backrefs"}) {
      const fs::path path = folder / (kind + "-step" + std::to_string(step) + ".dot");
      Result<std::vector<Snapshot>> all = formats::read_file(path.string(), {});
      if (!all) FAIL(all.error().text());
      const Snapshot& snapshot = all->at(0);
      CHECK(snapshot.facts.format == "objgraph-dot");
      const std::string text = graph_text(snapshot);
      // The first back references end before the registry.
      CHECK((text.find(" sessions>") != std::string::npos) == (kind == "refs" || step > 0));
      CHECK(text.find("Registry") != std::string::npos);
    }
  }
}
