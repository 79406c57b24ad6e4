#pragma once

#include "snapdiff/importer.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::objgraph_dot {

/// The line that begins a graph of objgraph.
inline constexpr std::string_view kFirstLine = "digraph ObjectGraph {";

/// Reads a whole graph. Throws ReadFailure.
/// Errors: malformed, limit.
Snapshot read_dot(Input& in);

}  // namespace snapdiff::formats::objgraph_dot
