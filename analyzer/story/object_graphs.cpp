#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/base/function_name.hpp"
#include "analyzer/base/object_graph.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

/// Rows of a report by the type that they are of.
class TypeRows {
 public:
  explicit TypeRows(const GrowthReport& report) : report_(report) {
    std::vector<FrameView> frames;
    for (std::uint32_t row = 0; row < report.rows.size(); ++row) {
      report.frames(report.rows[row], frames);
      if (frames.size() == 1) row_of_.try_emplace(frames.front().function, row);
    }
  }
  /// Graphs name the kind too: "[J (primitive array)".
  std::optional<std::uint32_t> find(std::string_view type) const {
    auto at = row_of_.find(type);
    if (at == row_of_.end() && type.ends_with(')')) at = row_of_.find(type.substr(0, type.rfind(" (")));
    return at == row_of_.end() ? std::nullopt : std::optional(at->second);
  }
  FrameView frame(std::uint32_t row) const {
    std::vector<FrameView> frames;
    report_.frames(report_.rows[row], frames);
    return frames.front();
  }

 private:
  const GrowthReport& report_;
  std::unordered_map<std::string_view, std::uint32_t> row_of_;
};

bool holds(std::span<const std::uint32_t> rows, std::uint32_t row) {
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

bool share_rows(const Culprit& a, const Culprit& b) {
  return std::ranges::any_of(b.rows, [&](std::uint32_t row) { return holds(a.rows, row); });
}

std::string_view without_package(std::string_view type) {
  if (type.find_first_of(" /<:") != std::string_view::npos) return type;
  const std::size_t dot = type.rfind('.');
  return dot == std::string_view::npos || dot + 1 == type.size() ? type : type.substr(dot + 1);
}

/// "long[]" of "[J (primitive array)", as tables have it.
std::string short_type(std::string_view type) {
  if (type.starts_with('[') && type.ends_with(')')) return short_function_name(type.substr(0, type.rfind(" (")));
  return std::string(without_package(type));
}

/// "(Stack roots)" of "(Stack roots) (synthetic)".
std::string without_kind(std::string holder) {
  constexpr std::string_view kKind = " (synthetic)";
  if (const std::size_t at = holder.find(kKind); at != std::string::npos) holder.erase(at, kKind.size());
  return holder;
}

/// "keeps 3 600 more Order, in 8 of 8 steps".
Prose pace_of(const Owner& owner, const Culprit& culprit) {
  Writer text;
  const std::int64_t more = owner.held.growth();
  if (!owner.detached_type.empty()) text << "detached DOM: " << count(owner.detached.growth()) << " nodes more";
  if (more > 0) (text << (text.empty() ? "keeps " : ", ") << count(more) << " more ").name(short_type(owner.type));
  if (!culprit.verdict.word.empty() && culprit.verdict.word != "GROWING" && culprit.verdict.word != "RISING")
    text << (text.empty() ? "" : ", ") << culprit.verdict.reason;
  else if (culprit.steps > 1)
    text << (text.empty() ? "in " : ", in ") << count(culprit.rises) << " of " << count(culprit.steps) << " steps";
  return text.take();
}

void name(const Owner& owner, Culprit& culprit) {
  Writer holder;
  if (owner.detached_type.empty()) {
    holder.name(without_kind(owner.holder));
  } else {
    (holder << "detached DOM ")
        .name(std::string_view(owner.detached_type).substr(0, owner.detached_type.rfind(" (native)")));
  }
  culprit.text.name = holder.take();
  Writer via;
  if (!owner.detached_type.empty()) (via << "held by ").name(owner.holder);
  if (!owner.above.empty()) (via << (owner.detached_type.empty() ? "in " : " in ")).name(owner.above);
  culprit.text.via = via.take();
  culprit.text.pace = pace_of(owner, culprit);
}

Culprit culprit_of(const Owner& owner, const TypeRows& types, const SumJudge& judge, double whole) {
  Culprit out;
  out.is_owner = true;
  out.own = owner.own;
  out.value = owner.retained;
  out.objects = owner.held;
  out.share = whole > 0 ? std::min(1.0, static_cast<double>(owner.retained.growth()) / whole) : 0;
  for (const std::string& type : owner.types) {
    if (const auto row = types.find(type)) out.rows.push_back(*row);
  }
  const std::optional<std::uint32_t> held = types.find(owner.type);
  if (held) out.path = {types.frame(*held)};
  if (out.rows.empty() && held) out.rows = {*held};
  std::sort(out.rows.begin(), out.rows.end());
  out.rows.erase(std::unique(out.rows.begin(), out.rows.end()), out.rows.end());
  set_values(judge, out);
  if (judge.has_series()) {
    out.verdict = judge.judge(out.rows);
    if (held) {
      const Verdict of_type = judge.judge_type(std::vector<std::uint32_t>{*held});
      if (gravity(of_type.word) > gravity(out.verdict.word)) out.verdict = of_type;
    }
    if (!judge.is_judged()) out.verdict.word.clear();
  }
  name(owner, out);
  return out;
}

}  // namespace

std::vector<PeakPart> owned_parts(const OwnerReport& owners, std::int64_t whole) {
  std::vector<PeakPart> out;
  for (const Owner& owner : owners.owners) {
    const double share =
        static_cast<double>(owner.retained.current) / static_cast<double>(std::max<std::int64_t>(whole, 1));
    if (out.size() == kMostCulprits || share < kLeastShare) break;
    PeakPart part;
    part.is_owner = true;
    part.own = owner.own;
    part.value = {owner.retained.current, owner.retained.current};
    part.objects = {owner.held.current, owner.held.current};
    part.share = share;
    name(owner, part);
    part.text.label = "keeps";
    part.text.growth = sized(owner.retained.current);
    part.text.share = percent_of(share);
    Writer kept;
    (kept << count(owner.held.current) << " ").name(short_type(owner.type));
    part.text.pace = kept.take();
    out.push_back(std::move(part));
  }
  std::stable_sort(out.begin(), out.end(), [](const PeakPart& a, const PeakPart& b) { return a.own && !b.own; });
  return out;
}

void tell_objects(GrowthReport& report, const OwnerReport& owners, const TimeAxis* axis) {
  const bool by_stack = report.options.by == GroupBy::stack;
  const GrowthReport* types_report = by_stack ? &report : report.by_stack.get();
  if (report.story == nullptr || types_report == nullptr || types_report->view == nullptr) return;
  const TypeRows types(*types_report);
  const SumJudge judge(*types_report, axis);
  auto story = std::make_shared<Story>(*report.story);
  const auto rises = [](const Culprit& c) { return trend::climbs(c.verdict); };
  // A type that grows has to be explained, however few its bytes.
  std::vector<Culprit> climbing = story->culprits, found;
  std::erase_if(climbing, [&](const Culprit& c) { return !rises(c); });
  double all = 0;
  for (const Owner& owner : owners.owners) all += static_cast<double>(owner.retained.growth());
  // Objects of one type that came here and went there show in what their owners gained, not in the type's growth.
  const double whole = std::max(all, static_cast<double>(types_report->grew));
  for (const Owner& owner : owners.owners) {
    const std::optional<std::uint32_t> held = types.find(owner.type);
    const bool holds_climbing =
        held && std::any_of(climbing.begin(), climbing.end(), [&](const Culprit& c) { return holds(c.rows, *held); });
    if (static_cast<double>(owner.retained.growth()) < kLeastShare * all && !holds_climbing) continue;
    found.push_back(culprit_of(owner, types, judge, whole));
  }
  if (found.empty()) return;
  for (Culprit& type : climbing) {
    const auto tells = [&](const Culprit& owner) { return rises(owner) && share_rows(owner, type); };
    if (std::ranges::none_of(found, tells)) found.push_back(std::move(type));
  }
  std::stable_sort(found.begin(), found.end(), [&](const Culprit& a, const Culprit& b) {
    if (gravity(a.verdict.word) != gravity(b.verdict.word)) return gravity(a.verdict.word) > gravity(b.verdict.word);
    if (a.own != b.own) return a.own;
    return !judge.is_judged() && sure_pace(a) > sure_pace(b);
  });
  double held = keep_enough(found, all);
  // A container that levelled off is not a culprit beside one that still grows.
  if (rises(found.front())) {
    const auto end = std::stable_partition(found.begin(), found.end(), rises);
    for (auto at = end; at != found.end(); ++at) held -= static_cast<double>(at->value.growth());
    story->levelled.insert(story->levelled.begin(), std::make_move_iterator(end), std::make_move_iterator(found.end()));
    found.erase(end, found.end());
  }
  story->culprits = std::move(found);
  story->explained = whole;
  story->covered = story->explained > 0 ? std::min(1.0, held / story->explained) : 0;
  story->verdict = story->culprits.front().verdict.word;
  story->judged = false;
  const auto is_told = [&](const Culprit& type) {
    return std::ranges::any_of(story->culprits, [&](const Culprit& told) { return share_rows(told, type); });
  };
  std::erase_if(story->levelled, [&](const Culprit& c) { return !c.is_owner && is_told(c); });
  finish(report, types_report, axis, *story);
  report.story = std::move(story);
}

}  // namespace snapdiff::story
