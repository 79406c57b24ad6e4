#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/report.hpp"

/// The common parts of the Markdown forms.
namespace snapdiff::report {

/// Text that Markdown takes literally, made printable: no control characters, no markup, no HTML, no cell ends, and no
/// mention or issue link that a code host would make of '@' and '#'.
std::string literal(std::string_view text);

/// The lines before the table of a comparison: its answer, and the inputs.
std::string markdown_title(const SnapshotRef& baseline, const SnapshotRef& current, const std::string& metric,
                           const Change& total, const std::string& unit);
/// The lines above the table as a list, and the notes below it.
std::string markdown_head(const std::vector<HeadLine>& lines);
std::string markdown_notes(const std::vector<std::string>& notes);

/// Head lines are not wrapped here.
Style unwrapped(const Style& style);

inline constexpr std::size_t kMarkdownName = 100;  ///< columns of a stack or a key

/// The table of a diff. `verdicts` parallel to the rows, or empty.
std::string growth_rows(const GrowthReport& report, RowVerdicts verdicts, const Style& style);

}  // namespace snapdiff::report
