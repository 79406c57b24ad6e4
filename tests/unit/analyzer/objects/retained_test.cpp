#include <catch2/catch.hpp>

#include "analyzer/objects/retained_objects.hpp"
#include "graphs.hpp"

using namespace snapdiff;
using objects_test::GraphMaker;

namespace {

const RetainedRow& row_of(const RetainedReport& report, std::string_view type) {
  for (const RetainedRow& row : report.rows) {
    if (row.type == type) return row;
  }
  FAIL("no row of " << type);
  return report.rows.front();
}

/// root -> registry -> table -> `sessions` sessions of 10 bytes, each with text of 100 bytes; ids from 100 on.
SnapshotRef service(std::uint32_t sessions, std::uint32_t first = 0) {
  GraphMaker maker;
  maker.graph().ids_persist = true;
  const auto root = maker.node("root", 0, 0, 1);
  const auto registry = maker.node("Map", 20, 0, 2);
  const auto table = maker.node("table", 30, 0, 3, "array");
  maker.root(root);
  maker.edge(root, registry, "registry");
  maker.edge(registry, table, "table");
  for (std::uint32_t i = first; i < first + sessions; ++i) {
    const auto session = maker.node("Session", 10, 0, 100 + 2 * std::uint64_t{i});
    const auto text = maker.node("text", 100, 0, 101 + 2 * std::uint64_t{i}, "string");
    maker.element(table, session, i);
    maker.edge(session, text, "data");
  }
  return maker.finish("service");
}

}  // namespace

TEST_CASE("retained: a type's objects, their own bytes, and what would go with all of them") {
  const auto report = objects::retained({service(3)});
  REQUIRE(report);
  const TypeTotals expected{{3, 30}, {6, 330}, {}};
  CHECK(row_of(*report, "Session").at.size() == 1);
  CHECK(row_of(*report, "Session").first() == expected);
  CHECK(row_of(*report, "Map").first().retained == ObjectSum{8, 380});
  CHECK(row_of(*report, "table").kind == "array");
  CHECK(report->heaps[0].reachable == ObjectSum{9, 380});
  CHECK(report->heaps[0].unreachable == ObjectSum{});
  CHECK(report->heaps[0].roots == 1);
  CHECK(report->has_bytes);
  CHECK_FALSE(report->fresh);
  // Most retained first; ties by name.
  CHECK(report->rows[0].type == "Map");
  CHECK(report->rows[1].type == "root");
}

TEST_CASE("retained: objects of one type below each other count once") {
  // A list of three, each 5 bytes; the second also holds a leaf of 7.
  GraphMaker maker;
  const auto head = maker.node("Node", 5);
  const auto middle = maker.node("Node", 5);
  const auto tail = maker.node("Node", 5);
  const auto leaf = maker.node("Leaf", 7);
  maker.root(head);
  maker.edge(head, middle, "next");
  maker.edge(middle, tail, "next");
  maker.edge(middle, leaf, "leaf");
  const auto report = objects::retained({maker.finish()});
  REQUIRE(report);
  CHECK(row_of(*report, "Node").first().self == ObjectSum{3, 15});
  CHECK(row_of(*report, "Node").first().retained == ObjectSum{4, 22});
}

TEST_CASE("retained: what no root reaches is counted apart") {
  GraphMaker maker;
  const auto root = maker.node("A", 1);
  const auto lost = maker.node("A", 10);
  const auto weak = maker.node("B", 100);
  maker.root(root);
  maker.edge(lost, root, "up");
  maker.weak(root, weak, "cache");
  const auto report = objects::retained({maker.finish()});
  REQUIRE(report);
  CHECK(report->heaps[0].reachable == ObjectSum{1, 1});
  CHECK(report->heaps[0].unreachable == ObjectSum{2, 110});
  CHECK(report->heaps[0].weak == 1);
  CHECK(row_of(*report, "A").first().self == ObjectSum{1, 1});
  CHECK(row_of(*report, "B").first().self == ObjectSum{});
}

TEST_CASE("retained: nodes out of their document are summed by type") {
  GraphMaker maker;
  const auto root = maker.node("Window", 1);
  const auto div = maker.node("HTMLDivElement", 10, kObjectDetached, kNoObjectId, "native");
  maker.node("HTMLDivElement", 5, kObjectDetached, kNoObjectId, "native");
  maker.node("HTMLDivElement", 3, 0, kNoObjectId, "native");
  maker.root(root);
  maker.edge(root, div, "leaked");
  const auto report = objects::retained({maker.finish()});
  REQUIRE(report);
  CHECK(report->heaps[0].detached == ObjectSum{2, 15});
  CHECK(row_of(*report, "HTMLDivElement").first().detached == ObjectSum{2, 15});
  CHECK(row_of(*report, "Window").first().detached == ObjectSum{});
}

TEST_CASE("retained: most growth first, over all types of all snapshots") {
  const auto report = objects::retained({service(3), service(5)});
  REQUIRE(report);
  const RetainedRow& session = row_of(*report, "Session");
  CHECK(session.first().retained == ObjectSum{6, 330});
  CHECK(session.last().retained == ObjectSum{10, 550});
  // Map, Session, root and table grew by 220 each, text by 200.
  CHECK(report->rows.back().type == "text");
}

TEST_CASE("retained: new objects are those that came after the first snapshot and stayed") {
  const auto two = objects::retained({service(3), service(5)});
  REQUIRE(two);
  REQUIRE(two->fresh);
  CHECK(*two->fresh == ObjectSum{4, 220});
  CHECK(row_of(*two, "Session").fresh == ObjectSum{2, 20});
  CHECK(row_of(*two, "Map").fresh == ObjectSum{});

  // Sessions 0-2, then 1-5, then 4-8: of those that came with the second only 4 and 5 are left; 6 to 8
  // came with the last and may go yet.
  const auto three = objects::retained({service(3, 0), service(5, 1), service(5, 4)});
  REQUIRE(three);
  REQUIRE(three->fresh);
  CHECK(*three->fresh == ObjectSum{4, 220});
  CHECK(row_of(*three, "text").fresh == ObjectSum{2, 200});
}

TEST_CASE("retained: ids of two programs are not compared") {
  GraphMaker other;
  other.graph().ids_persist = true;
  const auto root = other.node("root", 0, 0, 1);
  other.root(root);
  for (std::uint64_t id = 2; id < 40; ++id) other.edge(root, other.node("Thing", 1, 0, id), "x");
  const auto report = objects::retained({service(10), other.finish()});
  REQUIRE(report);
  CHECK_FALSE(report->fresh);
  REQUIRE_FALSE(report->notes.empty());
  CHECK_THAT(report->notes.all()[0].text, Catch::Contains("several processes"));
}

TEST_CASE("retained: a snapshot without an object graph is told about") {
  SnapshotRef ref;
  ref.snapshot = std::make_shared<Snapshot>();
  ref.ref = "@3";
  const auto report = objects::retained({ref});
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::usage);
  CHECK(report.error().subject == "@3");
  CHECK_THAT(report.error().message, Catch::Contains("the store keeps none"));
  CHECK_FALSE(objects::retained({}));
}

TEST_CASE("retained: sizes that cannot be added up are an error") {
  GraphMaker maker;
  maker.root(maker.node("A", std::numeric_limits<std::int64_t>::max()));
  maker.node("B", 1);
  const auto report = objects::retained({maker.finish("big")});
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::limit);
  CHECK(report.error().subject == "big");
}

TEST_CASE("retained tree: types under types, what two snapshots keep in each place") {
  const auto tree = objects::retained_tree(service(3), service(5));
  REQUIRE(tree);
  std::string text;
  for (const RetainedNode& node : tree->nodes) {
    text += tree->nodes[node.parent].type + "/" + node.type + " " + std::to_string(node.self.baseline) + ">" +
            std::to_string(node.self.current) + " " + std::to_string(node.retained.baseline) + ">" +
            std::to_string(node.retained.current) + "\n";
  }
  CHECK(text ==
        "/ 0>0 380>600\n"
        "/root 0>0 380>600\n"
        "root/Map 20>20 380>600\n"
        "Map/table (array) 30>30 360>580\n"
        "table (array)/Session 30>50 330>550\n"
        "Session/text (string) 300>500 300>500\n");
  const auto alone = objects::retained_tree({}, service(3));
  REQUIRE(alone);
  CHECK_FALSE(alone->has_baseline());
  CHECK(alone->nodes[0].retained == Change{0, 380});
}
