#include <algorithm>
#include <utility>

#include "analyzer/postmortem/findings.hpp"
#include "analyzer/postmortem/series_facts.hpp"
#include "analyzer/story/commands.hpp"
#include "analyzer/story/prose.hpp"

namespace snapdiff::postmortem {

using namespace story;  // its words
namespace {

constexpr std::size_t kCommands = 2;
constexpr std::size_t kPlaces = 3;

}  // namespace

std::vector<Finding> next_findings(const Postmortem& report) {
  std::vector<Finding> out;
  const auto say = [&](const auto&... parts) { out.push_back({Finding::Kind::next, prose_of(parts...)}); };
  const GrowthReport& growth = report.growth();
  if (!has_stacks(report)) {
    say("Record stacks as well (a heap profile or an allocation tracker of the same process): only they say where.");
    return out;
  }
  std::vector<std::string> asked;
  for (const Suspect& suspect : growth.suspects) {
    if (suspect.growth <= 0 || suspect.path.empty() || asked.size() == kCommands) continue;
    const FrameView& frame = *telling_frame(suspect.path);
    if (frame.pseudo || has_bare_rows(growth)) continue;
    std::string pattern = pattern_of(frame);
    if (pattern.empty() || std::find(asked.begin(), asked.end(), pattern) != asked.end()) continue;
    Writer text;
    (text << "Callers and callees: snapdiff peek '").name(pattern) << "'";
    both_ends(text, growth);
    say(text.take());
    asked.push_back(std::move(pattern));
  }
  std::vector<std::pair<std::string_view, std::int32_t>> places;
  Writer look;
  for (const Suspect& suspect : growth.suspects) {
    if (suspect.growth <= 0 || suspect.sites.empty() || places.size() == kPlaces) continue;
    const FrameView* python = python_frame(suspect.path);
    const bool told = !is_machinery(suspect.sites.front().frame) || python == nullptr;
    const FrameView& frame = told ? suspect.sites.front().frame : *python;
    const std::pair<std::string_view, std::int32_t> place{frame.file, frame.line};
    if (frame.file.empty() || frame.line <= 0 || std::find(places.begin(), places.end(), place) != places.end())
      continue;
    look << (places.empty() ? "Look at " : ", ");
    look.place(frame);
    places.push_back(place);
  }
  if (!places.empty()) {
    look << ": who still holds what is allocated there?";
    say(look.take());
  }
  if (report.failure || report.pins) {
    Writer text;
    text << "Memory over time, and who pins segments: snapdiff render --timeline --segments";
    operand(text, growth.current);
    say(text.take());
  }
  if (growth.current.snapshot != nullptr && growth.current.snapshot->graph != nullptr) {
    Writer text;
    text << "Who keeps it alive: snapdiff retained";
    both_ends(text, growth);
    say(text.take());
  }
  if (growth.unnamed.unnamed > 0 && !growth.unnamed.modules.empty()) {
    Writer text;
    text << "Names for the addresses: add --symbols DIR with ";
    const std::string_view module = growth.unnamed.modules.front().module;
    module.empty() ? text << "the binaries" : text.name(base_name(module));
    if (growth.unnamed.modules.size() > 1) text << " and the other binaries";
    text << ".";
    say(text.take());
  }
  const bool is_of_peak = growth.story != nullptr && growth.story->is_of_peak;
  if (!is_of_peak && report.trend.series.steps.size() < kJudgedFrom) {
    say("Take ", static_cast<std::size_t>(kJudgedFrom),
        " snapshots or more at equal distances: from then on stacks are judged.");
  }
  return out;
}

}  // namespace snapdiff::postmortem
