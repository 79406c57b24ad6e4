#pragma once

#include <cstddef>
#include <string>

#include "analyzer/diff/explain_match.hpp"

namespace snapdiff::cli {

/// Why row `place` (from 0) has its two sides, or only one: at most ten lines. Safe for a terminal.
std::string match_text(const diff::MatchExplanation& why, std::size_t place);

}  // namespace snapdiff::cli
