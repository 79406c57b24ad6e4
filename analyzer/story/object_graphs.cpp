#include <algorithm>
#include <unordered_map>

#include "analyzer/document/terms.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/story/prose.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kStepsShown = 2;  // of a path, the nearest to what it holds

bool is_array(std::string_view type) { return type.starts_with('[') || type.starts_with('('); }

/// Paths name the kind too: "[J (primitive array)".
bool is_type(std::string_view with_kind, std::string_view type) {
  return with_kind == type || (with_kind.starts_with(type) && with_kind.substr(type.size()).starts_with(" ("));
}

/// "HashMap" of "java.util.HashMap", "JLeak" of "JLeak (class)".
std::string_view short_type(std::string_view type) {
  if (type.ends_with(')') && !type.starts_with('(')) type = type.substr(0, type.rfind(" ("));
  const std::size_t dot = type.rfind('.');
  return dot == std::string_view::npos || dot + 1 == type.size() ? type : type.substr(dot + 1);
}

/// "held by global.registry › Map.table": the last steps, without the arrays that collections keep their items in.
Prose held_by(const GrowingPlace& place) {
  std::size_t last = place.path.size();
  while (last > 1 && is_array(place.path[last - 1].type)) --last;
  const std::size_t first = last - std::min(last, kStepsShown);
  Writer out;
  out << "held by ";
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) out << " \u203a ";
    out.name(short_type(place.path[i].type));
    // The reference that leads on, as the source has it: registry of global.
    const std::string_view label =
        i + 1 < place.path.size() ? std::string_view(place.path[i + 1].label) : std::string_view();
    if (!label.empty() && label != "[x]") (out << ".").name(label);
  }
  return out.take();
}

/// The growing place on the path by which most of the type's growth is reached; null without one.
const GrowingPlace* growing_place_of(const PathReport& paths, std::string_view type) {
  for (const PathRow& row : paths.rows) {  // most growth first
    if (row.growing < 0 || row.path.empty() || !is_type(row.path.back().type, type)) continue;
    const GrowingPlace& place = paths.growing[static_cast<std::size_t>(row.growing)];
    return place.path.empty() ? nullptr : &place;
  }
  return nullptr;
}

}  // namespace

void tell_objects(GrowthReport& report, const RetainedReport& retained, const PathReport& paths) {
  if (report.story == nullptr || !retained.has_bytes) return;
  std::unordered_map<std::string_view, std::int64_t> growth;
  for (const RetainedRow& row : retained.rows)
    growth[row.type] += row.last().retained.bytes - row.first().retained.bytes;
  auto story = std::make_shared<Story>(*report.story);
  const auto retained_by = [&](const Culprit& culprit) {
    const auto found = culprit.path.empty() ? growth.end() : growth.find(culprit.path.back().function);
    return found == growth.end() ? std::int64_t{0} : found->second;
  };
  for (Culprit& culprit : story->culprits) {
    const std::int64_t more = retained_by(culprit);
    if (more <= 0) continue;
    std::string& pace = culprit.text.pace;
    pace.append(pace.empty() ? "" : ", ").append("retains ").append(value_text(more, "bytes", true, kPageNumbers));
    if (const GrowingPlace* place = growing_place_of(paths, culprit.path.back().function))
      culprit.text.via = held_by(*place);
  }
  std::stable_sort(story->culprits.begin(), story->culprits.end(), [&](const Culprit& a, const Culprit& b) {
    if (document::gravity(a.verdict.word) != document::gravity(b.verdict.word))
      return document::gravity(a.verdict.word) > document::gravity(b.verdict.word);
    return a.own != b.own ? a.own : retained_by(a) > retained_by(b);
  });
  report.story = std::move(story);
}

}  // namespace snapdiff::story
