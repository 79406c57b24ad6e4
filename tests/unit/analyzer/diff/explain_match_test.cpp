#include "analyzer/diff/explain_match.hpp"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

diff::MatchExplanation must_explain(std::string_view before, std::string_view after, std::string_view leaf) {
  const SnapshotRef a = heap(before), b = heap(after);
  const std::size_t rows = must_diff(a, b).rows.size();
  for (std::size_t place = 0; place < rows; ++place) {
    Result<diff::MatchExplanation> why = diff::explain_match(a, b, {}, place);
    REQUIRE(why);
    if (why->stack.front().starts_with(leaf)) return std::move(why).value();
  }
  throw std::invalid_argument("no row " + std::string(leaf));
}

const std::string kOldBuild =
    "main@m.cc:1;serve@s.cc:10;put@p.cc:20 1000 10\nmain@m.cc:2;serve@s.cc:15;get@g.cc:30 500 5\n"
    "main@m.cc:3;scan@n.cc:40;old@o.cc:50 900 3\n";

}  // namespace

TEST_CASE("explain: one build has no evidence and no other stacks") {
  const diff::MatchExplanation why = must_explain(kOldBuild, kOldBuild, "put");
  CHECK(why.evidence.empty());
  CHECK(why.pairs.empty());
  CHECK(why.stack == std::vector<std::string>{"put p.cc:20", "serve s.cc:10", "main m.cc:1"});
}

TEST_CASE("explain: two builds, a row whose lines moved has its sites beside each other") {
  const diff::MatchExplanation why =
      must_explain(kOldBuild,
                   "main@m.cc:4;serve@s.cc:13;put@p.cc:23 1100 11\nmain@m.cc:5;serve@s.cc:18;get@g.cc:33 500 5\n"
                   "main@m.cc:6;scan@n.cc:43;fresh@f.cc:7 70000 900\n",
                   "put");
  CHECK(why.evidence == "a function calls another one at another line");
  REQUIRE(why.pairs.size() == 1);
  CHECK(why.pairs[0].score == 1);
  REQUIRE(why.pairs[0].sites.size() == 3);
  CHECK(why.pairs[0].sites[0].before == "put p.cc:20");
  CHECK(why.pairs[0].sites[0].after == "put p.cc:23");
  CHECK(why.pairs[0].sites[0].weight == 1);
}

TEST_CASE("explain: two builds, a row of one side names the stacks most like it and what they lack") {
  const std::string after =
      "main@m.cc:4;serve@s.cc:13;put@p.cc:23 1100 11\n"
      "main@m.cc:5;serve@s.cc:18;get@g.cc:33 500 5\nmain@m.cc:6;scan@n.cc:43;fresh@f.cc:7 70000 900\n";
  const diff::MatchExplanation why = must_explain(kOldBuild, after, "fresh");
  REQUIRE(why.row.tier == MatchTier::none);
  for (const diff::ComparedStacks& pair : why.pairs) {
    CHECK(pair.score > 0);
    CHECK(pair.score <= 1);
    std::size_t alone = 0;
    for (const diff::SitePair& site : pair.sites) alone += site.weight == 0 ? 1 : 0;
    CHECK((alone > 0 || pair.contradicts));  // objects of another size, and another number of them, part equal stacks
  }
}

TEST_CASE("explain: a row that does not exist, and rows that are no stacks, are refused") {
  const SnapshotRef a = heap(kOldBuild);
  CHECK(diff::explain_match(a, a, {}, 3).error().code == ErrorCode::usage);
  CHECK(diff::explain_match(a, a, by(GroupBy::file), 0).error().code == ErrorCode::usage);
}
