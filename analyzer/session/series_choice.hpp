#pragma once

#include <string>
#include <vector>

#include "analyzer/session/load.hpp"

/// What snapshots that one operand gathered (a folder, a label, a range of ids) are compared as: one series. Nobody
/// said that they are one, so they are put apart first.
namespace snapdiff::session {

/// Series among snapshots: those out of a store by its names, files as series_in() has them. Most snapshots first.
struct SeriesPart {
  std::string name;
  std::vector<std::size_t> snapshots;
};
std::vector<SeriesPart> parts_of(const std::vector<LoadedSnapshot>& snapshots);

/// Leaves the snapshots of one series: the one called `series`, else the only one with two snapshots or more (the rest
/// is named in a note). `what` is the operand. Errors: usage, with the names, where that decides nothing.
Status keep_one_series(Loaded& loaded, const std::string& series, const std::string& what);

}  // namespace snapdiff::session
