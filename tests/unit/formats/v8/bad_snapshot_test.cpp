#include <catch2/catch.hpp>

#include <string>
#include <utility>

#include "formats/registry.hpp"
#include "v8_text.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

Error error_of(const V8Text& file) {
  const Result<Snapshot> read = read_v8(file.text());
  REQUIRE_FALSE(read.has_value());
  return read.error();
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out.append(text);
  return out;
}

}  // namespace

TEST_CASE("v8: every truncation is an error at a byte of the file, whatever the window") {
  const std::string text = V8Text().text();
  for (std::size_t size = 0; size < text.size(); ++size) {
    for (const std::size_t window : {std::size_t{0}, std::size_t{1}, 1 + size % 70}) {
      const Result<Snapshot> read = read_v8(text.substr(0, size), window);
      REQUIRE_FALSE(read.has_value());
      CHECK(read.error().code == ErrorCode::malformed);
      CHECK(read.error().offset.value_or(size + 1) <= size);
    }
  }
}

TEST_CASE("v8: every flipped bit is an error or a snapshot") {
  const std::string text = V8Text().text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {0, 2, 4, 7}) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const Result<Snapshot> read = read_v8(damaged);
      if (!read) CHECK(read.error().code != ErrorCode::internal);
    }
  }
}

TEST_CASE("v8: counts that disagree are told") {
  V8Text file;
  const auto [counts, message] = GENERATE(table<std::string, std::string>({
      {R"("node_count":4,"edge_count":7)",
       "counts disagree: nodes has more than 4 rows, expected snapshot.node_count = 4"},
      {R"("node_count":6,"edge_count":7)", "counts disagree: nodes has 5 rows, expected snapshot.node_count = 6"},
      {R"("node_count":0,"edge_count":7)",
       "counts disagree: nodes has more than 0 rows, expected snapshot.node_count = 0"},
      {R"("node_count":5,"edge_count":6)",
       "counts disagree: edge counts of the nodes add up to more than snapshot.edge_count = 6"},
      {R"("node_count":5,"edge_count":8)",
       "counts disagree: edge counts of the nodes add up to 7, expected snapshot.edge_count = 8"},
  }));
  file.counts = counts;
  const Error error = error_of(file);
  CHECK(error.code == ErrorCode::malformed);
  CHECK(error.message == message);
  CHECK(error.offset.value_or(0) >= file.text().find("\"nodes\""));
}

TEST_CASE("v8: arrays that do not fit what was said of them") {
  V8Text file;
  std::string message;
  SECTION("more edges than the nodes have") {
    file.edges += ",1,0,0";
    message = "counts disagree: edges has more than 7 rows, expected snapshot.edge_count = 7";
  }
  SECTION("fewer edges") {
    file.edges = "1,1,7";
    message = "counts disagree: edges has 1 rows, expected snapshot.edge_count = 7";
  }
  SECTION("no edges") {
    file.edges = " ";
    message = "counts disagree: edges has 0 rows, expected snapshot.edge_count = 7";
  }
  SECTION("row of a node cut") {
    file.nodes += ",1,1";
    file.counts = R"("node_count":6,"edge_count":7)";
    message = "nodes ends within a row: expected a multiple of 7 numbers";
  }
  SECTION("row of an edge cut") {
    file.edges = "1,1,7,5";
    message = "edges ends within a row: expected a multiple of 3 numbers";
  }
  SECTION("end of an edge between nodes") {
    file.edges = "1,1,8,5,1,7,2,5,14,2,6,21,1,0,28,5,5,28,6,7,14";
    message = "to_node is no row: found 8, expected a multiple of 7";
  }
  SECTION("end of an edge behind the nodes") {
    file.edges = "1,1,35,5,1,7,2,5,14,2,6,21,1,0,28,5,5,28,6,7,14";
    message = "to_node out of range: found 35, expected below 35";
  }
  SECTION("end of an edge far behind") {
    file.edges = "1,1,999999999999999999,5,1,7";
    message = "to_node out of range: found 999999999999999999, expected below 35";
  }
  SECTION("type of a node") {
    file.nodes = "4,0,1,0,2,0,0\n,1,1,3,16,1,0,0";
    message = "type of a node out of range: found 4, expected below 4";
  }
  SECTION("type of an edge") {
    file.edges = "7,1,7";
    message = "type of an edge out of range: found 7, expected below 7";
  }
  SECTION("string of a node") {
    file.strings = R"("","global","Cache")";
    message = "string out of range: found 7, expected below 3, the length of strings";
  }
  SECTION("string beyond what is kept") {
    file.edges = "2,1073741823,7";
    message = "string out of range: found 1073741823, expected below 2^30 - 1";
  }
  SECTION("negative number") {
    file.nodes = "-1,0";
    message = "malformed JSON: found \"-\", expected an integer that is not negative";
  }
  SECTION("fraction") {
    file.nodes = "0,0.5";
    message = "malformed JSON: found \".\", expected , or ]";
  }
  SECTION("number of 19 digits") {
    file.nodes = "0,0,1234567890123456789,0,2,0,0";
    message = "number too large: found more than 18 digits, expected it below 10^18";
  }
  SECTION("number without an end") {
    file.nodes = std::string(100'000, '7');
    message = "number too large: found more than 18 digits, expected it below 10^18";
  }
  SECTION("no comma") {
    file.nodes = "0 0";
    message = "malformed JSON: found \"0\", expected , or ]";
  }
  CHECK(error_of(file).message == message);
}

TEST_CASE("v8: sizes that do not fit together are a limit") {
  V8Text file;
  file.nodes = repeated("1,1,3,999999999999999999,0,0,0,", 10) + "0,0,1,0,0,0,0";
  file.nodes.insert(0, "");
  file.counts = R"("node_count":11,"edge_count":0)";
  file.edges = "";
  CHECK(error_of(file).code == ErrorCode::limit);
}

TEST_CASE("v8: declared counts cost nothing") {
  V8Text file;
  file.counts = R"("node_count":4294967294,"edge_count":999999999999999999)";
  CHECK(error_of(file).message == "counts disagree: nodes has 5 rows, expected snapshot.node_count = 4294967294");
  file.counts = R"("node_count":4294967295,"edge_count":1)";
  CHECK(error_of(file).code == ErrorCode::limit);
}

TEST_CASE("v8: nesting of 10 000 levels is an error, of 1000 is skipped") {
  for (const std::string_view open : {"[", "{\"a\":"}) {
    const std::string_view close = open == "[" ? "]" : "}";
    V8Text file;
    file.before_strings = "\"trace_tree\":" + repeated(open, 1000) + "1" + repeated(close, 1000) + ",";
    CHECK(read_v8(file.text()).has_value());
    file.before_strings = "\"trace_tree\":" + repeated(open, 10'000) + "1" + repeated(close, 10'000) + ",";
    const Error error = error_of(file);
    CHECK(error.message == "nested too deeply: expected at most 1024 levels");
    CHECK(error.offset == file.text().find("\"trace_tree\":") + 13 + 1024 * open.size());
  }
  V8Text everywhere;
  everywhere.nodes = repeated("[", 10'000);
  CHECK(error_of(everywhere).code == ErrorCode::malformed);
  everywhere = V8Text();
  everywhere.node_types = repeated("[", 10'000);
  CHECK(error_of(everywhere).code == ErrorCode::malformed);
  CHECK_FALSE(read_v8(repeated("{\"snapshot\":", 10'000)).has_value());
}

TEST_CASE("v8: members that are missing, twice or out of order") {
  const auto message = [](const std::string& text) {
    const Result<Snapshot> read = read_v8(text);
    return read ? std::string("it was read") : read.error().message;
  };
  CHECK(message("{}") == "array missing: the object ends without snapshot");
  CHECK(message("{\"nodes\":[]}") == "members out of order: found nodes, expected snapshot before it");
  CHECK(message("[]") == "malformed JSON: found \"[\", expected {");
  std::string text = V8Text().text();
  const std::string head = text.substr(0, text.find("\"nodes\""));
  CHECK(message(head + "\"edges\":[]}") == "members out of order: found edges, expected nodes before it");
  CHECK(message(head + head.substr(1)) == "snapshot is there twice");
  CHECK(message(head + "\"other\":tru3}") == "malformed JSON: found \"3\", expected true");
  CHECK(message(text.substr(0, text.find(",\n\"edges\"")) + "}") == "array missing: the object ends without edges");
  V8Text file;
  file.counts = R"("node_count":5)";
  CHECK(message(file.text()) == "edge_count missing in snapshot");
  file = V8Text();
  file.node_fields = R"("type","name","id","edge_count")";
  CHECK(message(file.text()) == "meta.node_fields: self_size missing in snapshot");
  file.node_fields = R"("name","type","id","edge_count","self_size")";
  CHECK(message(file.text()).find("meta.node_types") == 0);
  file.node_fields = repeated("\"x\",", 40) + "\"type\"";
  CHECK(message(file.text()) == "list too long: expected at most 32 names");
}

TEST_CASE("v8: claimed by its own importer alone, and foreign JSON by another word") {
  const Result<const formats::Format*> found = formats::detect(V8Text().text(), true);
  REQUIRE(found);
  CHECK((*found)->info.name == "v8-heapsnapshot");
  CHECK(formats::detect(" {\n\"snapshot\" : { \"meta\":", true).has_value());
  CHECK_FALSE(formats::detect("{\"meta\":{\"snapshot\":1}}", true).has_value());
}
