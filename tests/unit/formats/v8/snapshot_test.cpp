#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "support/object_graph_text.hpp"
#include "v8_text.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

TEST_CASE("v8: nodes, edges, roots and rows of a small snapshot, whatever the window") {
  const std::size_t window = GENERATE(as<std::size_t>{}, 0, 1, 2, 3, 5, 64, 100);
  const Result<Snapshot> read = read_v8(V8Text().text(), window);
  REQUIRE(read);
  CHECK(graph_text(*read) ==
        "0 synthetic (synthetic) 0 #1 root: [1]>1 global>1\n"
        "1 object global 16 #3 root: cache>2\n"
        "2 object Cache 24 #5: text>3 [0]>4 cache~4\n"
        "3 string (string) 32 #7: back~2\n"
        "4 native <div> 48 #8 detached:\n"
        "root 0 synthetic root\nroot 1 global\nroot 1 synthetic root\n");
  CHECK(rows_of(*read) == Rows{{"(synthetic)", {1, 0}},
                               {"global", {1, 16}},
                               {"Cache", {1, 24}},
                               {"(string)", {1, 32}},
                               {"<div> (native)", {1, 48}}});
  CHECK(read->graph->ids_persist);
  CHECK_FALSE(read->graph->sizes_estimated);
  CHECK(read->facts.notes.empty());
}

TEST_CASE("v8: fields are found by name: other order, others left out or unknown") {
  V8Text file;
  SECTION("neither id nor detachedness, something new") {
    file.node_fields = R"("type","flavour","edge_count","name","self_size")";
    file.nodes = "0,9,1,0,0,1,9,0,1,16";
    file.counts = R"("extra":{"a":[1]},"edge_count":1,"node_count":2)";
    file.edges = "2,5,5";
    const Result<Snapshot> read = read_v8(file.text());
    REQUIRE(read);
    CHECK(graph_text(*read) ==
          "0 synthetic (synthetic) 0 root: cache>1\n1 object global 16 root:\nroot 0 synthetic root\nroot 1 cache\n");
    CHECK_FALSE(read->graph->ids_persist);
  }
  SECTION("a type of node that is newer than this reader") {
    file.node_types = R"(["synthetic","hologram","string","native"])";
    const Result<Snapshot> read = read_v8(file.text());
    REQUIRE(read);
    CHECK(rows_of(*read).count("global (hologram)") == 1);
  }
}

TEST_CASE("v8: types that V8 wrote without listing their names") {
  V8Text file;
  file.node_types = R"(["hidden","array","string","object","code","closure","regexp","number","native","synthetic",)"
                    R"("concatenated string","sliced string"],"string")";
  file.nodes = "9,0,1,0,2,0,0\n,3,1,3,16,1,0,0\n,12,2,5,24,3,0,0\n,13,3,7,32,1,0,1\n,15,4,8,48,0,0,2\n";
  const Result<Snapshot> read = read_v8(file.text());
  REQUIRE(read);
  CHECK(rows_of(*read) == Rows{{"(synthetic)", {1, 0}},
                               {"global", {1, 16}},
                               {"(symbol)", {1, 24}},
                               {"(bigint)", {1, 32}},
                               {"<div> (unknown)", {1, 48}}});
  REQUIRE(read->facts.notes.all().size() == 1);
  CHECK(read->facts.notes.all()[0].count == 3);
  // Far beyond the list is damage; and so is anything beyond a list of another order.
  file.nodes = "9,0,1,0,2,0,0\n,3,1,3,16,1,0,0\n,20,2,5,24,3,0,0\n,13,3,7,32,1,0,1\n,15,4,8,48,0,0,2\n";
  CHECK_FALSE(read_v8(file.text()));
  file.nodes = V8Text().nodes;
  file.node_types = R"(["synthetic","object","string"])";
  CHECK_FALSE(read_v8(file.text()));
}

TEST_CASE("v8: an empty heap is a snapshot without rows") {
  V8Text file;
  file.nodes = file.edges = file.strings = "";
  file.counts = R"("node_count":0,"edge_count":0)";
  const Result<Snapshot> read = read_v8(file.text());
  REQUIRE(read);
  CHECK(read->graph->size() == 0);
  CHECK(read->samples.size() == 0);
}

TEST_CASE("v8: names keep every byte, lone surrogates in three bytes each") {
  V8Text file;
  file.strings =
      R"("","a\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac","\ud83d\ude00","x","\ud800","\udc00\ud800\ud800\udc00","\ud800\n","\u0000")";
  const std::size_t window = GENERATE(as<std::size_t>{}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
  const Result<Snapshot> read = read_v8(file.text(), window);
  REQUIRE(read);
  const Rows rows = rows_of(*read);
  CHECK(rows.count("a\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac") == 1);
  CHECK(rows.count("\xf0\x9f\x98\x80") == 1);
  CHECK(rows.count("\xed\xa0\x80 (native)") == 1);
  const std::string graph = graph_text(*read);
  CHECK(graph.find("\xed\xb0\x80\xed\xa0\x80\xf0\x90\x80\x80>2") != std::string::npos);
  CHECK(graph.find("\xed\xa0\x80\n>3") != std::string::npos);
  CHECK(graph.find(std::string("\0~2", 3)) != std::string::npos);
}

TEST_CASE("v8: strings that nobody names are not kept, long names are cut at a character") {
  V8Text file;
  const std::string filler(1022, 'a');
  file.strings = R"("","global",")" + filler + R"(\u20acrest\n","contents \" \\","<div>",")" + filler + "\xe2\x82\xac" +
                 R"(","text","back")";
  for (const std::size_t window : {std::size_t{0}, std::size_t{1}, std::size_t{65}}) {
    const Result<Snapshot> read = read_v8(file.text(), window);
    REQUIRE(read);
    CHECK(rows_of(*read).count(filler) == 1);
    CHECK(graph_text(*read).find(filler + ">2") != std::string::npos);
    REQUIRE(read->facts.notes.all().size() == 1);
    CHECK(read->facts.notes.all()[0].count == 2);
    for (std::uint32_t i = 0; i < read->dictionary->strings.size(); ++i)
      CHECK(read->dictionary->strings[StringId{i}].substr(0, 8) != "contents");
  }
}

TEST_CASE("v8: kinds of equal name become one, whatever rows of the table they use") {
  V8Text file;
  file.strings = R"("","same","same","contents","<div>","cache","text","back")";
  const Result<Snapshot> read = read_v8(file.text());
  REQUIRE(read);
  CHECK(rows_of(*read).at("same") == std::vector<std::int64_t>{2, 40});
  CHECK(read->graph->type[1] == read->graph->type[2]);
}

TEST_CASE("v8: ids that repeat are not used") {
  V8Text file;
  SECTION("small ones") { file.nodes = "0,0,1,0,2,0,0,1,1,3,16,1,0,0,1,2,3,24,3,0,0,2,3,7,32,1,0,1,3,4,8,48,0,0,2"; }
  SECTION("large ones") {
    file.nodes =
        "0,0,1,0,2,0,0,1,1,99000000000000000,16,1,0,0,1,2,99000000000000000,24,3,0,0,2,3,7,32,1,0,1,3,4,8,48,0,0,2";
  }
  const Result<Snapshot> read = read_v8(file.text());
  REQUIRE(read);
  CHECK(read->graph->id.empty());
  CHECK_FALSE(read->graph->ids_persist);
  REQUIRE(read->facts.notes.all().size() == 1);
  CHECK(read->facts.notes.all()[0].severity == Severity::data_loss);
}

TEST_CASE("v8: blanks anywhere, a byte order mark and bytes behind the end") {
  std::string spaced;
  bool quoted = false;
  for (const char c : V8Text().text()) {
    if (c == '"') quoted = !quoted;
    const bool joint = !quoted && (c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}');
    spaced.append(joint ? " \r\n\t" : "").append(1, c).append(joint ? "  " : "");
  }
  const Result<Snapshot> plain = read_v8(V8Text().text());
  const Result<Snapshot> read = read_v8("\xef\xbb\xbf" + spaced + " \n", 7);
  REQUIRE(read);
  CHECK(graph_text(*read) == graph_text(*plain));
  CHECK(read->facts.notes.empty());
  const Result<Snapshot> longer = read_v8(V8Text().text() + "}");
  REQUIRE(longer);
  CHECK(longer->facts.notes.all().size() == 1);
}
