#include <algorithm>
#include <utility>

#include "analyzer/postmortem/findings.hpp"
#include "analyzer/story/prose.hpp"

namespace snapdiff::postmortem {

using namespace story;  // its words
namespace {

Prose sentence(const Prose& text) { return prose_of(text, "."); }

Prose part_sentence(const PeakPart& part) {
  Writer out;
  out << part.text.share << ", " << part.text.growth << " of " << part.text.label << " in " << part.text.pace << ": ";
  out << part.text.name;
  if (!part.text.place.empty()) out << " " << part.text.place;
  out << ".";
  return out.take();
}

}  // namespace

Prose peak_opening(const PeakStory& peak) { return prose_of(peak.headline, "; ", peak.figures, "."); }

std::vector<Prose> peak_advice(const PeakStory& peak) {
  std::vector<Prose> out;
  for (const Prose& advice : peak.advice) out.push_back(sentence(advice));
  return out;
}

std::vector<Finding> peak_findings(const Postmortem& report) {
  const PeakStory& peak = *report.growth().story->peak;
  std::vector<Finding> out;
  out.push_back({Finding::Kind::what, peak_opening(peak)});
  std::vector<Finding> others = what_findings(report);
  others.erase(others.begin());  // from the first moment to the last
  out.insert(out.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  for (const PeakPart& part : peak.parts) out.push_back({Finding::Kind::where, part_sentence(part)});
  for (const Prose& module : peak.modules) {
    out.push_back({Finding::Kind::where, prose_of("Below calls of modules: ", module, ".")});
  }
  std::int64_t unknown = 0;
  for (const PeakRole& role : peak.facts.roles) {
    if (role.role == "unknown" || role.role == "before trace") unknown += role.bytes;
  }
  out.push_back(
      {Finding::Kind::certainty,
       prose_of(
           "What blocks are for is worked out from the stacks that allocated them and from when they were freed; of ",
           percent(unknown, peak.facts.bytes), " of the peak it is not known.")});
  for (Prose& advice : peak_advice(peak)) out.push_back({Finding::Kind::next, std::move(advice)});
  return out;
}

}  // namespace snapdiff::postmortem
