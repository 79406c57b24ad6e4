#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& counts() { return formats::kCountLines; }

}  // namespace

TEST_CASE("object-counts: a Counter of types is a series, with the times of the log") {
  const std::vector<Snapshot> s = read_data("type_counts/counter.log");
  REQUIRE(s.size() == 4);
  CHECK(rows(s[0]).at("Session {type=Session}") == "500");
  CHECK(rows(s[3]).at("Session {type=Session}") == "2000");
  CHECK(s[3].facts.complete);
  CHECK(s[0].facts.taken_at_ns.value_or(0) < s[1].facts.taken_at_ns.value_or(0));
  check_disguises(counts(), test_data("type_counts/counter.log"));
  const std::string text(test_data("type_counts/counter.log"));
  const std::size_t bracket = text.find('}');
  for (std::size_t size = text.find("'tuple'"); size < bracket; ++size)
    REQUIRE(read_one(counts(), std::string_view(text).substr(0, size)).facts.partial);
}

TEST_CASE("object-counts: most_common() knows nothing of the types that it leaves out") {
  const std::vector<Snapshot> s = read_data("type_counts/most-common.txt");
  REQUIRE(s.size() == 4);
  CHECK(rows(s[2]).at("Session {type=Session}") == "1500");
  CHECK_FALSE(s[2].facts.complete);
}

TEST_CASE("object-counts: slots of Ruby add up to TOTAL, in both notations") {
  const std::vector<Snapshot> s = read_data("type_counts/ruby-3.1.txt");
  REQUIRE(s.size() == 3);
  for (const Snapshot& one : s) CHECK(one.facts.notes.empty());
  const auto strings = [](const Snapshot& one) { return std::stoll(rows(one).at("T_STRING {type=T_STRING}")); };
  CHECK(strings(s[2]) - strings(s[1]) >= 490);
  const Snapshot now = read_one(counts(), "{TOTAL: 10, FREE: 3, T_STRING: 5, T_HASH: 1}\n");
  CHECK(rows(now) ==
        std::map<std::string, std::string>{{"T_HASH {type=T_HASH}", "1"}, {"T_STRING {type=T_STRING}", "5"}});
  CHECK(counter(now, "free_slots") == 3);
  CHECK(has_note(now, "another number than TOTAL"));
  const Snapshot cut = read_one(counts(), "{:TOTAL=>10, :FREE=>3, :T_STRING=>5, :T_HA");
  CHECK(cut.facts.partial);
}

TEST_CASE("object-counts: other dictionaries are none") {
  CHECK(counts().sniff("Counter({'apple': 3, 'pear': 2})\n") == Match::no);
  CHECK(counts().sniff("[('a', 1), ('b', 2)]\n") == Match::no);
  CHECK(counts().sniff("{:TOTAL=>3, :LINES=>2}\n") == Match::no);
}
