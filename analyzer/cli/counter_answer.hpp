#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/options.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/session/load.hpp"

namespace snapdiff::cli {

/// Whether the answer is about counters: --counters, or the snapshots hold nothing else.
bool asks_for_counters(const std::vector<SnapshotRef>& refs, const Options& options);

/// Growth and verdict of every counter; of one snapshot the values. Throws limit.
std::string answer_counters(const std::vector<SnapshotRef>& refs, const report::Style& style);

/// Prints that answer and the notes. Returns the exit code.
int show_counters(const Loaded& loaded, const Options& options, const report::Style& style);

}  // namespace snapdiff::cli
