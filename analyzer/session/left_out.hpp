#pragma once

#include <span>
#include <vector>

#include "analyzer/session/load.hpp"
#include "snapdiff/postmortem.hpp"

/// Damaged files of a series that the others answer without: what is said of them, and where they are missing.
namespace snapdiff::session {

/// Sets the neighbours of files of a folder that were left out, by the numbers in the names or else by the names,
/// among `ordered` snapshots of files with the same stem; among all where none has it.
void place_in_folder(std::span<LeftOut> left_out, const std::vector<LoadedSnapshot>& ordered);

/// Where they are missing among the snapshots. Those whose neighbours are no longer there belong to another series.
std::vector<MissingInput> missing_inputs(const Loaded& loaded);

/// Adds a note for each: those of comes_first().
void add_left_out(const Loaded& loaded, Notes& notes);

}  // namespace snapdiff::session
