#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& objgraph() { return formats::kObjgraphText; }

using Rows = std::map<std::string, std::string>;

const std::string kGrowth = "list         492       +30\nSession       60       +30\ndict        1435        +1\n";

}  // namespace

TEST_CASE("objgraph-text: og_leak adds 30 sessions and 30 lists a step") {
  std::vector<Rows> growth;
  std::vector<Rows> common;
  for (int step = 0; step < 4; ++step) {
    const auto grown = tracker_sample("objgraph/growth-step" + std::to_string(step) + ".txt");
    const auto all = tracker_sample("objgraph/common-step" + std::to_string(step) + ".txt");
    const auto full = tracker_sample("objgraph/common-full-step" + std::to_string(step) + ".txt");
    if (!grown || !all || !full) return;
    for (const std::string& text : {*grown, *all, *full}) {
      CHECK(objgraph().sniff(text) == Match::certain);
      const Snapshot s = read_one(objgraph(), text);
      CHECK_FALSE(s.facts.complete);
      CHECK_FALSE(s.facts.partial);
      CHECK(s.column("inuse_space") == nullptr);
    }
    growth.push_back(rows(read_one(objgraph(), *grown)));
    common.push_back(rows(read_one(objgraph(), *all)));
    CHECK(rows(read_one(objgraph(), *full)).count("builtins.dict {type=builtins.dict}") == 1);
  }
  const std::string session = "Session {type=Session}";
  const std::string list = "list {type=list}";
  CHECK(growth[0].count(session) == 0);  // below the ten rows that are printed: unknown
  for (int step = 1; step < 4; ++step) {
    const auto at = static_cast<std::size_t>(step);
    CHECK(growth[at].at(session) == std::to_string(30 * (step + 1)));
    CHECK(std::stoi(common[at].at(list)) - std::stoi(common[at - 1].at(list)) == 30);
  }
  CHECK(growth[1].at(list) == "492");
  CHECK(growth[2].at(list) == "522");
}

TEST_CASE("objgraph-text: lists are told apart by what is between them, and by their order where nothing is") {
  CHECK(read_ok(objgraph(), "iteration one\n" + kGrowth + "\n" + kGrowth).size() == 2);
  CHECK(read_ok(objgraph(), kGrowth + kGrowth).size() == 2);
  CHECK(read_ok(objgraph(), "tuple 7\ndict 5\nlist 5\ntuple 9\n").size() == 2);
  CHECK(read_ok(objgraph(), "tuple 7\ndict 5\nlist 5 +5\n").size() == 2);
}

TEST_CASE("objgraph-text: certain only where nothing else is there and a name is of Python") {
  CHECK(objgraph().sniff(kGrowth) == Match::certain);
  CHECK(objgraph().sniff("Session 90 +30\nJob 4 +2\n") == Match::possible);
  CHECK(objgraph().sniff("log line of a program\n" + kGrowth) == Match::possible);
  CHECK(objgraph().sniff("step 10\nstep 20\n") == Match::no);
  CHECK(objgraph().sniff("hello world\n") == Match::no);
}

TEST_CASE("objgraph-text: a text without a list is refused, a number beyond 64 bits is no row") {
  CHECK(read_error(objgraph(), "hello world\n").find("no list: the input ends") != std::string::npos);
  CHECK(rows(read_one(objgraph(), "tuple 99999999999999999999\nlist 5\n")) == Rows{{"list {type=list}", "5"}});
}

TEST_CASE("objgraph-text: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_cuts(objgraph(), kGrowth + "\n" + kGrowth, 1);
  check_disguises(objgraph(), kGrowth + "\n" + kGrowth);
  CHECK(rows(read_one(objgraph(), "\x1b[1m" + kGrowth)) == rows(read_one(objgraph(), kGrowth)));
}
