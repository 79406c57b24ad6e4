#pragma once

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracker_lines {

/// Longest line that is read; what is longer is passed over without being held.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

/// Reads a tracker dump into its snapshots, in the order of their `seq`, else their `time`, else their
/// lines. `tell` may be empty: then lines that break a rule are dropped and noted, at most
/// kMostBadLines of them. Else each is reported, and false stops the reading with an error.
/// Errors: malformed, unsupported (a later version), limit; what the input and the sink return.
void read(Input& in, SnapshotSink& out, const ViolationSink& tell);

}  // namespace snapdiff::formats::tracker_lines
