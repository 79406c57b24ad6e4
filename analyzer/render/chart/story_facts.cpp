#include "analyzer/render/chart/story_facts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/base/concat.hpp"
#include "analyzer/document/match_words.hpp"
#include "analyzer/render/paint/canvas.hpp"

namespace snapdiff::render {

bool has_times(const Story& story) {
  return std::ranges::any_of(story.steps, [](const SeriesStep& step) {
    return step.snapshot.snapshot != nullptr && step.snapshot.snapshot->facts.taken_at_ns.has_value();
  });
}

const snapdiff::Story& told(const GrowthReport& report) {
  static const snapdiff::Story kNothing;
  return report.story == nullptr ? kNothing : *report.story;
}

std::string headline(const GrowthReport& report) {
  if (report.story != nullptr) return plain_text(report.story->headline);
  const Change& total = report.total;
  return concat(metric_title(report.metric), " ", quantity_of(report.unit).change(total.baseline, total.current));
}

std::string culprits_sentence(const GrowthReport& report) {
  const snapdiff::Story& story = told(report);
  std::string text;
  for (const std::vector<Culprit>* list : {&story.freed, &story.culprits}) {
    for (const Culprit& culprit : *list) {
      text.append(text.empty() ? "" : "; ").append(plain_text(culprit.text.name)).append(" ");
      text.append(culprit.text.growth).append(" (").append(culprit.text.share).append(")");
    }
  }
  if (text.empty()) text = story.no_culprit;
  if (!story.hidden.empty()) text.append("; ").append(story.hidden);
  return text.empty() ? text : text.append(".");
}

std::string snapshot_name(const SnapshotRef& ref) {
  if (ref.snapshot != nullptr && !ref.snapshot->facts.source.name.empty())
    return printable(base_name(ref.snapshot->facts.source.name));
  return printable(base_name(ref.ref));
}

std::string short_hash(const SnapshotRef& ref) {
  return ref.snapshot == nullptr ? "" : printable(std::string_view(ref.snapshot->facts.source.sha256).substr(0, 8));
}

std::string matching_text(const GrowthReport& report) {
  std::size_t best = kMatchTiers - 1;
  for (std::size_t tier = 0; tier + 1 < kMatchTiers; ++tier) {
    if (report.matched[tier] > (best == kMatchTiers - 1 ? 0.0 : report.matched[best])) best = tier;
  }
  const std::string words(document::match_words(report, static_cast<MatchTier>(best)));
  return best == kMatchTiers - 1 ? words : "matched " + words;
}

std::string footer_text(const GrowthReport& report) {
  const auto side = [](const SnapshotRef& ref) {
    std::string name = snapshot_name(ref);
    const std::string hash = short_hash(ref);
    return hash.empty() ? name : name.append(" ").append(hash);
  };
  constexpr std::string_view kBetween = "  \u00b7  ";
  std::string text = side(report.baseline);
  // A report on one file, its moments or what it holds, has that file on both sides.
  if (const std::string current = side(report.current); current != text) text.append("  \u2192  ").append(current);
  text.append(kBetween);
  text.append(printable(report.metric)).append(kBetween).append(matching_text(report));
  return text.append(kBetween).append("rule set ").append(printable(report.rule_set));
}

std::vector<std::string> callers(const GrowthReport& report, const GrowthRow& row, std::string& leaf,
                                 std::string& site) {
  std::vector<FrameView> frames;
  report.frames(row, frames);
  leaf = frames.empty() ? std::string("[every frame hidden]") : frame_name(frames.front());
  site = frames.empty() ? std::string() : site_text(frames.front());
  const std::string common = report.common_path.empty() ? std::string("\n") : printable(report.common_path);
  constexpr std::size_t kCallers = 24;  // far more than a line has room for
  std::vector<std::string> names;
  std::string last = leaf;
  for (std::size_t i = 1; i < frames.size() && names.size() < kCallers; ++i) {
    std::string name = frame_name(frames[i]);
    if (name == last) {
      std::string& folded = names.empty() ? leaf : names.back();
      if (!folded.ends_with("\u21bb")) folded.append(" \u21bb");
      continue;
    }
    last = name;
    // Further up all rows are alike, and the headline says so.
    const bool shared = name == common;
    if (!shared || names.empty()) names.push_back(std::move(name));
    if (shared) break;
  }
  return names;
}

std::vector<Band> plot_bands(const Story& story) {
  const std::vector<snapdiff::Band>& layers = told(story.overall).bands;
  std::vector<Band> out;
  if (layers.empty()) return out;
  Band other{"other stacks", Band::Kind::other, "", {}, 0};
  for (const SeriesStep& step : story.steps) other.values.push_back(static_cast<double>(step.total));
  for (const snapdiff::Band& layer : layers) {
    constexpr Band::Kind kKinds[] = {Band::Kind::culprit, Band::Kind::freed, Band::Kind::passing, Band::Kind::role};
    Band band{
        plain_text(layer.name), kKinds[static_cast<std::size_t>(layer.kind)], plain_text(layer.note), {}, layer.index};
    if (layer.values.size() != other.values.size()) return {};
    for (std::size_t i = 0; i < layer.values.size(); ++i) {
      band.values.push_back(static_cast<double>(layer.values[i]));
      other.values[i] -= band.values[i];
    }
    out.push_back(std::move(band));
  }
  if (*std::ranges::min_element(other.values) < 0) return {};
  out.insert(out.begin(), std::move(other));
  return out;
}

Others others(const GrowthReport& report, const std::vector<std::size_t>& shown) {
  std::vector<std::uint8_t> is_shown(report.rows.size(), 0);
  Others out;
  out.rows = report.rows.size() - shown.size();
  out.value = report.total - report.unattributed - report.filtered;
  out.objects = report.total_objects - report.unattributed_objects - report.filtered_objects;
  for (const std::size_t row : shown) {
    is_shown[row] = 1;
    out.value -= report.rows[row].value;
    out.objects -= report.rows[row].objects;
  }
  for (std::size_t row = 0; row < report.rows.size() && out.unchanged; ++row)
    out.unchanged = is_shown[row] != 0 || (report.rows[row].grew == 0 && report.rows[row].shrank == 0);
  return out;
}

bool has_filtered(const GrowthReport& report) {
  return report.filtered != Change{} || report.filtered_objects != Change{};
}

std::vector<SumLine> sum_lines(const GrowthReport& report, const std::vector<std::size_t>& shown) {
  const Others rest = others(report, shown);
  std::string name = others_text(rest.rows);
  if (rest.unchanged && rest.rows > 0) name.insert(name.size() - 1, ", unchanged");
  std::vector<SumLine> out;
  if (rest.rows > 0) out.push_back({std::move(name), rest.value, rest.objects});
  if (report.unattributed != Change{} || report.unattributed_objects != Change{})
    out.push_back({"[unattributed]", report.unattributed, report.unattributed_objects});
  if (has_filtered(report)) out.push_back({"[filtered out]", report.filtered, report.filtered_objects});
  out.push_back({"TOTAL", report.total, report.total_objects, true});
  return out;
}

std::vector<std::size_t> chosen_steps(const std::vector<SeriesStep>& steps, std::size_t most) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (steps.size() <= most) return order;
  const auto rank = [&](std::size_t i) {
    return i == 0 || i + 1 == steps.size() ? 0 : steps[i].restart.empty() ? 2 : 1;
  };
  const auto size = [&](std::size_t i) { return std::fabs(static_cast<double>(steps[i].growth)); };
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return rank(a) != rank(b) ? rank(a) < rank(b) : size(a) > size(b); });
  order.resize(most);
  std::ranges::sort(order);
  return order;
}

}  // namespace snapdiff::render
