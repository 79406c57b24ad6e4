#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& guppy() { return formats::kGuppy; }
const formats::Format& pympler() { return formats::kPympler; }

using Rows = std::map<std::string, std::string>;

const std::string kPrinted =
    "Partition of a set of 12 objects. Total size = 1000 bytes.\n"
    " Index  Count   %     Size   % Cumulative  % Kind (class / dict of class)\n"
    "     0      5  41      600  60       600  60 dict of a.B\n     1      3  25      300  30       900  90 list\n"
    "<6 more rows. Type e.g. '_.more' to view.>\n";
const std::string kDumped =
    ".loader: _load_stat\n.format: SetFormat\n.timemade: 1795704306.5\n.count: 4\n.size: 70\n.kindheader: Kind\n"
    ".numrows: 2\n.r: 3 60 list\n.r: 1 10 dict (no owner)\n.end: .loader: _load_stat\n";
const std::string kSummary =
    "      types |   # objects |   total size\n=========== | =========== | ============\n"
    "       list |           3 |      1.50 KB\n        a.B |         100 |    704     B\n";
const std::string kDifference =
    "step\n" + kSummary +
    "step\n      types |   # objects |    total size\n=========== | =========== | =============\n"
    "        a.B |         100 |    704     B\n       list |           0 |   -512     B\n";

}  // namespace

TEST_CASE("guppy: six printed heaps and a dump of a real program") {
  const std::vector<Snapshot> printed = read_data("guppy/heap-text.txt");
  REQUIRE(printed.size() == 6);
  CHECK(printed[0].facts.format == "guppy");
  CHECK(total(printed[0], "inuse_space") == 634368);
  CHECK(total(printed[0], "inuse_objects") == 7756);
  CHECK(total(printed[5], "inuse_space") == 800052);
  CHECK(total(printed[5], "inuse_objects") == 9926);
  const std::string pattern = "babel.dates.DateTimePattern {type=babel.dates.DateTimePattern}";
  for (std::size_t step = 0; step < 6; ++step)
    CHECK(rows(printed[step]).at(pattern) ==
          std::to_string(100 * (step + 1)) + " " + std::to_string(5600 * (step + 1)));
  const Snapshot dump = read_data_of("guppy/heap.1.hpy", guppy());
  CHECK(total(dump, "inuse_space") == 634368);
  CHECK(rows(dump).size() == 16);
  CHECK(dump.facts.complete);
  CHECK(dump.facts.taken_at_ns.has_value());
}

TEST_CASE("guppy: rows that are not printed are the rest") {
  const Snapshot s = read_one(guppy(), kPrinted);
  CHECK(rows(s) == Rows{{"dict of a.B {type=dict of a.B}", "5 600"},
                        {"list {type=list}", "3 300"},
                        {"[below threshold]", "4 100"}});
  CHECK_FALSE(s.facts.complete);
  CHECK(rows(read_one(guppy(), kDumped)).at("dict (no owner) {type=dict (no owner)}") == "1 10");
  CHECK(read_ok(guppy(), kDumped + kDumped).size() == 2);
}

TEST_CASE("pympler: differences of a real program are added up") {
  const std::vector<Snapshot> series = read_data("pympler/summary-diff.txt");
  REQUIRE(series.size() == 6);
  CHECK(series[0].facts.format == "pympler");
  CHECK(has_note(series[0], "growth since the tracker was made"));
  CHECK(series[0].column("growth_space") != nullptr);
  const std::string pattern = "babel.dates.DateTimePattern {type=babel.dates.DateTimePattern}";
  CHECK(rows(series[0]).count(pattern) == 0);
  for (std::size_t step = 1; step < 6; ++step) {
    const std::string count = std::to_string(100 * step);
    CHECK(rows(series[step]).at(pattern).starts_with(count + " "));
  }
}

TEST_CASE("pympler: summaries hold what there is, differences what grew") {
  const Snapshot s = read_one(pympler(), kSummary);
  CHECK(rows(s) == Rows{{"list {type=list}", "3 1536 6"}, {"a.B {type=a.B}", "100 704 0"}});
  CHECK_FALSE(s.facts.complete);
  const std::vector<Snapshot> two = read_ok(pympler(), kDifference);
  REQUIRE(two.size() == 2);
  CHECK(rows(two[1]) == Rows{{"list {type=list}", "3 1024 6"}, {"a.B {type=a.B}", "200 1408 0"}});
  CHECK(read_ok(pympler(), kSummary + "x\n" + kSummary).size() == 2);
}

TEST_CASE("guppy, pympler: other tables are none") {
  CHECK(guppy().sniff(kPrinted) == Match::certain);
  CHECK(guppy().sniff(kDumped) == Match::certain);
  CHECK(guppy().sniff("Partition of a disk\n") == Match::no);
  CHECK(pympler().sniff(kDifference) == Match::certain);
  CHECK(pympler().sniff("types | objects | size\n") == Match::no);
  CHECK(read_error(guppy(), "x\n").find("no partition") != std::string::npos);
  CHECK(read_error(pympler(), "x\n").find("no summary") != std::string::npos);
}

TEST_CASE("guppy, pympler: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_cuts(guppy(), kPrinted, 1);
  check_cuts(guppy(), kDumped, 1);
  check_cuts(pympler(), kSummary, 1);
  check_disguises(guppy(), kPrinted);
  check_disguises(guppy(), kDumped);
  check_disguises(pympler(), kDifference);
}
