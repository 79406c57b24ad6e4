#include "analyzer/diff/rebuild/evidence.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "analyzer/base/concat.hpp"
#include "analyzer/diff/explain_match.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using namespace snapdiff::diff::rebuild;

namespace {

/// Jobs `from` to `to` of a worker: of one build whatever they are, all lines `moved` down in another one.
std::string jobs(int from, int to, int moved, const std::string& suffix = {}) {
  std::string out;
  for (int k = from; k < to; ++k) {
    const int site = 100 + 20 * k;
    out += concat("main@m.cc:", 3 + moved, ";serve@s.cc:", 10 + 2 * (k % 7) + moved, ";job_", k, k >= 8 ? suffix : "",
                  "@j.cc:", site + moved, ";make_", k % 3, "@k.cc:", 5 + 10 * (k % 3) + moved, " ", 10000 + k, " ",
                  3 + k, "\n");
  }
  return out;
}

std::string evidence(const std::string& before, const std::string& after) {
  Result<diff::MatchExplanation> why = diff::explain_match(heap(before), heap(after), {}, 0);
  REQUIRE(why);
  return std::string(why->evidence);
}

}  // namespace

TEST_CASE("evidence: what no more than the noise contradicts has no weight, and each contradiction more has more") {
  CHECK(weight_of(0, 0, 0.01) == 0);
  CHECK(weight_of(0, 40, 0.01) == 0);
  CHECK(weight_of(1, 999, 0.01) == 0);
  CHECK(weight_of(1, 0, 0.01) == Approx(std::log(100)));
  CHECK(weight_of(2, 0, 0.01) == Approx(2 * std::log(100)));
  CHECK(weight_of(2, 10, 0.01) < weight_of(2, 0, 0.01));
  CHECK(weight_of(2, 10, 0.01) > weight_of(1, 10, 0.01));
}

TEST_CASE("evidence: one build by what settles it, two by a module, else by the sum of the weights") {
  Estimate estimate;
  CHECK(estimate.kind() == Evidence::none);
  estimate.observed[static_cast<std::size_t>(Evidence::site_of_few)].nats = 2;
  CHECK(estimate.kind() == Evidence::none);
  estimate.observed[static_cast<std::size_t>(Evidence::line_of_call)].nats = 9;
  CHECK(estimate.kind() == Evidence::line_of_call);
  estimate.is_other_module = true;
  CHECK(estimate.kind() == Evidence::module);
  estimate.settled = true;
  CHECK(estimate.kind() == Evidence::none);
}

TEST_CASE("evidence: other work of one process is no other build, however much of it came and went") {
  CHECK(evidence(jobs(0, 12, 0), jobs(4, 16, 0)).empty());
  CHECK(evidence(jobs(0, 12, 0), jobs(11, 23, 0)).empty());
}

TEST_CASE("evidence: lines that moved are another build") {
  CHECK_FALSE(evidence(jobs(0, 12, 0), jobs(0, 12, 1)).empty());
  CHECK_FALSE(evidence(jobs(0, 12, 0), jobs(4, 16, 30)).empty());
}

TEST_CASE("evidence: a line that belongs to a function of another name is another build") {
  CHECK(evidence(jobs(0, 12, 0), jobs(0, 12, 0, "_now")) == "a line belongs to another function");
}
