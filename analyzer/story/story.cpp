#include "analyzer/story/story.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "analyzer/story/bands.hpp"
#include "analyzer/story/commands.hpp"
#include "analyzer/story/culprits.hpp"
#include "analyzer/story/events.hpp"
#include "analyzer/story/growth_paths.hpp"
#include "analyzer/story/words.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/parallel.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kRows = 20;       // what a table shows by default
constexpr double kLittle = 0.5;         // of all growth and shrinkage
constexpr std::size_t kFunctions = 50;  // nobody reads more

bool is_spread(const GrowthReport& report) {
  const double all = static_cast<double>(report.grew) - static_cast<double>(report.shrank);
  if (report.rows.size() <= kRows || all <= 0) return false;
  std::vector<double> changes;
  for (const GrowthRow& row : report.rows) {
    if (row.value.growth() != 0) changes.push_back(std::abs(static_cast<double>(row.value.growth())));
  }
  if (changes.size() <= kRows) return false;
  std::nth_element(changes.begin(), changes.begin() + kRows, changes.end(), std::greater<>());
  double held = 0;
  for (std::size_t i = 0; i < kRows; ++i) held += changes[i];
  return held < kLittle * all;
}

struct Sum {
  std::int64_t growth = 0;
  double current = 0;
};

/// Growth by function, where the rows of largest growth hold less than half of what changed: a table of them would say
/// nothing. Empty otherwise. Most growth first.
std::vector<FunctionGrowth> spread_growth(const GrowthPaths& paths) {
  if (paths.are_types() || !is_spread(paths.report())) return {};
  std::vector<Sum> sums(paths.function_count());
  for (const GrowthPath& path : paths.all()) {
    for (const std::uint32_t function : paths.functions(path)) {
      Sum& sum = sums[function];
      if (!checked_add(sum.growth, path.growth, sum.growth)) return {};
      sum.current += path.current;
    }
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t function = 0; function < sums.size(); ++function) {
    if (sums[function].growth > 0) order.push_back(function);
  }
  const std::size_t kept = std::min(order.size(), kFunctions);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return sums[a].growth != sums[b].growth ? sums[a].growth > sums[b].growth : a < b;
                    });
  order.resize(kept);
  std::vector<FunctionGrowth> out;
  const auto grew = static_cast<double>(paths.report().grew);
  for (const std::uint32_t function : order) {
    const double current = sums[function].current + paths.level_through(function);
    FunctionGrowth found;
    found.function = paths.report().view->function(function);
    found.growth = sums[function].growth;
    found.current = std::llround(std::clamp(current, -9e18, 9e18));
    found.share = grew > 0 ? static_cast<double>(found.growth) / grew : 0;
    out.push_back(found);
  }
  return out;
}

constexpr double kPeak = 0.05;  // of the largest total
constexpr std::size_t kMost = 3;

std::vector<FrameView> own_frames(const GrowthReport& report, std::uint32_t row) {
  std::vector<FrameView> frames, out;
  report.frames(report.rows[row], frames);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (!frame->library) out.push_back(*frame);
  }
  if (out.empty() && !frames.empty()) out.push_back(frames.front());
  return out;
}

struct Peak {
  std::size_t path;
  std::size_t at;
  std::int64_t height;  ///< above both ends
};

/// The values of one path after the other. Of a sparse series only those that a path's rows have are looked at.
class PathValues {
 public:
  explicit PathValues(const GrowthReport& report) : series_(report.series), values_(report.series_length, 0) {}
  double operator[](std::size_t i) const { return values_[i]; }

  /// Adds the rows to zeros; returns where the sum is largest, the first of several.
  std::size_t add_up(std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) series_.add_to(values_, row);
    if (!series_.sparse())
      return static_cast<std::size_t>(std::max_element(values_.begin(), values_.end()) - values_.begin());
    std::size_t most = 0;
    for (const std::uint32_t row : rows) {
      series_.for_each(row, [&](std::size_t i, std::int64_t) {
        if (values_[i] > values_[most] || (values_[i] == values_[most] && i < most)) most = i;
      });
    }
    return most;
  }
  void clear(std::span<const std::uint32_t> rows) {
    if (!series_.sparse()) return std::fill(values_.begin(), values_.end(), 0);
    for (const std::uint32_t row : rows) series_.for_each(row, [&](std::size_t i, std::int64_t) { values_[i] = 0; });
  }

 private:
  const SeriesValues& series_;
  std::vector<double> values_;
};

/// The functions whose memory was allocated and freed again within the series, heaviest first, at most three: their
/// peak is at least a twentieth of the largest total above both their ends.
std::vector<Passing> find_passing(const GrowthReport& report, const GrowthPaths& paths) {
  const std::size_t n = report.series_length;
  std::vector<Passing> out;
  if (n < 3 || report.series.size() != n * report.rows.size()) return out;
  std::vector<double> totals(n, 0);
  for (std::size_t row = 0; row < report.rows.size(); ++row) report.series.add_to(totals, row);
  const double least = kPeak * *std::max_element(totals.begin(), totals.end());
  PathValues values(report);
  std::vector<Peak> peaks;
  for (std::size_t p = 0; p < paths.all().size(); ++p) {
    const std::size_t at = values.add_up(paths.rows(paths.all()[p]));
    const double height = values[at] - std::max(values[0], values[n - 1]);
    if (height > least && height > 0) peaks.push_back({p, at, std::llround(std::min(height, 9e18))});
    values.clear(paths.rows(paths.all()[p]));
  }
  std::stable_sort(peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) { return a.height > b.height; });
  if (peaks.size() > kMost) peaks.resize(kMost);
  for (const Peak& peak : peaks) {
    const auto& rows = paths.rows(paths.all()[peak.path]);
    values.add_up(rows);
    Passing found;
    found.peak = peak.height;
    for (std::size_t i = 1; i < n; ++i) {
      const auto step = [&](std::size_t at) { return values[at] - values[at - 1]; };
      if (i <= peak.at && (found.allocated == 0 || step(i) > step(found.allocated))) found.allocated = i;
      if (i > peak.at && (found.freed == 0 || step(i) < step(found.freed))) found.freed = i;
    }
    found.path = own_frames(report, rows.front());
    found.rows.assign(rows.begin(), rows.end());
    for (std::size_t i = 0; i < n; ++i) found.values.push_back(std::llround(std::clamp(values[i], -9e18, 9e18)));
    values.clear(rows);
    out.push_back(std::move(found));
  }
  return out;
}

constexpr std::size_t kMostCulprits = 5;
constexpr double kEnough = 0.9;         // of what has to be explained
constexpr std::size_t kMostOthers = 3;  // levelled, freed
constexpr double kSpeaks = 0.1;         // of the explained growth: a culprit whose verdict may be the headline's
constexpr double kWorthSaying = 0.01;   // of all growth: what levelled off

std::vector<Culprit> describe_all(const Evidence& evidence, const Weights& weights, double whole) {
  std::vector<Part> parts = evidence.paths.are_types() ? find_types(evidence.paths, evidence.explained, weights)
                                                       : find_parts(evidence.paths, weights);
  if (parts.size() > 2 * kMostCulprits) parts.resize(2 * kMostCulprits);
  std::vector<Culprit> out(parts.size());
  for_each_parallel(parts.size(), evidence.paths.size(),
                    [&](std::size_t i) { out[i] = describe(evidence, parts[i], whole); });
  return out;
}

/// As many as hold most of it, five at most.
void keep_enough(std::vector<Culprit>& culprits, double all) {
  double held = 0;
  std::size_t kept = 0;
  while (kept < culprits.size() && kept < kMostCulprits && held < kEnough * all)
    held += static_cast<double>(culprits[kept++].value.growth());
  culprits.resize(kept);
}

void order_by_verdict(std::vector<Culprit>& culprits) {
  std::stable_sort(culprits.begin(), culprits.end(), [](const Culprit& a, const Culprit& b) {
    if (a.doubling != b.doubling) return b.doubling;
    return gravity(a.verdict.word) > gravity(b.verdict.word);
  });
}

/// Exact growth below which nothing is said.
double net_of(const std::vector<Culprit>& culprits) {
  double sum = 0;
  for (const Culprit& culprit : culprits) sum += static_cast<double>(culprit.value.growth());
  return sum;
}

double growth_of(const GrowthPaths& paths, const Weights& weights) {
  double sum = 0;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    if (weights.weight[p] > 0) sum += std::abs(static_cast<double>(paths[p].growth));
  }
  return sum;
}

void fill(Story& story, const GrowthReport& report, const Evidence& evidence) {
  const Explained& explained = evidence.explained;
  story.judged = explained.judged;
  story.explained = growth_of(evidence.paths, explained.growing);
  const auto grew = static_cast<double>(report.grew);
  const double shrank = -static_cast<double>(report.shrank);
  constexpr std::size_t kTasks = 5;
  for_each_parallel(kTasks, evidence.paths.size(), [&](std::size_t task) {
    switch (task) {
      case 0: story.culprits = describe_all(evidence, explained.growing, grew); break;
      case 1:
        if (explained.judged) story.levelled = describe_all(evidence, explained.levelled, grew);
        break;
      case 2:
        if (shrank > grew) story.freed = describe_all(evidence, explained.freed, shrank);
        break;
      case 3: story.passing = find_passing(report, evidence.paths); break;
      default: story.functions = spread_growth(evidence.paths);
    }
  });
  if (evidence.judge.is_judged() && !evidence.paths.are_types()) order_by_verdict(story.culprits);
  keep_enough(story.culprits, story.explained);
  story.covered = story.explained > 0 ? std::min(1.0, net_of(story.culprits) / story.explained) : 0;
  std::erase_if(story.levelled, [&](const Culprit& c) { return c.share < kWorthSaying; });
  if (story.levelled.size() > kMostOthers) story.levelled.resize(kMostOthers);
  if (story.freed.size() > kMostOthers) story.freed.resize(kMostOthers);
  for (std::size_t p = 0; p < evidence.paths.size(); ++p) {
    if (explained.moved[p] != 0) story.moved += evidence.paths[p].growth;
  }
  for (const Culprit& culprit : story.culprits) {
    const bool first = &culprit == &story.culprits.front();
    const bool speaks = first || static_cast<double>(culprit.value.growth()) >= kSpeaks * story.explained;
    if (speaks && gravity(culprit.verdict.word) > gravity(story.verdict)) story.verdict = culprit.verdict.word;
  }
}

/// The last function that all paths share above their ends.
std::string common_path_of(const std::vector<Suspect>& suspects) {
  if (suspects.empty() || suspects.front().path.empty()) return {};
  std::size_t common = suspects.front().path.size() - 1;
  for (const Suspect& suspect : suspects) {
    std::size_t same = 0;
    while (same < common && same + 1 < suspect.path.size() &&
           suspect.path[same].function == suspects.front().path[same].function)
      ++same;
    common = same;
  }
  return common == 0 ? std::string() : std::string(suspects.front().path[common - 1].function);
}

}  // namespace

std::vector<Suspect> suspects_of(const Story& story, bool with_rows) {
  std::vector<Suspect> out;
  const auto add = [&](const Culprit& culprit) {
    Suspect suspect;
    suspect.path = culprit.path;
    suspect.growth = culprit.value.growth();
    suspect.share = culprit.share;
    suspect.sites = culprit.sites;
    if (with_rows) suspect.rows = culprit.rows;
    out.push_back(std::move(suspect));
  };
  for (const Culprit& culprit : story.culprits) add(culprit);
  for (const Culprit& culprit : story.freed) add(culprit);
  return out;
}

int gravity(std::string_view word) {
  constexpr std::array<std::string_view, 7> kWords = {"FLAT", "NOISY",  "SATURATING", "NEW",
                                                      "STEP", "RISING", "GROWING"};
  const auto at = std::find(kWords.begin(), kWords.end(), word);
  return at == kWords.end() ? 0 : static_cast<int>(at - kWords.begin()) + 1;
}

namespace {

/// Rows of a report by something else than stacks are not those that the culprits were found in.
void forget_rows(Story& story) {
  for (std::vector<Culprit>* list : {&story.culprits, &story.levelled, &story.freed}) {
    for (Culprit& culprit : *list) culprit.rows.clear();
  }
  for (Passing& passing : story.passing) passing.rows.clear();
}

void tell_since(std::size_t first, GrowthReport& report, std::span<const Verdict> verdicts, const TimeAxis* axis) {
  const bool by_stack = report.options.by == GroupBy::stack;
  const GrowthReport* stacks = by_stack ? &report : report.by_stack.get();
  auto story = std::make_shared<Story>();
  story->first = first;
  const bool has_stacks = stacks != nullptr && stacks->view != nullptr;
  if (has_stacks) {
    story->snapshots = std::max<std::size_t>(2, stacks->series_length);
    const GrowthPaths paths(*stacks);
    const SumJudge judge(*stacks, axis);
    const Explained explained = explain(paths, judge, verdicts);
    fill(*story, *stacks, {paths, judge, explained});
  }
  story->events = events_of(report);
  put_into_words(report, axis, *story);
  story->next = next_command(report, *story);
  if (has_stacks) story->bands = bands_of(*stacks, *story);
  if (!by_stack) forget_rows(*story);
  report.suspects = suspects_of(*story, by_stack);
  report.common_path = common_path_of(report.suspects);
  report.story = std::move(story);
}

void put_first(GrowthReport& report, Event event) {
  if (report.story == nullptr) return;
  auto story = std::make_shared<Story>(*report.story);
  story->events.insert(story->events.begin(), std::move(event));
  report.story = std::move(story);
}

}  // namespace

void tell(GrowthReport& report, std::span<const Verdict> verdicts, const TimeAxis* axis) {
  tell_since(1, report, verdicts, axis);
}

void tell_failure(GrowthReport& report, const OutOfMemory& failure) { put_first(report, event_of(failure)); }

void tell(TrendReport& trend) {
  GrowthReport& overall = trend.series.overall;
  const bool by_stack = overall.options.by == GroupBy::stack;
  tell_since(trend.left_out + 1, overall,
             by_stack ? std::span<const Verdict>(trend.verdicts) : std::span<const Verdict>(), &trend.axis);
  if (trend.left_out > 0) put_first(overall, restart_event(trend));
}

}  // namespace snapdiff::story
