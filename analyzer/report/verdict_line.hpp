#pragma once

#include "analyzer/report/headline.hpp"

namespace snapdiff::report {

/// What the series says about the suspects (never about the total: one stack that comes and goes
/// would decide it).
HeadLine verdict_line(const GrowthReport& report, const SeriesFacts& series, const Glyphs& glyphs);

/// How a verdict's word is painted.
Paint verdict_paint(std::string_view word);

}  // namespace snapdiff::report
