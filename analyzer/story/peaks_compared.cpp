#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kMostChanges = 3;
constexpr double kWorthAChange = 0.01;   // of the larger of two moments
constexpr std::size_t kFewLines = 2;     // prove nothing about all of forward
constexpr double kWorthALine = 0.02;     // of the activations
constexpr double kWorthReserved = 0.05;  // of what is reserved: growth beside that of what is in use
constexpr double kSameRatio = 0.02;      // so far apart, ratios are the same

/// "2.00"
std::string ratio_text(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "\u00d7 %.2f", ratio);
  return text;
}

/// Roles whose bytes differ, the most first.
struct RoleChange {
  std::string_view role;
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t size() const { return std::abs(after - before); }
};
std::vector<RoleChange> changes_of(const MemoryPeak& before, const MemoryPeak& after) {
  std::map<std::string_view, RoleChange> roles;
  for (const PeakRole& role : before.roles) roles[role.role].before = role.bytes;
  for (const PeakRole& role : after.roles) roles[role.role].after = role.bytes;
  std::vector<RoleChange> out;
  const auto least =
      static_cast<std::int64_t>(kWorthAChange * static_cast<double>(std::max(before.bytes, after.bytes)));
  for (auto& [name, change] : roles) {
    change.role = name;
    if (change.size() > least) out.push_back(change);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const RoleChange& a, const RoleChange& b) { return a.size() > b.size(); });
  return out;
}

/// What scales with the batch or the length of a sequence, where the model is the same.
bool is_of_data(std::string_view role) {
  return role == "activation" || role == "autograd detail" || role == "temporary" || role == "input";
}

/// "activation 3.66 -> 6.64 GiB (x 1.81)".
std::string change_of(const RoleChange& change) {
  std::string text = std::string(change.role) + " " + sized(change.before) + " \u2192 " + sized(change.after);
  if (change.before <= 0 || change.after <= 0) return text;
  return text + " (" + ratio_text(static_cast<double>(change.after) / static_cast<double>(change.before)) + ")";
}

std::string changes_text(const std::vector<RoleChange>& changes) {
  std::string text;
  for (std::size_t i = 0; i < changes.size() && i < kMostChanges; ++i)
    text += (i == 0 ? "" : ", ") + change_of(changes[i]);
  return text;
}

/// By how much the least and the most the heaviest lines of forward scale.
struct Scaling {
  double least = 0;
  double most = 0;
  bool is_even() const { return most <= least * (1 + kSameRatio); }
};

/// A line of a program: function, base name of its file, number.
using LineKey = std::tuple<std::string_view, std::string_view, std::int32_t>;

/// Activations by line, those that are a part of all activations worth a look.
std::map<LineKey, std::int64_t> activations_by_line(const PeakStory& peak) {
  std::map<LineKey, std::int64_t> out;
  std::int64_t all = 0;
  for (const PeakRole& role : peak.facts.roles) all += role.role == "activation" ? role.bytes : 0;
  for (std::size_t i = 0; i < peak.parts.size(); ++i) {
    const std::int64_t held = peak.parts[i].value.current;
    if (peak.roles[i] != "activation" || static_cast<double>(held) < kWorthALine * static_cast<double>(all)) continue;
    const FrameView& line = peak.parts[i].path.front();
    out[{line.function, base_name(line.file), line.line}] += held;
  }
  return out;
}

std::optional<Scaling> scaling_of(const PeakStory& before, const PeakStory& after) {
  const auto old_lines = activations_by_line(before);
  std::vector<double> ratios;
  for (const auto& [line, held] : activations_by_line(after)) {
    const auto old = old_lines.find(line);
    if (old != old_lines.end()) ratios.push_back(static_cast<double>(held) / static_cast<double>(old->second));
  }
  if (ratios.size() <= kFewLines) return std::nullopt;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return Scaling{*least, *most};
}

/// Only what depends on the data differs.
std::string guess_text(const PeakStory& before, const PeakStory& after) {
  constexpr std::string_view kAlike = ", all else alike: another ";
  const std::optional<Scaling> scaling = scaling_of(before, after);
  if (!scaling) return std::string(kAlike) + "batch size or length of sequence?";
  if (scaling->is_even() && std::abs(scaling->most - 1) <= kSameRatio) return "; lines of forward are alike";
  if (scaling->is_even())
    return "; everything in forward " + ratio_text(scaling->most) + std::string(kAlike) +
           "batch size or length of sequence?";
  return "; lines of forward " + ratio_text(scaling->least) + " to " + ratio_text(scaling->most) + std::string(kAlike) +
         "length of sequence?";
}

void say_first(GrowthReport& report, Prose line, Prose next) {
  change_story(report, [&](Story& story) {
    story.also.insert(story.also.begin(), std::move(line));
    if (!next.empty()) story.next = std::move(next);
  });
}

}  // namespace

void tell_peaks(GrowthReport& report, const PeakStory& before, const PeakStory& after) {
  if (report.story == nullptr) return;
  const std::int64_t growth = after.facts.bytes - before.facts.bytes;
  const std::vector<RoleChange> changes = changes_of(before.facts, after.facts);
  if (changes.empty()) return;
  Writer line;
  line << "at the peak " << sized(before.facts.bytes) << " \u2192 " << sized(after.facts.bytes) << ": "
       << changes_text(changes);
  if (std::all_of(changes.begin(), changes.end(), [](const RoleChange& c) { return is_of_data(c.role); }))
    line << guess_text(before, after);
  Prose next;
  if (std::abs(growth) > std::abs(report.total.growth()) && !report.baseline.ref.empty() &&
      !report.current.ref.empty()) {
    Writer command;
    command << "snapdiff";
    for (const SnapshotRef* side : {&report.baseline, &report.current}) command.operand(*side) << "@peak";
    next = command.take();
    line << " (" << next << ")";
  }
  say_first(report, line.take(), std::move(next));
}

void tell_reserved(GrowthReport& report, const ReservedBytes& before, const ReservedBytes& after) {
  if (report.story == nullptr) return;
  const Change reserved{before.reserved, after.reserved}, allocated{before.allocated, after.allocated};
  const std::int64_t unused = reserved.growth() - std::max<std::int64_t>(allocated.growth(), 0);
  if (static_cast<double>(unused) < kWorthReserved * static_cast<double>(after.reserved)) return;
  // More that can go back is a cache of blocks of many sizes; more that cannot lies between blocks in use.
  const std::int64_t fragments = after.cached.fragments.bytes, releasable = after.cached.releasable.bytes;
  const std::string grown = "allocated " + growth_text(allocated.growth(), kPageNumbers) + ", reserved " +
                            growth_text(reserved.growth(), kPageNumbers);
  Writer line;
  line << grown << ": fragmentation; " << sized(fragments) << " in blocks that cannot go back, " << sized(releasable)
       << " releasable";
  if (releasable > 0) line << ": torch.cuda.empty_cache() gives that back";
  if (!after.expandable) line << "; expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF keeps it from growing";
  say_first(report, line.take(), {});
  if (report.story->culprits.empty()) change_story(report, [&](Story& story) { story.no_culprit = grown; });
}

void tell_lows(GrowthReport& report, const MemoryPeak& before, const MemoryPeak& after) {
  if (report.story == nullptr) return;
  const std::vector<RoleChange> changes = changes_of(before, after);
  say_first(
      report,
      prose_of("at the low point, the end of the last iteration, ", sized(before.bytes), " \u2192 ", sized(after.bytes),
               ": ", changes.empty() ? std::string("no role differs") : changes_text(changes)),
      {});
}

}  // namespace snapdiff::story
