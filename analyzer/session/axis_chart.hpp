#pragma once

#include <optional>

#include "analyzer/render/render.hpp"
#include "analyzer/session/load.hpp"

namespace snapdiff::session {

/// A chart of several series on one axis of time; `loaded` has the facts of its snapshots.
struct AxisChart {
  render::MemoryStory story;
  Loaded loaded;
};

/// The chart, where the operands mean several series: a directory of several, files or stored snapshots of several
/// formats, names of stored series, a range of ids; without operands all of the store, where nothing was compared.
/// Nothing where they mean something else. Errors: those of reading; usage (no snapshot holds a time).
Result<std::optional<AxisChart>> chart_of_series(const std::vector<std::string>& operands, const Request& request);

}  // namespace snapdiff::session
