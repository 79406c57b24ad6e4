#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "formats/registry.hpp"

using namespace snapdiff;

namespace {

Result<std::vector<Snapshot>> read_steps(const std::string& text) {
  return formats::read_bytes(text, "memory.json", {});
}

std::map<std::string, std::int64_t> by_category(const Snapshot& s) {
  std::map<std::string, std::int64_t> out;
  const Dictionary& d = *s.dictionary;
  for (std::size_t r = 0; r < s.samples.size(); ++r) {
    for (const Label& label : d.labels.labels(s.samples.labels[r]))
      out[std::string(d.strings[label.text])] += s.samples.columns[0].value[r];
  }
  return out;
}

constexpr const char* kSizes =
    "[[1700000000000000, 1700000000000005],\n [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 10, 0, 0, 0, 0, 0, 0, 0]]]\n";

}  // namespace

TEST_CASE("torch-timeline: a snapshot each moment, by category") {
  const auto all = read_steps(kSizes);
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK(by_category((*all)[0]) == std::map<std::string, std::int64_t>{{"parameter", 1},
                                                                      {"optimizer state", 2},
                                                                      {"input", 3},
                                                                      {"temporary", 4},
                                                                      {"activation", 5},
                                                                      {"gradient", 6},
                                                                      {"autograd detail", 7},
                                                                      {"unknown", 8}});
  CHECK(by_category((*all)[1]) == std::map<std::string, std::int64_t>{{"parameter", 10}});
  CHECK((*all)[0].facts.format == "torch-timeline");
  CHECK((*all)[1].facts.taken_at_ns == 1'700'000'000'000'005'000);
  CHECK((*all)[1].facts.position == 1);
}

TEST_CASE("torch-timeline: four times are no raw event, and one event is") {
  const auto sizes = read_steps("[[1,2,3,4],[[0,1],[0,2],[0,3],[0,4]]]");
  REQUIRE(sizes);
  CHECK(sizes->size() == 4);
  const auto raw = read_steps("[[5,2,77,6]]");
  REQUIRE(raw);
  REQUIRE(raw->size() == 1);
  CHECK(by_category(raw->front()) == std::map<std::string, std::int64_t>{{"autograd detail", 77}});
  CHECK_FALSE(raw->front().facts.taken_at_ns.has_value());
}

TEST_CASE("torch-timeline: cut off at any byte it is an error, and no other format takes it") {
  for (const std::string& whole : {std::string(kSizes), std::string("[[1,1,5,0],[2,2,6,1],[3,4,-5,0]]")}) {
    REQUIRE(read_steps(whole));
    for (std::size_t n = 0; n + 1 < whole.size(); ++n) {
      if (whole.substr(n).find_first_not_of(" \n") == std::string::npos) continue;
      INFO(whole.substr(0, n));
      CHECK_FALSE(read_steps(whole.substr(0, n)));
    }
  }
}
