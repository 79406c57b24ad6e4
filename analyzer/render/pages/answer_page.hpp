#pragma once

#include <string>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/paint/canvas.hpp"

/// Page 1 of every report: the headline, the timeline with the culprits' bands, the culprits, the next command. It lays
/// out what the story of the comparison says.
namespace snapdiff::render {

/// What is where a page has its title: what makes all else secondary, else the headline.
std::string answer_title(const GrowthReport& report);

/// From the line below the title down; returns the lowest baseline. `remark`: a line above all else, may be empty.
double draw_answer(const Story& story, Canvas& canvas, const std::string& remark);

/// The culprits (what was freed where that outweighs them) in lines, from y on. Returns the lowest baseline.
double draw_culprits(const GrowthReport& report, Canvas& canvas, double y);

/// What makes all else secondary, or y where there is nothing of the kind.
double draw_events(const GrowthReport& report, Canvas& canvas, double y);

}  // namespace snapdiff::render
