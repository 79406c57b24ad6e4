#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "analyzer/base/torch_frames.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/story/story_parts.hpp"
#include "snapdiff/device_memory.hpp"

namespace snapdiff::story {
namespace {

constexpr double kOfForward = 0.9;          // of what a forward pass leaves: a function that may name it
constexpr std::size_t kStacksOfAGraph = 3;  // so many stacks of one forward pass are not kept one by one

/// What iterations leave behind, split into what belongs together: all that a forward pass leaves is one thing (a graph
/// that is kept keeps all of it), everything else is split as growth is.
class LeftParts {
 public:
  explicit LeftParts(const GrowthPaths& paths) : paths_(paths) {
    for (const GrowthPath& path : paths.all()) {
      weights_.weight.push_back(std::max(0.0, static_cast<double>(path.growth)));
      weights_.all += weights_.weight.back();
    }
  }

  const Weights& weights() const { return weights_; }

  std::vector<Part> find() {
    std::vector<std::uint32_t> forward;
    std::size_t stacks = 0;
    for (std::uint32_t p = 0; p < paths_.size(); ++p) {
      if (weights_.weight[p] <= 0 || !is_of_forward(p)) continue;
      forward.push_back(p);
      stacks += paths_[p].rows;
    }
    Weights others = weights_;
    std::vector<Part> parts;
    if (stacks >= kStacksOfAGraph) {
      parts.push_back(whole_of(forward));
      for (const std::uint32_t p : parts.front().paths) others.weight[p] = 0;
      others.all -= parts.front().weight;
    }
    if (others.all > 0) {
      std::vector<Part> rest = find_parts(paths_, others);
      std::move(rest.begin(), rest.end(), std::back_inserter(parts));
    }
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.weight > b.weight; });
    return parts;
  }

 private:
  bool is_of_forward(std::uint32_t path) {
    const GrowthReport& report = paths_.report();
    const auto rows = paths_.rows(paths_[path]);
    report.frames(report.rows[rows.front()], frames_);
    return std::any_of(frames_.begin(), frames_.end(),
                       [](const FrameView& frame) { return is_module_call(frame.function, frame.file); });
  }

  /// The deepest function that nearly all of these run through, with what its callers allocate beside it: the loss of
  /// a graph that is kept.
  Part whole_of(std::vector<std::uint32_t> forward) const {
    std::map<std::uint32_t, std::pair<double, std::size_t>> carried;  // function: bytes, its depth at most
    double all = 0;
    for (const std::uint32_t p : forward) {
      const auto functions = paths_.functions(paths_[p]);
      for (std::size_t i = 0; i < functions.size(); ++i) {
        auto& [bytes, depth] = carried[functions[i]];
        bytes += weights_.weight[p];
        depth = std::max(depth, i);
      }
      all += weights_.weight[p];
    }
    Part out;
    std::size_t deepest = 0;
    for (const auto& [function, through] : carried) {
      if (through.first < kOfForward * all || through.second < deepest) continue;
      deepest = through.second;
      out.function = function;
    }
    const auto functions = paths_.functions(paths_[forward.front()]);
    for (std::uint32_t p = 0; p < paths_.size(); ++p) {
      const auto own = paths_.functions(paths_[p]);
      const bool is_caller = own.size() < functions.size() && std::equal(own.begin(), own.end(), functions.begin());
      const bool is_forward = std::binary_search(forward.begin(), forward.end(), p);
      if (weights_.weight[p] <= 0 || !(is_forward || is_caller)) continue;
      out.paths.push_back(p);
      out.weight += weights_.weight[p];
    }
    return out;
  }

  const GrowthPaths& paths_;
  Weights weights_;
  std::vector<FrameView> frames_;
};

/// "+1.50 MiB and 12 blocks an iteration, in 11 of 11".
std::string pace_of(const GrowthReport& left, const Culprit& culprit, bool each) {
  const auto steps = static_cast<std::int64_t>(culprit.steps);
  if (steps == 0) return {};
  bool same = true;
  for (std::size_t i = 2; i < culprit.values.size(); ++i)
    same = same && culprit.values[i] - culprit.values[i - 1] == culprit.values[1] - culprit.values[0];
  std::string text = growth(left, culprit.value.growth() / steps);
  if (culprit.objects.growth() % steps == 0) text += " in " + amount_of(culprit.objects.growth() / steps, "block");
  text += each ? " an iteration" : " a snapshot";
  if (!same) text += " on average";
  return text + ", in " + count(culprit.rises) + " of " + count(steps);
}

/// Rows of the report whose stacks are those of rows of the other one; none where its rows are no stacks.
void point_to(const GrowthReport& report, const GrowthReport& left, Culprit& culprit) {
  const auto stack_of = [](const GrowthReport& of, std::uint32_t row) {
    const StackRef& stack = of.stacks[of.rows[row].key];
    return std::pair(stack.stack, stack.side);
  };
  std::set<std::pair<StackId, std::uint8_t>> stacks;
  for (const std::uint32_t row : std::exchange(culprit.rows, {})) stacks.insert(stack_of(left, row));
  if (report.options.by != GroupBy::stack) return;
  for (std::uint32_t row = 0; row < report.rows.size(); ++row) {
    if (stacks.contains(stack_of(report, row))) culprit.rows.push_back(row);
  }
}

/// What the snapshots say of the loop that they are moments of.
std::string_view loop_note(const GrowthReport& report) {
  for (const SnapshotRef* ref : {&report.baseline, &report.current}) {
    if (ref->snapshot == nullptr) continue;
    for (const Note& note : ref->snapshot->facts.notes.all()) {
      if (note.text.starts_with(kIterationsNote)) return note.text;
    }
  }
  return {};
}

}  // namespace

void tell_iterations(GrowthReport& report, const TrendReport& left_trend) {
  const GrowthReport& left = left_trend.series.overall;
  if (report.story == nullptr || left.view == nullptr || left.options.by != GroupBy::stack) return;
  auto story = std::make_shared<Story>(*report.story);
  GrowthPaths paths(left);
  const SumJudge judge(left, &left_trend.axis);
  const Explained explained = explain(paths, judge, left_trend.verdicts);
  LeftParts parts(paths);
  story->explained = parts.weights().all;
  story->culprits.clear();
  story->levelled.clear();
  story->moved = 0;
  story->verdict.clear();
  const bool each = loop_note(report).find(kEveryNth) == std::string_view::npos;
  double held = 0;
  for (const Part& part : parts.find()) {
    if (story->culprits.size() == kMostCulprits || part.weight < kLeastShare * story->explained) break;
    Culprit culprit = describe({paths, judge, explained}, part, story->explained);
    held += static_cast<double>(culprit.value.growth());
    point_to(report, left, culprit);
    story->culprits.push_back(std::move(culprit));
  }
  set_verdict(*story);
  story->judged = judge.is_judged() && !story->culprits.empty();
  story->covered = story->explained > 0 ? std::min(1.0, held / story->explained) : 0;
  put_into_words(report, &left_trend.axis, *story);
  for (Culprit& culprit : story->culprits) culprit.text.pace = prose_of(pace_of(left, culprit, each));
  if (const std::string_view note = loop_note(report); !note.empty()) story->also.push_back(prose_of(note));
  if (story->culprits.empty()) {
    story->next.clear();
    story->no_culprit = "iterations leave nothing behind";
    story->no_verdict.clear();
    story->headline = prose_of("No leak: ", value(report, report.total.current), " in use after each iteration");
  } else {
    story->also.push_back(prose_of("leaked by iterations: ", value(left, left.total.growth()), " in ",
                                   amount_of(left.total_objects.growth(), "block")));
  }
  if (report.options.by == GroupBy::stack) story->bands = bands_of(report, *story);
  report.story = std::move(story);
}

}  // namespace snapdiff::story
