#pragma once

#include <vector>

#include "analyzer/report/headline.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::report {

/// What comes before the headline: out of memory, a restart, a damaged input, two programs. Empty for most.
std::vector<HeadLine> event_lines(const Story& story, const Style& style);

/// One line per culprit, in columns: verdict, name, place, growth, share, pace; then what else is worth a line. Texts
/// of the story that do not fit the width are left out from the end of a line, numbers never.
std::vector<HeadLine> story_lines(const Story& story, const Style& style);

/// The fullest moment of a device's trace: what it holds, the heaviest lines of the user's code, advice.
std::vector<HeadLine> peak_lines(const PeakStory& peak, const Style& style);

/// How a verdict's word is painted.
Paint verdict_paint(std::string_view word);

}  // namespace snapdiff::report
