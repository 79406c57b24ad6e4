#include "analyzer/gate/check_gate.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/diff/diff.hpp"
#include "analyzer/gate/claims.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/trend/verdict.hpp"
#include "snapdiff/story.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"

using namespace snapdiff;
using snapdiff::test::small;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// As the command judges a series.
TrendReport judged(SeriesReport series) {
  TrendReport trend = trend::analyse(std::move(series), std::nullopt);
  story::tell(trend);
  return trend;
}

/// `count` snapshots: main;leak grows by `step` each, main;cache;fill fills in three, main;flat stays. A minute apart
/// when `timed`.
TrendReport trend_of(int count, std::int64_t step, bool timed = false) {
  std::vector<SnapshotRef> refs;
  for (int i = 1; i <= count; ++i) {
    Snapshot snapshot = small(std::to_string(i), {{"main;leak", i, 10'000 + step * i},
                                                  {"main;cache;fill", 1, i < 3 ? 30'000 * i : 90'000},
                                                  {"main;flat", 1, 1'000'000}});
    if (timed) snapshot.facts.taken_at_ns = 60 * kSecond * i;
    refs.push_back({std::make_shared<const Snapshot>(std::move(snapshot)), "@" + std::to_string(i), ""});
  }
  Result<SeriesReport> series = diff::diff_series(refs, {});
  REQUIRE(series);
  return judged(*std::move(series));
}

std::vector<Budget> budgets(const std::vector<std::string>& texts) {
  std::vector<Budget> out;
  for (const std::string& text : texts) {
    const Result<Budget> budget = gate::parse_budget(text);
    REQUIRE(budget);
    out.push_back(*budget);
  }
  return out;
}

GateReport checked(TrendReport trend, const std::vector<std::string>& texts,
                   const std::vector<Allowance>& allowances = {}, const std::string& today = "2026-11-21") {
  return gate::check(std::move(trend), budgets(texts), allowances, today);
}

std::size_t count(const GateReport& report, Outcome outcome) {
  std::size_t found = 0;
  for (const GateFinding& finding : report.findings) found += finding.outcome == outcome ? 1U : 0U;
  return found;
}

std::string error_of(const Result<std::vector<Budget>>& result) {
  return result ? "" : result.error().subject + ": " + result.error().message;
}

}  // namespace

TEST_CASE("budget: amounts, shares, rates and horizons") {
  const auto one = [](const std::string& text) { return budgets({text})[0]; };
  CHECK(one("10MiB").amount == 10 * 1024 * 1024);
  CHECK(one("10MiB").measure == Measure::growth);
  CHECK(one("100KiB/step").measure == Measure::per_step);
  CHECK(one("100KiB/step").scope == BudgetScope::stack);
  CHECK(one("total:3%/step").amount == Approx(0.03));
  CHECK(one("total:3%/step").is_share);
  CHECK(one("total:3%/step").scope == BudgetScope::total);
  CHECK(one("stack:0/step").amount == 0);
  CHECK(one("3600KiB/h").amount == Approx(1024));
  CHECK(one("total:7GiB/7d").amount == Approx(1073741824.0 / 86400));
  CHECK(one("60B/min").measure == Measure::per_second);
  CHECK(one("60B/90 s").amount == Approx(60.0 / 90));
  CHECK(one("5%/jump").measure == Measure::jump);
  CHECK(one("culprit:5%").scope == BudgetScope::culprit);
  CHECK(one("culprit:5%").measure == Measure::growth);
}

TEST_CASE("budget: what is none is refused with an example") {
  for (const char* bad : {"", "x", "10", "-5MiB", "10XiB", "5%x", "10MiB/", "10MiB/parsec", "heap:10MiB",
                          "total:", "culprit:", "tot:5%", "10MiB/0h", "nan", "1e999MiB", "10MiB/-1d"}) {
    CAPTURE(bad);
    const Result<Budget> budget = gate::parse_budget(bad);
    if (std::string(bad) == "10") {
      CHECK(budget);  // bytes
      continue;
    }
    REQUIRE_FALSE(budget);
    CHECK(budget.error().code == ErrorCode::usage);
    CHECK(budget.error().message.find("expected e.g.") != std::string::npos);
  }
}

TEST_CASE("patterns: stars and question marks") {
  CHECK(gate::matches("", "anything"));
  CHECK(gate::matches("*", ""));
  CHECK(gate::matches("src/*", "src/a/b.cc"));
  CHECK(gate::matches("*::insert", "a::b::insert"));
  CHECK(gate::matches("a?c", "abc"));
  CHECK_FALSE(gate::matches("a?c", "ac"));
  CHECK_FALSE(gate::matches("src/*", "lib/src/a"));
  CHECK(gate::matches("*a*a*a*b", std::string(2000, 'a') + "b"));
  CHECK_FALSE(gate::matches("*a*a*a*c", std::string(2000, 'a') + "b"));
}

TEST_CASE("gate: a leak breaks its rate, a cache that fills and what stays do not") {
  const GateReport report = checked(trend_of(12, 5000), {"0/step"});
  REQUIRE(report.is_breached());
  CHECK(count(report, Outcome::broken) == 1);
  CHECK(report.findings[0].name == "leak");
  CHECK(report.findings[0].measured == Approx(5000));
  CHECK(report.findings[0].verdict.word == "GROWING");
  CHECK_FALSE(checked(trend_of(12, 5000), {"5001B/step"}).is_breached());
  CHECK(checked(trend_of(12, 5000), {"4999B/step"}).is_breached());
  CHECK_FALSE(checked(trend_of(12, 0), {"0/step"}).is_breached());
}

TEST_CASE("gate: growth from first to last needs no verdict") {
  const GateReport report = checked(trend_of(2, 5000), {"4999"});
  CHECK(report.is_breached());
  CHECK(count(report, Outcome::broken) == 2);  // the leak, and the cache that fills
  CHECK_FALSE(checked(trend_of(2, 5000), {"30000"}).is_breached());
  CHECK(checked(trend_of(2, 5000), {"total:34999"}).is_breached());
  CHECK_FALSE(checked(trend_of(2, 5000), {"total:35000"}).is_breached());
  // Of 1 045 000 bytes: 35 000 are 3.35 %.
  CHECK(checked(trend_of(2, 5000), {"total:3.3%"}).is_breached());
  CHECK_FALSE(checked(trend_of(2, 5000), {"total:3.4%"}).is_breached());
}

TEST_CASE("gate: too few snapshots for a rate are not judged, never passed in silence") {
  const GateReport report = checked(trend_of(7, 5000), {"0/step"});
  CHECK_FALSE(report.is_breached());
  REQUIRE(count(report, Outcome::unjudged) == 1);  // of the leak and the cache that fills: one finding
  CHECK(report.findings[0].rows == 2);
  CHECK(report.findings[0].note == "8 snapshots or more are judged: found 7");
  CHECK_FALSE(report.findings[0].measured);
  CHECK(report.result() == GateResult::unjudged);
}

TEST_CASE("gate: what is allowed to be unjudged passes only beside what was judged") {
  GateReport alone = checked(trend_of(7, 5000), {"0/step"});
  alone.allow_unjudged = true;
  CHECK(alone.result() == GateResult::unjudged);
  GateReport beside = checked(trend_of(7, 5000), {"0/step", "total:50%"});
  CHECK(beside.result() == GateResult::unjudged);
  beside.allow_unjudged = true;
  CHECK(beside.result() == GateResult::passed);
  CHECK(checked(trend_of(7, 5000), {"0/step", "total:1%"}).result() == GateResult::failed);
}

TEST_CASE("gate: what did not grow needs no verdict") {
  const GateReport report = checked(trend_of(2, 0), {"total:0/step", "total:1%/jump"});
  CHECK(count(report, Outcome::unjudged) == 2);  // the cache that fills
  std::vector<SnapshotRef> refs;
  for (const std::int64_t bytes : {90'000, 80'000})
    refs.push_back({std::make_shared<const Snapshot>(small(std::to_string(bytes), {{"main;a", 1, bytes}})), "a", ""});
  Result<SeriesReport> series = diff::diff_series(refs, {});
  REQUIRE(series);
  CHECK(checked(judged(*std::move(series)), {"0/step", "total:0/step", "total:1%/jump"}).result() ==
        GateResult::passed);
}

TEST_CASE("gate: a jump is broken by a step, not by a leak or a cache that fills") {
  const auto stepped = [](int count, std::int64_t before, std::int64_t after) {
    std::vector<SnapshotRef> refs;
    for (int i = 1; i <= count; ++i) {
      std::vector<test::SmallRow> rows{{"main;flat", 1, 1'000'000}};
      if (const std::int64_t value = 2 * i > count ? after : before; value > 0) rows.push_back({"main;load", 1, value});
      refs.push_back({std::make_shared<const Snapshot>(small(std::to_string(i), rows)), "@" + std::to_string(i), ""});
    }
    Result<SeriesReport> series = diff::diff_series(refs, {});
    REQUIRE(series);
    return judged(*std::move(series));
  };
  for (const std::int64_t before : {100'000, 0}) {  // judged STEP, and NEW
    CAPTURE(before);
    const GateReport report =
        checked(stepped(12, before, before + 200'000), {"5%/jump", "total:5%/jump", "culprit:5%/jump"});
    CHECK(count(report, Outcome::broken) == 3);
    for (const GateFinding& finding : report.findings) CHECK(finding.measured == 200'000);
    CHECK(checked(stepped(12, before, before + 40'000), {"5%/jump", "culprit:5%/jump"}).result() == GateResult::passed);
  }
  CHECK_FALSE(checked(trend_of(12, 50'000), {"5%/jump"}).is_breached());
}

TEST_CASE("gate: the budgets without any depend on what can be judged") {
  const auto texts = [](const gate::Judged& series) {
    std::string all;
    for (const Budget& budget : gate::default_budgets(series)) all += budget.text + " ";
    return all;
  };
  CHECK(texts({2}) == "total:5% culprit:5% ");
  CHECK(texts({7}) == texts({2}));
  CHECK(texts({8}) == "culprit:0/step ");
  CHECK(texts({8, true}) == "culprit:0/step total:5%/jump culprit:5%/jump ");
  CHECK(texts({2, false, true}) == "5% ");
  CHECK(texts({8, false, true}) == "0/step ");
}

TEST_CASE("gate: a culprit that is GROWING breaks a rate though its stacks are new") {
  // Each snapshot has one caller more: every stack is NEW and stays as it is, their sum climbs.
  std::vector<SnapshotRef> refs;
  for (int i = 1; i <= 12; ++i) {
    std::vector<test::SmallRow> rows{{"main;flat", 1, 1'000'000}};
    std::vector<std::string> names;
    for (int k = 0; k < i; ++k) names.push_back("main;call" + std::to_string(k) + ";leak");
    for (const std::string& name : names) rows.push_back({name, 1, 50'000});
    refs.push_back({std::make_shared<const Snapshot>(small(std::to_string(i), rows)), "@" + std::to_string(i), ""});
  }
  Result<SeriesReport> series = diff::diff_series(refs, {});
  REQUIRE(series);
  const TrendReport trend = judged(*std::move(series));
  REQUIRE(trend.series.overall.story->verdict == "GROWING");
  CHECK(gate::check(trend, gate::default_budgets({12}), {}, "").is_breached());
  CHECK(checked(trend, {"0/step"}).is_breached());
  CHECK_FALSE(checked(trend, {"60000B/step"}).is_breached());
}

TEST_CASE("gate: a budget in bytes sets the floor") {
  // 0.1 % of 46 GiB: without a verdict in the view.
  const auto trend = [](std::int64_t step) {
    std::vector<SnapshotRef> refs;
    for (int i = 1; i <= 12; ++i) {
      refs.push_back(
          {std::make_shared<const Snapshot>(small(std::to_string(i), {{"main;leak", i, 10'000 + step * i},
                                                                      {"main;flat", 1, std::int64_t{50'000'000'000}}})),
           "@" + std::to_string(i), ""});
    }
    Result<SeriesReport> series = diff::diff_series(refs, {});
    REQUIRE(series);
    return judged(*std::move(series));
  };
  const GateReport broken = checked(trend(5'000'000), {"1MiB/step"});
  REQUIRE(broken.is_breached());
  CHECK(broken.findings[0].name == "leak");
  CHECK(broken.findings[0].verdict.word == "GROWING");
  CHECK(checked(trend(1'000'000), {"1MiB/step"}).result() == GateResult::passed);
}

TEST_CASE("gate: growth is held against a budget less two standard deviations") {
  TrendReport trend = trend_of(2, 5000);
  for (GrowthRow& row : trend.series.overall.rows) row.error = 2000;
  trend.series.overall.total_error = 2000;
  const GateReport report = checked(trend, {"total:32000", "total:30000"});
  // 35 000 less 4000.
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].outcome == Outcome::broken);
  CHECK(report.findings[0].allowed == 30'000);
  CHECK(report.findings[0].least == Approx(31'000));
  CHECK(report.findings[1].outcome == Outcome::within);
  CHECK(report.findings[1].note == "within two standard deviations of the budget");
}

TEST_CASE("gate: a sampled rise within two standard deviations breaks no rate, however straight") {
  for (const double error : {2000.0, 4000.0}) {
    TrendReport trend = trend_of(12, 600);
    auto story = std::make_shared<Story>(*trend.series.overall.story);
    for (Culprit& culprit : story->culprits) culprit.error = error;
    trend.series.overall.story = std::move(story);
    CHECK(checked(std::move(trend), {"culprit:0/step"}).is_breached() == (error < 3300));
  }
}

TEST_CASE("gate: of many rows one rises further by its samples than of few") {
  CHECK(gate::farthest_by_chance(1) == 2);
  CHECK(gate::farthest_by_chance(7) == 2);
  CHECK(gate::farthest_by_chance(20) == Approx(2.448).margin(.001));
  CHECK(gate::farthest_by_chance(100'000) == Approx(4.799).margin(.001));
}

TEST_CASE("gate: what rises and came late was judged by the snapshots that have it") {
  CHECK(gate::absent_at_first({0, 0, 5, 0}) == 2);
  Verdict rising{"RISING", "", .9, 2, 1, 3};
  CHECK(gate::is_open(budgets({"culprit:0/step"}).front(), rising, 15));
  CHECK_FALSE(gate::is_open(budgets({"culprit:0/step"}).front(), rising, 16));
}

TEST_CASE("gate: growth below a page over the series breaks no budget of 0") {
  CHECK_FALSE(checked(trend_of(12, 300), {"0/step"}).is_breached());
  CHECK(checked(trend_of(12, 600), {"0/step"}).is_breached());
  CHECK(checked(trend_of(12, 300), {"200/step"}).is_breached());
}

TEST_CASE("gate: less than a page counts where what grows with it is more") {
  TrendReport trend = trend_of(12, 600);
  auto story = std::make_shared<Story>(*trend.series.overall.story);
  for (Culprit& culprit : story->culprits) {
    if (culprit.verdict.word != "GROWING") continue;
    culprit.value = {0, 3300};
    culprit.verdict.slope = culprit.verdict.slope_low = 300;
  }
  trend.series.overall.story = std::move(story);
  CHECK(checked(trend, {"culprit:0/step"}).is_breached());  // its row: 6600
  for (Verdict& verdict : trend.verdicts) verdict.word = "FLAT";
  CHECK_FALSE(checked(trend, {"culprit:0/step"}).is_breached());
}

TEST_CASE("gate: a culprit grows where the total does not") {
  std::vector<SnapshotRef> refs;
  for (int i = 0; i < 2; ++i) {
    refs.push_back(
        {std::make_shared<const Snapshot>(small(std::to_string(i), {{"main;serve;leak", 1, 100'000 + 80'000 * i},
                                                                    {"main;freed", 1, 900'000 - 80'000 * i}})),
         "@" + std::to_string(i), ""});
  }
  Result<SeriesReport> series = diff::diff_series(refs, {});
  REQUIRE(series);
  const GateReport report = gate::check(judged(*std::move(series)), gate::default_budgets({2}), {}, "");
  REQUIRE(count(report, Outcome::broken) == 1);
  CHECK(report.findings[0].measured == 80'000);
  CHECK(report.findings[0].name.find("serve") != std::string::npos);
}

TEST_CASE("gate: rates by time need times") {
  CHECK(checked(trend_of(12, 6000, true), {"5999B/min"}).is_breached());
  CHECK_FALSE(checked(trend_of(12, 6000, true), {"6001B/min"}).is_breached());
  // 6000 bytes a minute are 60 480 000 in a week.
  CHECK(checked(trend_of(12, 6000, true), {"60479000B/7d"}).is_breached());
  CHECK_FALSE(checked(trend_of(12, 6000, true), {"60481000B/7d"}).is_breached());
  const GateReport blind = checked(trend_of(12, 6000), {"0B/h"});
  CHECK_FALSE(blind.is_breached());
  CHECK(blind.findings[0].note == "the snapshots hold no usable times");
}

TEST_CASE("gate: a budget with patterns is for the sum, and takes its stacks out of the others") {
  const auto own = gate::parse_budgets(
      "[[budget]]\nname = 'leaks'\nfunction = 'le*'\nallow = '6KiB/step'\n[[budget]]\nallow = '0/step'\n", "b.toml");
  REQUIRE(own);
  CHECK((*own)[0].scope == BudgetScope::match);
  const GateReport held = gate::check(trend_of(12, 5000), *own, {}, "2026-11-21");
  CHECK_FALSE(held.is_breached());
  const GateReport broken = gate::check(trend_of(12, 7000), *own, {}, "2026-11-21");
  REQUIRE(broken.is_breached());
  CHECK(broken.findings[0].name == "leaks (1 row)");
  CHECK(broken.findings[0].measured == Approx(7000));
}

TEST_CASE("gate: a function's budget by file, and one that nothing matches") {
  const auto both = gate::parse_budgets(
      "[[budget]]\nowner = 'core'\nfile = 'a.cc'\nallow = '100000'\n[[budget]]\nmodule = 'none*'\nallow = '0/step'",
      "b");
  REQUIRE(both);
  const GateReport report = gate::check(trend_of(12, 5000), *both, {}, "2026-11-21");
  CHECK(report.is_breached());
  CHECK(report.findings[0].name == "core (3 rows)");
  CHECK(report.findings[0].measured == 11 * 5000 + 60'000);
  CHECK(report.findings.back().note == "nothing matches");
}

TEST_CASE("gate: accepted growth, until it is more or its day is over") {
  const GateReport report = checked(trend_of(12, 5000), {"0/step"});
  const Allowance entry = gate::allowance_for(report.findings[0], report, "2026-12-31", "known");
  CHECK(entry.text == "5500/step");
  const std::string toml = gate::allowance_text({entry});
  const auto read = gate::parse_allowances(toml, "accept.toml");
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  CHECK((*read)[0].id == report.findings[0].id);
  CHECK((*read)[0].reason == "known");

  const GateReport accepted = checked(trend_of(12, 5000), {"0/step"}, *read);
  CHECK_FALSE(accepted.is_breached());
  CHECK(count(accepted, Outcome::accepted) == 1);
  const GateReport more = checked(trend_of(12, 6000), {"0/step"}, *read);
  REQUIRE(more.is_breached());
  CHECK(more.findings[0].note == "more than the accepted 5500/step");
  const GateReport late = checked(trend_of(12, 5000), {"0/step"}, *read, "2027-01-01");
  REQUIRE(late.is_breached());
  CHECK(late.findings[0].note == "was accepted until 2026-12-31");
  const GateReport gone = checked(trend_of(12, 0), {"0/step"}, {{"0123456789ab", "old", "", "", ""}});
  CHECK(gone.stale == std::vector<std::string>{"old"});
}

TEST_CASE("gate: the id is of the functions, not of lines") {
  const auto id_of = [](const std::string& name, std::int32_t line) {
    std::vector<SnapshotRef> refs;
    for (int i = 1; i <= 9; ++i) {
      SnapshotBuilder builder;
      builder.add_column({"inuse_space", "bytes"});
      std::vector<FrameId> frames;
      for (const std::string& function : {name, std::string("main")}) {
        SnapshotBuilder::FrameSpec spec;
        const StringId text = builder.string(function);
        spec.function = builder.function(text, text, builder.string("a.cc"), 0);
        spec.line = line;
        frames.push_back(builder.frame(spec));
      }
      const std::int64_t values[] = {10'000 * i};
      builder.add_row(builder.stack(frames), LabelSetId{}, values);
      builder.facts().source.name = std::to_string(i);
      auto snapshot = builder.finish();
      REQUIRE(snapshot);
      refs.push_back({std::make_shared<const Snapshot>(*std::move(snapshot)), "@" + std::to_string(i), ""});
    }
    Result<SeriesReport> series = diff::diff_series(refs, {});
    REQUIRE(series);
    return checked(judged(*std::move(series)), {"0/step"}).findings.at(0).id;
  };
  CHECK(id_of("leak", 10) == id_of("leak", 99));
  CHECK(id_of("leak", 10) != id_of("other", 10));
  CHECK(id_of("leak(int) [clone .constprop.0]", 10) == id_of("leak(int)", 10));
  CHECK(id_of("leak", 1).size() == 12);
}

TEST_CASE("gate files: errors name the file, the line and what was expected") {
  CHECK(error_of(gate::parse_budgets("[[budget]]\nallow = '5 parsecs'\n", "b.toml"))
            .find("b.toml: line 1: '5 parsecs'") == 0);
  CHECK(error_of(gate::parse_budgets("[[budget]]\nname = 'x'\n", "b.toml")) ==
        "b.toml: line 1: a budget needs allow = \"AMOUNT\"");
  CHECK(error_of(gate::parse_budgets("[[budget]]\nallow = '1MiB'\ncolour = 'red'\n", "b.toml")) ==
        "b.toml: line 3: 'colour' is unknown in [[budget]]");
  CHECK(error_of(gate::parse_budgets("[[budget]]\nallow = 5\n", "b.toml")) ==
        "b.toml: line 2: 'allow' must be a text in quotes");
  CHECK(error_of(gate::parse_budgets("[[budget]]\nallow = '1MiB'\nfor = 'week'\n", "b.toml")) ==
        "b.toml: line 1: for = 'week': expected stack, culprit or total");
  CHECK(error_of(gate::parse_budgets("budgets = 3\n", "b.toml")).find("'budgets' is unknown") != std::string::npos);
  for (const char* damaged : {"[[budget", "allow = ", "\x01\x02", "a = \"\\u12\"", "[[budget]]\n[[budget]"}) {
    CAPTURE(damaged);
    const auto result = gate::parse_budgets(damaged, "b.toml");
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::usage);
    CHECK(result.error().subject == "b.toml");
    CHECK(result.error().message.find('\n') == std::string::npos);
  }
  CHECK(gate::parse_budgets("", "b.toml"));
  CHECK_FALSE(gate::parse_allowances("[[accept]]\nname = 'x'\n", "a.toml"));
  CHECK_FALSE(gate::parse_allowances("[[accept]]\nid = 'x'\nuntil = 'soon'\n", "a.toml"));
  CHECK(gate::parse_allowances("[[accept]]\nid = 'x'\nuntil = 2026-12-31\n", "a.toml"));
}

TEST_CASE("allowances: texts with quotes and control characters come back") {
  const Allowance one{"0123456789ab", "a \"b\" \\ \n\x01 ‹ c", "5KiB/step", "2026-12-31", "tab\there"};
  const auto read = gate::parse_allowances(gate::allowance_text({one}), "a.toml");
  REQUIRE(read);
  CHECK((*read)[0].name == one.name);
  CHECK((*read)[0].reason == one.reason);
}
