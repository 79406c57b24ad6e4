#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& contexts() { return formats::kPostgresContexts; }

}  // namespace

TEST_CASE("postgres: dumps of a session add up to their grand totals, statements that are kept are rows") {
  const std::vector<Snapshot> s = read_data("postgres/prepared-15.log");
  REQUIRE(s.size() == 2);
  CHECK(total(s[0], "inuse_space") == 1035624);
  CHECK(total(s[1], "inuse_space") == 1348104);
  CHECK(total(s[1], "reserved_space") == 2095264);
  CHECK(counter(s[1], "reserved") == 2095264);
  const auto all = rows(s[1]);
  CHECK(all.at("CachedPlanSource < CacheMemoryContext < TopMemoryContext") == "30 79680 122880");
  CHECK(rows(s[0]).count("CachedPlanSource < CacheMemoryContext < TopMemoryContext") == 0);
  CHECK(s[0].facts.notes.empty());
  CHECK(s[0].facts.taken_at_ns.value_or(0) < s[1].facts.taken_at_ns.value_or(0));
}

TEST_CASE("postgres: what a backend prints when it runs out of memory") {
  const std::string text(test_data("postgres/out-of-memory-15.log"));
  const Snapshot s = read_one(contexts(), text);
  CHECK(total(s, "inuse_space") == 401050704);
  CHECK(total(s, "reserved_space") == 401666272);
  CHECK(rows(s).at("ExprContext < ExecutorState < MessageContext < TopMemoryContext") == "1 400000328 400008256");
  CHECK(s.facts.notes.empty());
  check_disguises(contexts(), text);
  check_line_cuts(contexts(), text);
}

TEST_CASE("postgres: children that are not listed, sums that differ, levels that are missing") {
  const Snapshot s = read_one(contexts(),
                              "TopMemoryContext: 100 total in 1 blocks; 40 free (1 chunks); 60 used\n"
                              "  A: 10 total in 1 blocks; 4 free (0 chunks); 6 used: SELECT 1 total in 2\n"
                              "    7 more child contexts containing 30 total in 7 blocks; 9 free (1 chunks); 21 used\n"
                              "      B: 8 total in 1 blocks; 4 free (0 chunks); 4 used\n"
                              "          C: 8 total in 1 blocks; 4 free (0 chunks); 4 used\n"
                              "Grand total: 149 bytes in 10 blocks; 57 free (2 chunks); 91 used\n");
  CHECK(rows(s) == std::map<std::string, std::string>{{"TopMemoryContext", "1 60 100"},
                                                      {"A < TopMemoryContext", "1 6 10"},
                                                      {"[below threshold] < A < TopMemoryContext", "7 21 30"},
                                                      {"B < [below threshold] < A < TopMemoryContext", "1 4 8"}});
  CHECK_FALSE(s.facts.complete);
  CHECK(s.facts.partial);  // C
  CHECK(has_note(s, "add up to 148 bytes, the dump says 149"));
  CHECK(contexts().sniff("A: 10 total in 1 blocks; 4 free (0 chunks); 6 used\n") == Match::no);
}
