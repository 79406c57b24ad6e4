#include <catch2/catch.hpp>

#include "analyzer/base/object_graph.hpp"
#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& ruby() { return formats::kRubyHeap; }

using Rows = std::map<std::string, std::string>;

const std::string kDump =
    R"({"type":"ROOT", "root":"vm", "references":["0x10", "0x99"]})"
    "\n"
    R"({"address":"0x10", "type":"CLASS", "class":"0x18", "name":"Order", "references":["0x20"], "memsize":504})"
    "\n"
    R"({"address":"0x20", "type":"ARRAY", "length":2, "references":["0x30", "0x40"], "memsize":80})"
    "\n"
    R"({"address":"0x30", "type":"OBJECT", "class":"0x10", "file":"a.rb", "line":5, "method":"new", "memsize":40})"
    "\n"
    R"({"address":"0x40", "type":"OBJECT", "class":"0x10", "file":"a.rb", "line":5, "method":"new", "memsize":48})"
    "\n"
    R"({"address":"0x50", "type":"IMEMO", "class":"0x10", "imemo_type":"iseq", "memsize":7, "flags":{"old":true}})"
    "\n";

std::map<std::string, std::int64_t> by_type(const Snapshot& s) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [stack, values] : rows(s))
    out[stack.substr(stack.find("{type=") + 6)] += std::stoll(values.substr(values.find(' ') + 1));
  return out;
}

}  // namespace

TEST_CASE("ruby-heap: figures of a real dump") {
  const Snapshot s = read_data_of("ruby_heap/heap.001.json.xz", ruby());
  CHECK(total(s, "inuse_objects") == 9452);
  CHECK(total(s, "inuse_space") == 2265709);
  CHECK(by_type(s).at("Order}") == 16000);
  CHECK(by_type(s).at("String}") == 199865);
  CHECK(rows(s).at("Order < new@leak.rb:5 {type=Order}") == "400 16000");
  REQUIRE(s.graph != nullptr);
  CHECK(s.graph->size() == 9452);
  CHECK(s.graph->to.size() == 21750);
  CHECK_FALSE(s.facts.partial);
  CHECK(s.facts.complete);
}

TEST_CASE("ruby-heap: types are classes, places are frames, edges without an object are left out") {
  const Snapshot s = read_one(ruby(), kDump);
  CHECK(rows(s) == Rows{{"Order < new@a.rb:5 {type=Order}", "2 88"},
                        {"Order (class) {type=Order (class)}", "1 504"},
                        {"(array) {type=(array)}", "1 80"},
                        {"iseq (imemo) {type=iseq (imemo)}", "1 7"}});
  CHECK(s.graph->to.size() == 6);  // that to 0x18 has no object
  REQUIRE(s.graph->roots.size() == 1);
  CHECK(s.dictionary->strings[s.graph->roots[0].kind] == "vm");
}

TEST_CASE("ruby-heap: an object with a class of its own is of the class above it") {
  const std::string own = R"({"address":"0x18", "type":"CLASS", "superclass":"0x10", "singleton":true, "memsize":1})"
                          "\n"
                          R"({"address":"0x60", "type":"OBJECT", "class":"0x18", "memsize":9})"
                          "\n";
  CHECK(rows(read_one(ruby(), kDump + own)).at("Order {type=Order}") == "1 9");
}

TEST_CASE("ruby-heap: a part of a dump takes what nothing holds for roots") {
  const Snapshot s = read_one(ruby(), kDump.substr(kDump.find('\n') + 1));
  CHECK(s.graph->roots.size() == 1);
  CHECK_FALSE(s.facts.complete);
  CHECK(has_note(s, "no roots"));
}

TEST_CASE("ruby-heap: shapes are counters, an address that comes again is left out") {
  const Snapshot s = read_one(ruby(), R"({"address":"0x1", "type":"SHAPE", "id":0, "memsize":184})"
                                      "\n" +
                                          kDump + kDump);
  CHECK(counter(s, "shape_space") == 184);
  CHECK(total(s, "inuse_objects") == 5);
  CHECK(has_note(s, "whose address comes again"));
}

TEST_CASE("ruby-heap: other JSON lines are none, damage is told") {
  CHECK(ruby().sniff(kDump) == Match::certain);
  CHECK(ruby().sniff(kDump.substr(kDump.find('\n') + 1)) == Match::certain);
  CHECK(ruby().sniff(R"({"address":"0x10", "type":"malloc", "size":3})") == Match::no);
  CHECK(ruby().sniff(R"({"type":"ROOT", "children":[]})") == Match::no);
  CHECK(read_error(ruby(), R"({"address":"10", "type":"OBJECT"})").find("address not readable") != std::string::npos);
  CHECK(read_error(ruby(), R"({"address":"0x10"})").find("type of an object missing") != std::string::npos);
  CHECK(read_error(ruby(), "").find("no object") != std::string::npos);
}

TEST_CASE("ruby-heap: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_disguises(ruby(), kDump);
  check_line_cuts(ruby(), kDump);
}
