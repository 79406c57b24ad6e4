#pragma once

#include <vector>

#include "analyzer/report/headline.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::report {

/// One line per culprit, in columns: verdict, name, place, growth, share, pace; then what else is worth a line. Texts
/// of the story that do not fit the width are left out from the end of a line, numbers never.
std::vector<HeadLine> story_lines(const Story& story, const Style& style);

/// How a verdict's word is painted.
Paint verdict_paint(std::string_view word);

}  // namespace snapdiff::report
