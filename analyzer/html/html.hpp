#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/base/overview.hpp"
#include "snapdiff/postmortem.hpp"
#include "snapdiff/result.hpp"

/// The public header of the HTML module: a post-mortem report as one page for browsers.
namespace snapdiff::html {

/// What a page may weigh, so that tickets and mail take it.
inline constexpr std::size_t kMostBytes = std::size_t{3} << 20;
/// Snapshots from which on those alone may be larger than a page otherwise may.
inline constexpr std::size_t kLongSeries = 1000;

/// graph_svg  growth graph first -> last as the render module draws it, may be empty; one that takes more
///            than a third of the page is left out, and the page says so
/// start      the part to open first: "", "timeline", "table", "flame", "graph", "counters" or "inputs"
/// most_bytes of the whole page. Rows that do not fit are summed into [N others], the least important
///            first, and the page says how many. A series of more than kLongSeries snapshots may take more:
///            half above what its snapshots take, where that is more
struct HtmlOptions {
  std::string graph_svg;
  std::string start;
  std::size_t most_bytes = kMostBytes;
};

/// One file that works from disk: it asks nothing of any server, and its policy forbids it to. What it
/// answers is plain HTML; sorting, searching, zooming and other pairs of snapshots need its script.
/// Same input, same bytes.
/// Errors: usage (no such part), limit (the page without any row is larger than most_bytes).
Result<std::string> to_html(const Postmortem& report, const HtmlOptions& options);

/// Many series on one page of the same kind, without a script: a table, the gravest first, each row with a section of
/// its own. `title`: the folder or store.
std::string to_html(const Overview& overview, std::string_view title, std::string_view version);

}  // namespace snapdiff::html
