#include <catch2/catch.hpp>

#include "analyzer/base/object_graph.hpp"
#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& jsc() { return formats::kJsc; }

using Rows = std::map<std::string, std::string>;

const std::string kSmall = R"({"version":3,"type":"Inspector","nodes":[0,0,0,0,7,16,1,0,9,48,2,0,4,8,3,1],)"
                           R"("nodeClassNames":["<root>","Map","Session","Structure"],)"
                           R"("edges":[0,7,0,0,7,9,1,1,9,4,0,0,9,7,2,5,9,99,0,0],)"
                           R"("edgeTypes":["Internal","Property","Index","Variable"],"edgeNames":["a","kept"]})";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("jsc-heapsnapshot: figures of real snapshots of Bun, of both types") {
  // Counts by class are those of heapStats(), totals those of another reader.
  struct Truth {
    const char* file;
    std::int64_t objects, bytes;
    std::size_t edges;
    const char* sessions;
    const char* arrays;
  };
  for (const Truth& truth : {Truth{"jsc/few.inspector.json.xz", 3992, 353375, 12018, "50 2400", "50 "},
                             Truth{"jsc/many.inspector.json.xz", 4992, 489611, 14097, "250 12000", "250 "},
                             Truth{"jsc/few.debugging.json.xz", 4005, 353997, 12051, "50 2400", "50 "},
                             Truth{"jsc/many.debugging.json.xz", 5005, 490521, 14129, "250 12000", "250 "}}) {
    INFO(truth.file);
    const Snapshot s = read_data_of(truth.file, jsc());
    CHECK(total(s, "inuse_objects") == truth.objects);
    CHECK(total(s, "inuse_space") == truth.bytes);
    const auto found = rows(s);
    CHECK(found.at("Session {type=Session}") == truth.sessions);
    CHECK(found.at("Uint8Array {type=Uint8Array}").starts_with(truth.arrays));
    REQUIRE(s.graph != nullptr);
    CHECK(s.graph->to.size() == truth.edges);
    CHECK_FALSE(s.graph->roots.empty());
  }
}

TEST_CASE("jsc-heapsnapshot: classes are types, labels are names or indices, edges to no node are left out") {
  const Snapshot s = read_one(jsc(), kSmall);
  CHECK(rows(s) == Rows{{"<root> {type=<root>}", "1 0"},
                        {"Map {type=Map}", "1 16"},
                        {"Session {type=Session}", "1 48"},
                        {"Structure (internal) {type=Structure (internal)}", "1 8"}});
  REQUIRE(s.graph != nullptr);
  CHECK(s.graph->to.size() == 4);
  REQUIRE(s.graph->held(1).size() == 1);
  const std::uint32_t label = s.graph->label[s.graph->edge_begin[1]];
  CHECK(s.dictionary->strings[StringId{label}] == "kept");
  CHECK((s.graph->label[s.graph->edge_begin[2] + 1] & kEdgeIsIndex) != 0);
  CHECK(s.graph->roots.size() == 2);
  CHECK(has_note(s, "references of nodes that the snapshot does not have"));
}

TEST_CASE("jsc-heapsnapshot: what cannot be read is refused with its place") {
  const auto refused = [](const std::string& text, const char* with) {
    CHECK_THAT(read_error(jsc(), text), Catch::Contains(with));
  };
  refused(changed("\"version\":3", "\"version\":4"), "version 4");
  refused(changed("4,8,3,1]", "4,8,3]"), "nodes ends within a row");
  refused(changed("0,7,16,1,0,9", "0,7,16,1,0,7"), "id of a node comes again");
  refused(changed(",9,48,2,0,", ",9,48,9,0,"), "class of a node out of range");
  refused(changed("7,9,1,1", "7,9,8,1"), "type of an edge out of range");
  refused(changed("7,9,1,1", "7,9,1,2"), "name of an edge out of range");
  for (std::size_t size = 1; size < kSmall.size(); ++size)
    CHECK_FALSE(read_error(jsc(), kSmall.substr(0, size)).empty());
}
