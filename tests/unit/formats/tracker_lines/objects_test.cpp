#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyzer/base/object_graph.hpp"
#include "helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Rows = std::vector<std::string>;

namespace {

/// "type(bytes)" of each node, and "holder -label> held" of each edge, by type names.
Rows graph_text(const Snapshot& snapshot) {
  Rows out;
  const ObjectGraph& graph = *snapshot.graph;
  const StringTable& strings = snapshot.dictionary->strings;
  const auto name = [&](std::size_t node) { return std::string(strings[graph.types.name[graph.type[node]]]); };
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    std::string text = name(node);
    if (!graph.self_bytes.empty()) text += "(" + std::to_string(graph.self_bytes[node]) + ")";
    for (const ObjectRoot& root : graph.roots) {
      if (root.node == node) text += " root " + std::string(strings[root.kind]);
    }
    out.push_back(text);
  }
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
      const std::uint32_t label = graph.label[edge];
      std::string text = (label & kEdgeIsIndex) != 0 ? "[" + std::to_string(label & kEdgeLabel) + "]"
                                                     : std::string(strings[StringId{label & kEdgeLabel}]);
      if ((label & kEdgeIsWeak) != 0) text += " weak";
      out.push_back(name(node) + " -" + text + "> " + name(graph.to[edge]));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("tracker lines: nodes and edges make an object graph, edges may come first") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"edge","from":"n1","to":"n2","label":"entries"})",
      R"({"k":"node","id":"n1","type":"Cache","bytes":64,"root":"static"})",
      R"({"k":"node","id":"n2","type":"byte[]","bytes":4096})",
      R"({"k":"edge","from":"n2","to":"n1","label":3,"weak":true})",
      R"({"k":"edge","from":"n1","to":"n1"})",
      R"({"k":"node","id":1,"type":"Cache","bytes":1,"root":true})",
      R"({"k":"node","id":2,"type":"Cache","bytes":2,"root":false})",
  }));
  REQUIRE(all.at(0).graph != nullptr);
  const ObjectGraph& graph = *all[0].graph;
  CHECK(validate(graph, *all[0].dictionary));
  CHECK(graph_text(all[0]) == Rows{"Cache(64) root static", "byte[](4096)", "Cache(1) root root", "Cache(2)",
                                   "Cache -entries> byte[]", "Cache -> Cache", "byte[] -[3] weak> Cache"});
  CHECK(graph.types.size() == 2);
  CHECK((graph.flags[0] & kObjectRoot) != 0);
  CHECK((graph.flags[3] & kObjectRoot) == 0);
  CHECK_FALSE(graph.ids_persist);
  CHECK(graph.id.empty());
}

TEST_CASE("tracker lines: nodes give rows by type where no live lines do") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"node","id":1,"type":"A","bytes":10})",
      R"({"k":"node","id":2,"type":"A","bytes":20,"count":3})",
      R"({"k":"node","id":3,"type":"B"})",
      R"({"k":"node","id":4,"type":"A","bytes":5,"stack":["f"]})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"A {type=A} 30 4", "B {type=B} ? 1", "f {type=A} 5 1"});
  CHECK(all[0].graph->id == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(note_with(all[0], "nodes without bytes count as 0") != nullptr);
  const auto both = read_lines(one_snapshot({
      R"({"k":"node","id":1,"type":"A","bytes":10})",
      R"({"k":"live","type":"A","bytes":11,"count":1})",
  }));
  CHECK(rows_of(both.at(0)) == Rows{"A {type=A} 11 1"});
}

TEST_CASE("tracker lines: nodes without any bytes give a graph without sizes and rows without bytes") {
  const auto all = read_lines(one_snapshot({R"({"k":"node","id":1,"type":"A"})"}));
  CHECK(all.at(0).graph->self_bytes.empty());
  CHECK(rows_of(all[0]) == Rows{"A {type=A} - 1"});
}

TEST_CASE("tracker lines: ids that are stable over snapshots") {
  const auto text = [](const char* id) {
    return lines({R"({"k":"header","format":"snapdiff-tracker","version":1,"attrs":{"stable_ids":true}})",
                  R"({"k":"snapshot","id":"s"})", std::string(R"({"k":"node","type":"A","id":)") + id + "}",
                  R"({"k":"end","id":"s","rows":1})"});
  };
  const auto number = read_lines(text("77"));
  CHECK(number.at(0).graph->ids_persist);
  CHECK(number[0].graph->id == std::vector<std::uint64_t>{77});
  const auto name = read_lines(text("\"n77\""));
  CHECK(name.at(0).graph->ids_persist);
  CHECK(name[0].graph->id == read_lines(text("\"n77\"")).at(0).graph->id);
  CHECK(name[0].graph->id != read_lines(text("\"n78\"")).at(0).graph->id);
}

TEST_CASE("tracker lines: a node id that is there already is a bad line") {
  const std::string bytes = one_snapshot({R"({"k":"node","id":1,"type":"A"})", R"({"k":"node","id":1,"type":"B"})",
                                          R"({"k":"node","id":"1","type":"C"})"});
  CHECK(check_lines(bytes) == Rows{"4 rule 5 data loss node id is there already in this snapshot: found 1"});
  CHECK(graph_text(read_lines(bytes).at(0)) == Rows{"A", "C"});
}

TEST_CASE("tracker lines: edges to nothing are left out at the end, and named by the line of their first mention") {
  const std::string bytes = one_snapshot({R"({"k":"node","id":1,"type":"A"})", R"({"k":"edge","from":1,"to":9})",
                                          R"({"k":"edge","from":9,"to":1})", R"({"k":"edge","from":1,"to":1})"});
  CHECK(check_lines(bytes) ==
        Rows{"4 rule 5 data loss edges to or from nodes that are not in the snapshot are left out: 2 of them"});
  const auto all = read_lines(bytes);
  CHECK(graph_text(all.at(0)) == Rows{"A", "A -> A"});
  CHECK(all[0].facts.partial);
}

TEST_CASE("tracker lines: edges alone make no graph") {
  const auto all = read_lines(one_snapshot({R"({"k":"edge","from":1,"to":9})"}));
  CHECK(all.at(0).graph == nullptr);
  CHECK(all[0].facts.partial);
}
