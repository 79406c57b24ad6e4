#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/base/retention.hpp"
#include "analyzer/document/prose.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/story/growth_paths.hpp"
#include "analyzer/story/sum_judge.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"

/// What a story is put together of, each part worked out in a file of its own.
namespace snapdiff::story {

using namespace document;  // its words

/// Of the most bytes of a path: more growth makes all of it growth.
inline constexpr double kMostlyGrown = 0.2;
/// So many callers of a function do not each leak by chance.
inline constexpr std::size_t kManyCallers = 4;

/// What has to be explained: how much each path weighs when culprits are looked for.
///   weight   per path, >= 0; 0 for paths that do not belong to this group
///   verdict  per path, its own; without a word where the path changes less than the floor; empty without a series
///   moved    per path: it rises by what others that end in the same function lose
struct Weights {
  std::vector<double> weight;
  double all = 0;
};
struct Explained {
  Weights growing;   ///< judged GROWING or RISING, alone or as part of a GROWING function; with too few snapshots to
                     ///< judge, and where nothing is, all that grew
  Weights levelled;  ///< the rest of what grew, where `growing` was judged
  Weights freed;     ///< what shrank
  std::vector<Verdict> verdict;
  std::vector<std::uint8_t> moved;
  bool judged = false;  ///< `growing` holds what verdicts chose

  const Verdict& verdict_of(std::size_t path) const {
    static const Verdict kNone;
    return verdict.empty() ? kNone : verdict[path];
  }
};

/// `verdicts`: of the rows of the report, or empty. Paths that are GROWING and end no higher than they began get their
/// fitted rise as growth.
Explained explain(GrowthPaths& paths, const SumJudge& judge, std::span<const Verdict> verdicts);

/// Marks paths that climb by what others that end in the same functions lose: the last one, or the last ones where that
/// allocates for others too.
std::vector<std::uint8_t> find_moved(const GrowthPaths& paths, const SumJudge& judge);

/// Growth that belongs together, and the function that it is called by.
struct Part {
  std::uint32_t function = 0;
  std::vector<std::uint32_t> paths;  ///< ascending; all run through the function
  double weight = 0;
};

/// Splits growth from the root, joins from the allocations what one function allocates for many callers, and names
/// each part by the user's function that it is purest in (README.md). Disjoint, heaviest first; parts of less than
/// kLeastShare of the whole are left out.
std::vector<Part> find_parts(const GrowthPaths& paths, const Weights& weights);

/// In one list.
inline constexpr std::size_t kMostCulprits = 5;

/// Less of the growth that has to be explained is no culprit of its own.
inline constexpr double kLeastShare = 0.05;

/// Of all growth: what levelled off or moved below it is not said.
inline constexpr double kWorthSaying = 0.01;

/// Calls change(story) for a copy of the report's story, which becomes the report's. Nothing without a story.
template <class Change>
void change_story(GrowthReport& report, Change change) {
  if (report.story == nullptr) return;
  auto story = std::make_shared<Story>(*report.story);
  change(*story);
  report.story = std::move(story);
}

/// What all describers need.
struct Evidence {
  const GrowthPaths& paths;
  const SumJudge& judge;
  const Explained& explained;
};

/// Of its pace, what its band leaves for sure: scatter returns, a leak continues.
inline double sure_pace(const Culprit& culprit) { return std::max(0.0, culprit.verdict.slope_low); }

/// Keeps the first that hold nine tenths of it, kMostCulprits at most. Returns what they hold.
double keep_enough(std::vector<Culprit>& culprits, double all);

/// The gravest of its culprits.
void set_verdict(Story& story);

/// Texts, next command and bands of a story whose culprits are found. `stacks`: the report by stack; null without one.
void finish(const GrowthReport& report, const GrowthReport* stacks, const TimeAxis* axis, Story& story);

/// Fills the values of a culprit's rows, and how many of their steps rise.
void set_values(const SumJudge& judge, Culprit& culprit);

/// Whether both are the same function, at whatever line.
bool is_function(const FrameView& frame, const FrameView& function);

/// A part as people read it: its function, file and line, its values and its verdict. `whole`: what shares are of.
Culprit describe(const Evidence& evidence, const Part& part, double whole);

/// Rows without callers (types, size classes): the parts of `weights` with the user's own types before those that a
/// runtime makes on behalf of others, where both climb.
std::vector<Part> find_types(const GrowthPaths& paths, const Explained& explained, const Weights& weights);

/// The containers of one heap that hold most, at most five, none below kLeastShare of its bytes.
std::vector<PeakPart> owned_parts(const OwnerReport& owners, std::int64_t whole);

/// The functions whose memory was allocated and freed again within the series, heaviest first, at most three: their
/// peak is at least a twentieth of the largest total above both their ends.
std::vector<Passing> find_passing(const GrowthPaths& paths, const SumJudge& judge);

/// Growth by function, where the rows of largest growth hold less than half of what changed: a table of them would say
/// nothing. Empty otherwise. Most growth first.
std::vector<FunctionGrowth> spread_growth(const GrowthPaths& paths);

/// Inputs that were read in part; two snapshots that share almost no stack.
std::vector<Event> events_of(const GrowthReport& report);
Event event_of(const OutOfMemory& failure);
Event restart_event(const TrendReport& trend);

/// Fills the texts of a story and of its culprits. `axis`: null without times.
void put_into_words(const GrowthReport& report, const TimeAxis* axis, Story& story);

/// The layers of a plot of totals: what was freed, the culprits with the heaviest on top, what was allocated and
/// freed in between. `report` is by stack. A row is in one layer at most.
std::vector<Band> bands_of(const GrowthReport& report, const Story& story);

}  // namespace snapdiff::story
