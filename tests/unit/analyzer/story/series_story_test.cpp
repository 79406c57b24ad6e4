#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "unit/analyzer/story/story_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

using Names = std::vector<std::string>;

namespace {

std::string text_of(const Prose& prose) {
  std::string text;
  for (const Span& span : prose) text += span.text;
  return text;
}

}  // namespace

TEST_CASE("story: five climbing functions beside a cache are GROWING, not (SATURATING)") {
  const TrendReport trend = told_series(13, [](std::size_t i) {
    std::string text;
    for (int f = 0; f < 5; ++f)
      text += row("main;serve;leak" + std::to_string(f), 1000 + static_cast<long long>(i) * 400,
                  10 + static_cast<long long>(i) * 4);
    const auto warm = static_cast<long long>(40'000 * (1 - std::exp(-static_cast<double>(i) / 1.5)));
    return text + row("main;serve;Cache::fill", warm, 1 + warm / 100);
  });
  const Story& story = story_of(trend);
  CHECK(story.verdict == "GROWING");
  CHECK(story.judged);
  CHECK(story.culprits.size() == 5);
  for (const Culprit& culprit : story.culprits) CHECK(culprit.verdict.word == "GROWING");
  REQUIRE(story.levelled.size() == 1);
  CHECK(names_of(story.levelled) == Names{"Cache::fill"});
  CHECK(story.levelled[0].verdict.word == "SATURATING");
}

TEST_CASE("story: a series that shrinks by a cache still names the function that climbs, by its own verdict") {
  const TrendReport trend = told_series(10, [](std::size_t i) {
    return row("main;cache.fill", i < 5 ? 400'000 : 1000, i < 5 ? 400 : 1) +
           row("main;serve;leak", 1000 + static_cast<long long>(i) * 2000, 10 + static_cast<long long>(i) * 20);
  });
  const Story& story = story_of(trend);
  CHECK(story.verdict == "GROWING");
  CHECK(names_of(story.culprits) == Names{"leak"});
  CHECK(story.culprits[0].rises == 9);
  CHECK(story.culprits[0].steps == 9);
  CHECK(names_of(story.freed) == Names{"cache.fill"});
}

TEST_CASE("story: what the net hides is said by the sign of the net, once") {
  const GrowthReport grew = told("main;a 100 1\nmain;b 900 1\n", "main;a 2000 1\nmain;b 400 1\n");
  CHECK(story_of(grew).hidden == "the net hides \u2212500\u00a0B of shrinkage under +1.86\u00a0KiB of growth");
  const GrowthReport shrank = told("main;a 2000 1\nmain;b 400 1\n", "main;a 100 1\nmain;b 900 1\n");
  CHECK(story_of(shrank).hidden == "the net hides +500\u00a0B of growth under \u22121.86\u00a0KiB of shrinkage");
}

TEST_CASE("story: a leak in staircases over many callers is one GROWING function") {
  const TrendReport trend = told_series(16, [](std::size_t i) {
    std::string text = row("main;healthy", 50'000, 50);
    for (std::size_t caller = 0; caller < 8; ++caller) {
      // Each caller allocates at every eighth snapshot: a staircase of two steps.
      const auto times = static_cast<long long>((i + 8 - caller) / 8);
      text += row("main;handler" + std::to_string(caller), 3000, 3);
      text += row("main;handler" + std::to_string(caller) + ";remember", times * 2000, times);
    }
    return text;
  });
  const Story& story = story_of(trend);
  REQUIRE(names_of(story.culprits) == Names{"remember"});
  CHECK(story.culprits[0].verdict.word == "GROWING");
  CHECK(story.culprits[0].rows_differ);
}

TEST_CASE("story: what a function allocates itself by what its callee no longer does is moved, and said so") {
  const TrendReport trend = told_series(12, [](std::size_t i) {
    const auto moved = static_cast<long long>(i) * 100'000;
    return row("main;drive", 100'000 + moved, 10 + moved / 10'000) +
           row("main;drive;noise", 2'000'000 - moved, 200 - moved / 10'000);
  });
  const Story& story = story_of(trend);
  CHECK(story.culprits.empty());
  CHECK(story.no_culprit == "stacks grew by what others of the same function lost");
  CHECK(story.moved == 1'100'000);
}

TEST_CASE("story: a population that is replaced hides no leak that ends in the same wrapper") {
  const TrendReport trend = told_series(12, [](std::size_t i) {
    const auto step = static_cast<long long>(i);
    return row("main;old;parse;blob", 2'000'000 - step * 100'000, 200) +
           row("main;fresh;parse;blob", 100'000 + step * 100'000, 200) +
           row("main;ingest;blob", 10'000 + step * 5000, 10 + step) + row("main;other;blob", 60'000, 6);
  });
  CHECK(names_of(story_of(trend).culprits) == Names{"ingest"});
  CHECK(story_of(trend).verdict == "GROWING");
}

TEST_CASE("story: a burst that was freed again is told apart, with its snapshots") {
  const TrendReport trend = told_series(12, [](std::size_t i) {
    return row("main;leak", 1000 + static_cast<long long>(i) * 500, 1 + static_cast<long long>(i)) +
           (i >= 3 && i < 7 ? row("main;scratch_phase", 60'000, 6) : std::string());
  });
  const Story& story = story_of(trend);
  REQUIRE(story.passing.size() == 1);
  CHECK(path_of(story.passing[0].path) == "main > scratch_phase");
  CHECK(story.passing[0].peak == 60'000);
  CHECK(story.passing[0].allocated == 3);
  CHECK(story.passing[0].freed == 7);
}

TEST_CASE("story: a burst in one snapshot is not said to last from it to itself") {
  const TrendReport trend = told_series(9, [](std::size_t i) {
    return row("main;leak", 1000 + static_cast<long long>(i) * 500, 1 + static_cast<long long>(i)) +
           (i == 4 ? row("main;scratch_phase", 60'000, 6) : std::string());
  });
  const auto& bands = story_of(trend).bands;
  const auto burst =
      std::find_if(bands.begin(), bands.end(), [](const Band& band) { return band.kind == Band::Kind::passing; });
  REQUIRE(burst != bands.end());
  CHECK(text_of(burst->note).ends_with(", snapshot 5"));
}

TEST_CASE("story: the next command asks for a method of Go by its whole name") {
  const GrowthReport report =
      told("main.main;example.com/a/cache.(*LRU).Put 1000 1\n", "main.main;example.com/a/cache.(*LRU).Put 90000 90\n");
  CHECK(text_of(story_of(report).next).starts_with("snapdiff peek 'example\\.com/a/cache\\.\\(\\*LRU\\)\\.Put' "));
}

TEST_CASE("story: below eight snapshots nothing has a verdict's word") {
  const TrendReport trend =
      told_series(7, [](std::size_t i) { return row("main;leak", 1000 + static_cast<long long>(i) * 500, 1); });
  CHECK(story_of(trend).verdict.empty());
  CHECK(names_of(story_of(trend).culprits) == Names{"leak"});
  CHECK(story_of(trend).culprits[0].verdict.word.empty());
  CHECK(!story_of(trend).judged);
}

TEST_CASE("story: below eight snapshots what climbs steadily comes before what scatters by more") {
  const TrendReport trend = told_series(5, [](std::size_t i) {
    constexpr std::array<long long, 5> kScatter = {4'560'640, 6'531'840, 5'094'400, 6'689'920, 7'674'560};
    return row("main;serve;collect", kScatter[i], 10) + row("main;leak", 200'000 * static_cast<long long>(i + 1), 10);
  });
  CHECK(names_of(story_of(trend).culprits) == Names{"leak", "collect"});
}

TEST_CASE("story: a series that levels off has no GROWING culprit") {
  const TrendReport trend = told_series(20, [](std::size_t i) {
    const auto warm = static_cast<long long>(100'000 * (1 - std::exp(-static_cast<double>(i) / 3)));
    return row("main;cache", warm, 1 + warm / 64);
  });
  CHECK(story_of(trend).verdict == "SATURATING");
}

TEST_CASE("story: an own type of few bytes is judged by the number of its objects") {
  const TrendReport trend = told_series(12, [](std::size_t i) {
    const auto n = static_cast<long long>(i);
    return row("[B", 50'000'000 + n * 1'000'000, 10'000 + n * 500) +
           row("com.acme.Session", 1600 + n * 8000, 100 + n * 500);
  });
  const Story& story = story_of(trend);
  CHECK(names_of(story.culprits).front() == "com.acme.Session");
  CHECK(story.culprits.front().verdict.word == "GROWING");
}

TEST_CASE("story: memory that is reserved beside what is in use is said") {
  GrowthReport report;
  report.story = std::make_shared<Story>();
  ReservedBytes before, after;
  before.reserved = 174 << 20;
  before.allocated = after.allocated = 38 << 20;
  after.reserved = 366 << 20;
  after.cached.fragments.bytes = 13 << 20;
  after.cached.releasable.bytes = 314 << 20;
  story::tell_reserved(report, before, after);
  REQUIRE(report.story->also.size() == 1);
  std::string text;
  for (const Span& span : report.story->also[0]) text += span.text;
  CHECK(text.find("fragmentation") != std::string::npos);
  CHECK(text.find("empty_cache()") != std::string::npos);
  CHECK(report.story->no_culprit.starts_with("allocated"));
  story::tell_reserved(report, before, before);
  CHECK(report.story->also.size() == 1);
}

TEST_CASE("story: a function that climbs and ends below a high first value is GROWING by its fitted rise") {
  const TrendReport trend = told_series(40, [](std::size_t i) {
    const long long noise = static_cast<long long>(i * 7919 % 13) * 4'000;
    return row("main;serve;leak", i == 0 ? 3'000'000 : 1'000'000 + static_cast<long long>(i) * 40'000 + noise,
               100 + static_cast<long long>(i));
  });
  const Story& story = story_of(trend);
  REQUIRE(names_of(story.culprits) == Names{"leak"});
  const Culprit& leak = story.culprits[0];
  CHECK(leak.verdict.word == "GROWING");
  CHECK(leak.value.growth() < 0);
  CHECK(leak.growth() > 1'000'000);
  CHECK(leak.text.label == "GROWING");
  CHECK(leak.share == 1);
  CHECK(story.freed.empty());
  CHECK(text_of(story.also.front()).find("is its fitted rise; the last snapshot holds") != std::string::npos);
}
