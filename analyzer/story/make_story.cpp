#include "analyzer/story/make_story.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

constexpr double kEnough = 0.9;         // of what has to be explained
constexpr std::size_t kMostOthers = 3;  // levelled, freed
constexpr double kStays = 0.5;  // of a part's growth: less of it in all of its function moved there from elsewhere
constexpr double kMostUnnamed = 0.5;  // of all growth: so much without a stack is said first

/// Takes out parts whose function as a whole did not grow, or fall: what one of its stacks gained another one lost, as
/// where a compiler inlines its callees from a moment on. Returns their paths.
std::vector<std::uint32_t> drop_moved(const GrowthPaths& paths, std::vector<Part>& parts) {
  std::vector<std::uint32_t> moved;
  if (parts.empty()) return moved;
  std::vector<double> net(paths.function_count(), 0);
  for (const GrowthPath& path : paths.all()) {
    if (path.growth == 0) continue;
    for (const std::uint32_t function : paths.functions(path)) net[function] += static_cast<double>(path.growth);
  }
  std::erase_if(parts, [&](const Part& part) {
    double claimed = 0;
    for (const std::uint32_t p : part.paths) claimed += static_cast<double>(paths[p].growth);
    const bool is_moved = claimed != 0 && net[part.function] / claimed < kStays;
    if (is_moved) moved.insert(moved.end(), part.paths.begin(), part.paths.end());
    return is_moved;
  });
  return moved;
}

/// A leak may be slight beside much that is RISING: paths that are GROWING and in no part are walked by themselves.
void add_growing(const Evidence& evidence, Weights left, std::vector<Part>& parts) {
  left.all = 0;
  double growing = 0;
  for (std::uint32_t p = 0; p < left.weight.size(); ++p) {
    if (evidence.explained.verdict_of(p).word != "GROWING") left.weight[p] = 0;
    growing += left.weight[p];
  }
  for (const Part& part : parts) {
    for (const std::uint32_t p : part.paths) left.weight[p] = 0;
  }
  for (const double weight : left.weight) left.all += weight;
  if (left.all < kLeastShare * growing) return;
  for (Part& part : find_parts(evidence.paths, left)) parts.push_back(std::move(part));
}

/// `moved`: gets the paths of parts that are left out because their function did not grow.
std::vector<Culprit> describe_all(const Evidence& evidence, const Weights& weights, double whole,
                                  std::vector<std::uint32_t>* moved = nullptr) {
  std::vector<Part> parts = evidence.paths.are_types() ? find_types(evidence.paths, evidence.explained, weights)
                                                       : find_parts(evidence.paths, weights);
  if (!evidence.paths.are_types()) {
    add_growing(evidence, weights, parts);
    std::vector<std::uint32_t> dropped = drop_moved(evidence.paths, parts);
    if (moved != nullptr) *moved = std::move(dropped);
  }
  if (parts.size() > 2 * kMostCulprits) parts.resize(2 * kMostCulprits);
  std::vector<Culprit> out(parts.size());
  for_each_parallel(parts.size(), evidence.paths.size(),
                    [&](std::size_t i) { out[i] = describe(evidence, parts[i], whole); });
  return out;
}

/// Growth in the second half of the series.
std::int64_t later_growth(const Culprit& culprit) {
  return culprit.values.empty() ? 0 : culprit.values.back() - culprit.values[culprit.values.size() / 2];
}

/// Whether the recording kept one frame of each stack: what a library allocated for own code then shows the library.
bool one_frame_each(const GrowthReport& report, const std::vector<Culprit>& culprits) {
  std::vector<FrameView> frames;
  return std::all_of(culprits.begin(), culprits.end(), [&](const Culprit& culprit) {
    if (culprit.rows.empty()) return false;
    report.frames(report.rows[culprit.rows.front()], frames);
    return frames.size() == 2 && frames.back().function == kStackCut;
  });
}

/// Of types the user's own come first. Growing culprits come next, by gravity; of stacks of one frame own code before
/// libraries. The others are ordered by their later growth, because a load ends and a leak continues, and where no
/// snapshots show it by the pace that their bands leave for sure.
void order(const Evidence& evidence, std::vector<Culprit>& culprits) {
  const bool types = evidence.paths.are_types();
  const bool own_first = one_frame_each(evidence.paths.report(), culprits);
  std::stable_sort(culprits.begin(), culprits.end(), [&](const Culprit& a, const Culprit& b) {
    if (types && a.own != b.own) return a.own;
    if (a.doubling != b.doubling) return b.doubling;
    if (trend::climbs(a.verdict) || trend::climbs(b.verdict)) {
      const int x = gravity(a.verdict.word), y = gravity(b.verdict.word);
      if (x != y) return x > y;
      return own_first && a.own && !b.own;
    }
    return evidence.judge.is_judged() ? later_growth(a) > later_growth(b) : sure_pace(a) > sure_pace(b);
  });
}

/// Removes functions that grew by less than kLeastLeak. If all rising functions are small, those
/// that levelled off become the culprits. Lost bytes and types count however few they are.
void drop_small(const Evidence& evidence, Story& story) {
  const GrowthReport& report = evidence.paths.report();
  if (!evidence.judge.is_judged() || evidence.paths.are_types() || report.unit != "bytes" ||
      report.metric == kLostSpace)
    return;
  const auto is_small = [](const Culprit& c) { return c.growth() < kLeastLeak; };
  if (std::erase_if(story.culprits, is_small) == 0 || !story.culprits.empty()) return;
  story.culprits = std::exchange(story.levelled, {});
  std::erase_if(story.culprits, is_small);
  order(evidence, story.culprits);
  story.judged = false;
  story.explained = static_cast<double>(report.grew);
  story.only_small = story.culprits.empty();
}

/// One path has one verdict: that which allows for all others.
void allow_for_others(const Evidence& evidence, std::vector<Culprit>& culprits) {
  for (Culprit& culprit : culprits) {
    if (culprit.verdict.word != "RISING") continue;
    for (std::uint32_t p = 0; p < evidence.paths.size(); ++p) {
      const auto rows = evidence.paths.rows(evidence.paths[p]);
      if (rows.empty() || rows.size() != culprit.rows.size() ||
          !std::binary_search(culprit.rows.begin(), culprit.rows.end(), rows[0]))
        continue;
      culprit.verdict = evidence.explained.verdict_of(p);
      break;
    }
  }
}

/// Growth that no function can be named for: the input recorded no stack, or of types that no object has.
double unnamed_growth(const GrowthPaths& paths) {
  double sum = 0;
  for (const GrowthPath& path : paths.all()) {
    const FrameView last = paths.report().view->function(paths.functions(path).back());
    if (path.growth > 0 && (paths.are_types() ? last.function == kDeadSpace : last.pseudo))
      sum += static_cast<double>(path.growth);
  }
  return sum;
}

Event unnamed_event(const GrowthPaths& paths, double unnamed) {
  const GrowthReport& report = paths.report();
  return {Event::Kind::partial,
          "Most of the growth " + (paths.are_types() ? "is " + std::string(kDeadSpace) : "has no stack"),
          prose_of(growth(report, whole_number(unnamed)), " of ", growth(report, report.grew), ", ",
                   percent_of(unnamed / static_cast<double>(report.grew)))};
}

/// Returns the paths that grew by what others of the same functions lost.
std::vector<std::uint32_t> fill(Story& story, const GrowthReport& report, const Evidence& evidence) {
  std::vector<std::uint32_t> moved;
  const Explained& explained = evidence.explained;
  story.judged = explained.judged;
  story.explained = 0;
  for (std::size_t p = 0; p < evidence.paths.size(); ++p) {
    if (explained.growing.weight[p] > 0) story.explained += std::abs(static_cast<double>(evidence.paths[p].growth));
  }
  const auto grew = static_cast<double>(report.grew);
  const double shrank = -static_cast<double>(report.shrank);
  constexpr std::size_t kTasks = 5;
  for_each_parallel(kTasks, evidence.paths.size(), [&](std::size_t task) {
    switch (task) {
      case 0: story.culprits = describe_all(evidence, explained.growing, grew, &moved); break;
      case 1:
        if (explained.judged) story.levelled = describe_all(evidence, explained.levelled, grew);
        break;
      case 2:
        if (shrank > grew) story.freed = describe_all(evidence, explained.freed, shrank);
        break;
      case 3: story.passing = find_passing(evidence.paths, evidence.judge); break;
      default: story.functions = spread_growth(evidence.paths);
    }
  });
  order(evidence, story.culprits);
  drop_small(evidence, story);
  const double held = keep_enough(story.culprits, story.explained);
  if (evidence.judge.is_judged()) allow_for_others(evidence, story.culprits);
  const double all =
      story.judged ? story.explained + (evidence.paths.are_types() ? 0 : unnamed_growth(evidence.paths)) : grew;
  story.covered = all > 0 ? std::min(1.0, held / all) : 0;
  const auto is_said = [&](const Culprit& c) {
    return std::any_of(story.culprits.begin(), story.culprits.end(), [&](const Culprit& culprit) {
      return !culprit.path.empty() && is_function(culprit.path.back(), c.path.back());
    });
  };
  std::erase_if(story.levelled,
                [&](const Culprit& c) { return c.share < kWorthSaying || c.verdict.minor || is_said(c); });
  if (story.levelled.size() > kMostOthers) story.levelled.resize(kMostOthers);
  if (story.freed.size() > kMostOthers) story.freed.resize(kMostOthers);
  for (std::uint32_t p = 0; p < evidence.paths.size(); ++p) {
    if (explained.moved[p] != 0) moved.push_back(p);
  }
  for (const std::uint32_t p : moved) story.moved += evidence.paths[p].growth;
  set_verdict(story);
  return moved;
}

/// The last function that all paths share above their ends.
std::string common_path_of(const std::vector<const Culprit*>& culprits) {
  if (culprits.empty() || culprits.front()->path.empty()) return {};
  const std::vector<FrameView>& first = culprits.front()->path;
  std::size_t common = first.size() - 1;
  for (const Culprit* culprit : culprits) {
    const std::vector<FrameView>& path = culprit->path;
    std::size_t same = 0;
    while (same < common && same + 1 < path.size() && path[same].function == first[same].function) ++same;
    common = same;
  }
  return common == 0 ? std::string() : std::string(first[common - 1].function);
}

/// Returns the rows that grew by what others of the same functions lost.
std::vector<std::uint32_t> tell_since(std::size_t first, GrowthReport& report, std::span<const Verdict> verdicts,
                                      const TimeAxis* axis) {
  const bool by_stack = report.options.by == GroupBy::stack;
  const GrowthReport* stacks = by_stack ? &report : report.by_stack.get();
  auto story = std::make_shared<Story>();
  story->first = first;
  story->events = events_of(report);
  const bool has_stacks = stacks != nullptr && stacks->view != nullptr;
  std::vector<std::uint32_t> moved;
  if (has_stacks) {
    story->snapshots = std::max<std::size_t>(2, stacks->series_length);
    GrowthPaths paths(*stacks);
    const SumJudge judge(*stacks, axis);
    const Explained explained = explain(paths, judge, verdicts);
    moved = paths.rows(fill(*story, *stacks, {paths, judge, explained}));
    if (const double bytes = unnamed_growth(paths); bytes > kMostUnnamed * static_cast<double>(stacks->grew))
      story->events.push_back(unnamed_event(paths, bytes));
  }
  finish(report, has_stacks ? stacks : nullptr, axis, *story);
  report.common_path = common_path_of(story->marked());
  report.story = std::move(story);
  return moved;
}

/// A row that rises by the losses of another stack of its functions does not leak, however steadily it rises.
void allow_for_moved(std::span<const std::uint32_t> moved, TrendReport& trend) {
  for (const std::uint32_t row : moved) {
    Verdict& verdict = trend.verdicts[row];
    if (verdict.word != "GROWING") continue;
    verdict.word = "RISING";
    verdict.reason = "rises by what other stacks of its function lose";
  }
  std::stable_partition(trend.order.begin(), trend.order.end(),
                        [&](std::uint32_t row) { return trend.verdicts[row].word == "GROWING"; });
}

/// Many small leaks add up to one that no function shows.
void tell_total(const TrendReport& trend, Story& story) {
  if (trend.whole.word != "GROWING" || !story.culprits.empty()) return;
  story.verdict = trend.whole.word;
  story.no_culprit = "the total grows by " + value(trend.series.overall, whole_number(trend.whole.slope)) +
                     " a snapshot: no single function explains it";
}

/// Bytes through a function at each of all snapshots.
std::vector<double> values_through(const GrowthReport& all, const FrameView& function) {
  std::vector<double> values(all.series_length, 0);
  std::vector<FrameView> frames;
  for (std::uint32_t row = 0; row < all.rows.size(); ++row) {
    all.frames(all.rows[row], frames);
    if (std::ranges::any_of(frames, [&](const FrameView& frame) { return is_function(frame, function); }))
      all.series.add_to(values, row);
  }
  return values;
}

/// Says of each culprit that grows in how many lives of the process it did.
void tell_lives(const TrendReport& trend, Story& story) {
  if (trend.all == nullptr || trend.all->options.by != GroupBy::stack || trend.all->series_length < kJudgedFrom) return;
  for (Culprit& culprit : story.culprits) {
    if (!trend::climbs(culprit.verdict) || culprit.path.empty() || culprit.path.back().function.empty()) continue;
    const std::vector<double> values = values_through(*trend.all, culprit.path.back());
    std::size_t lives = 0, climbing = 0;
    for (const Life& life : trend.lives) {
      if (life.size() < kJudgedFrom) continue;
      ++lives;
      const std::span<const double> part = std::span(values).subspan(life.first, life.size());
      climbing += trend::climbs(trend::judge({part, {}, {}, {}, trend::error_of_total(*trend.all)})) ? 1U : 0U;
    }
    if (lives < 2) continue;
    culprit.text.spread = "grew in " + std::to_string(climbing) + " of " + std::to_string(lives) + " lives";
  }
}

/// When the culprits that are GROWING, or the total where that is and no culprit, meet the limit over all else.
Forecast forecast_of(const TrendReport& trend) {
  const GrowthReport& report = trend.series.overall;
  const std::vector<double> total = trend::totals_of(trend.series);
  std::vector<double> climbing(total.size(), 0);
  bool any = false;
  for (const Culprit& culprit : report.story->culprits) {
    if (culprit.verdict.word != "GROWING" || culprit.values.size() != climbing.size()) continue;
    for (std::size_t i = 0; i < climbing.size(); ++i) climbing[i] += static_cast<double>(culprit.values[i]);
    any = true;
  }
  if (!any && trend.whole.word == "GROWING") climbing = total;
  const Verdict verdict = trend::judge({climbing, trend.axis.places, {}, {}, trend::error_of_total(report)});
  return trend::forecast(climbing, total, verdict, static_cast<double>(*trend.limit));
}

/// The last function of a culprit.
FrameView frame_of(const Culprit& culprit) { return culprit.path.empty() ? FrameView{} : culprit.path.back(); }

/// The one command that says most about the first culprit: who holds it where objects are recorded, else its callers
/// and callees. Empty without a culprit that has a function.
Prose next_command(const GrowthReport& report, const Story& story) {
  Writer out;
  if (report.current.snapshot != nullptr && report.current.snapshot->graph != nullptr) {
    (out << "snapdiff retained").operands(report);
    return out.take();
  }
  const std::vector<Culprit>& asked = story.culprits.empty() ? story.freed : story.culprits;
  const auto is_named = [](const Culprit& c) { return !frame_of(c).pseudo && !frame_of(c).function.empty(); };
  const auto named = std::find_if(asked.begin(), asked.end(), is_named);
  if (named == asked.end()) {
    // The symbols of its module would name the first culprit.
    const FrameView first = asked.empty() ? FrameView{} : frame_of(asked.front());
    const std::string_view module = first.module.substr(first.module.rfind('/') + 1);
    if (first.pseudo || !is_plain_word(module)) return {};
    ((out << "snapdiff").operands(report) << " --symbols /path/to/").name(module);
    return out.take();
  }
  const std::string pattern = pattern_of(frame_of(*named));
  if (pattern.empty()) return {};
  ((out << "snapdiff peek '").name(pattern) << "'").operands(report);
  return out.take();
}

}  // namespace

double keep_enough(std::vector<Culprit>& culprits, double all) {
  double held = 0;
  std::size_t kept = 0;
  while (kept < culprits.size() && kept < kMostCulprits && held < kEnough * all)
    held += static_cast<double>(culprits[kept++].growth());
  culprits.resize(kept);
  return held;
}

void set_verdict(Story& story) {
  for (const Culprit& culprit : story.culprits) {
    if (gravity(culprit.verdict.word) > gravity(story.verdict)) story.verdict = culprit.verdict.word;
  }
}

void finish(const GrowthReport& report, const GrowthReport* stacks, const TimeAxis* axis, Story& story) {
  put_into_words(report, axis, story);
  story.next = next_command(report, story);
  if (stacks != nullptr) story.bands = bands_of(*stacks, story);
  if (report.options.by == GroupBy::stack) return;
  // Rows of a report by something else than stacks are not those that the culprits were found in.
  for (std::vector<Culprit>* list : {&story.culprits, &story.levelled, &story.freed}) {
    for (Culprit& culprit : *list) culprit.rows.clear();
  }
  for (Passing& passing : story.passing) passing.rows.clear();
}

void tell(GrowthReport& report, std::span<const Verdict> verdicts, const TimeAxis* axis) {
  tell_since(1, report, verdicts, axis);
}

void tell_failure(GrowthReport& report, const OutOfMemory& failure) {
  change_story(report, [&](Story& story) { story.events.insert(story.events.begin(), event_of(failure)); });
}

void tell(TrendReport& trend) {
  GrowthReport& overall = trend.series.overall;
  const bool by_stack = overall.options.by == GroupBy::stack;
  const std::vector<std::uint32_t> moved =
      tell_since(trend.left_out + 1, overall,
                 by_stack ? std::span<const Verdict>(trend.verdicts) : std::span<const Verdict>(), &trend.axis);
  if (by_stack && !trend.verdicts.empty()) allow_for_moved(moved, trend);
  change_story(overall, [&](Story& story) {
    tell_total(trend, story);
    tell_lives(trend, story);
    if (!trend.restart.empty()) story.events.insert(story.events.begin(), restart_event(trend));
  });
  trend.all.reset();
  if (trend.limit) trend.forecast = forecast_of(trend);
}

}  // namespace snapdiff::story
