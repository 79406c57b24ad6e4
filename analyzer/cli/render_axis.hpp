#pragma once

#include <optional>

#include "analyzer/cli/load.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/render/render.hpp"

namespace snapdiff::cli {

/// A chart of several series on one axis of time; `loaded` has the facts of its snapshots.
struct AxisChart {
  render::MemoryStory story;
  Loaded loaded;
};

/// The chart, where --timeline asks for several series: a directory or files of several kinds, names of stored
/// series, stored snapshots of several series; without operands all of the store, where nothing was compared.
/// Nothing where it asks for something else. Errors: those of reading; usage (no snapshot holds a time).
Result<std::optional<AxisChart>> chart_of_series(const Options& options, const Terminal& terminal);

}  // namespace snapdiff::cli
