#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/graph/call_loops.hpp"
#include "analyzer/graph/function_index.hpp"
#include "analyzer/graph/growth_graph.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::graph {

inline constexpr std::uint32_t kNone = 0xffffffff;

/// A gap that is not the same in all stacks of a path.
inline constexpr std::uint32_t kGapVaries = 2;

/// One candidate on a path; `gap` distinguishes what was left out between it and the step before
/// (0: nothing; kGapVaries; else odd).
struct Step {
  std::uint32_t node = 0;
  std::uint32_t gap = 0;
};

/// All stacks that look the same when only candidates are looked at, and where something is left
/// out between them.
struct Path {
  std::size_t begin = 0, end = 0;  ///< of Data::steps, root side first, the root itself left out
  bool tail_gap = false;           ///< frames below the last step were left out
  Weight weight;
  std::uint32_t row = 0;       ///< its heaviest row; among equals the one of least content
  std::uint64_t heaviest = 0;  ///< importance of that row
  std::uint64_t hash = 0;
};

/// The report's stacks, read and reduced to the candidates: the functions that may be drawn.
///   nodes     candidates with all sums; nodes[0] is the root. `dominator` among candidates
///   function  per candidate, the function that names it
///   rank      candidates in the order in which they are kept: ends of culprits' paths and their
///             first sites, then those that say most
struct GrowthModel::Data {
  const GrowthReport* report = nullptr;
  GraphOptions options;
  FunctionIndex functions;
  StackRuns runs;
  Recursion recursion;
  std::vector<Node> nodes;
  std::vector<std::uint32_t> function;
  std::vector<std::uint32_t> candidate;  ///< per recursion node, kNone when not a candidate
  std::vector<std::uint32_t> rank;
  std::size_t always_kept = 0;  ///< first entries of rank
  std::size_t moved_nodes = 0;  ///< nodes of the untrimmed graph with any growth or shrinkage
  std::vector<Step> steps;
  std::vector<Path> paths;
  std::vector<std::uint32_t> row_path;  ///< of the first kMappedRows rows
  Weight total;

  std::span<const Step> steps_of(const Path& path) const {
    return std::span(steps).subspan(path.begin, path.end - path.begin);
  }
  bool less(std::uint32_t a, std::uint32_t b) const { return functions.less(function[a], function[b]); }
};

inline constexpr std::size_t kMappedRows = 512;

/// An edge between two kept candidates.
struct KeptEdge {
  std::uint32_t from = 0, to = 0;
  Weight weight;
  bool direct = false;         ///< some stack has nothing between
  std::uint32_t path = kNone;  ///< the heaviest path over it
  std::uint64_t between = 0;   ///< distinguishes what that path hides
  bool varies = false;
};

/// All edges between kept candidates, by (from, to).
std::vector<KeptEdge> edges_between(const GrowthModel::Data& data, const std::vector<std::uint8_t>& kept);

/// A row of the report, or its unattributed bytes as one more row.
struct RowView {
  Change value, objects;
  Weight weight;
  double error = 0;
  bool added = false, gone = false;
  bool moved() const { return weight.grew != 0 || weight.shrank != 0; }
};

RowView row_at(const GrowthReport& report, std::size_t row);

/// Adds all rows to the candidates of `data`, whose stacks and functions are there, and fills its paths.
///   candidate_of  by function: its candidate, or kNone
///   leaf_line     by row: the line of its leaf
/// Errors: limit, where a sum is beyond 64 bits.
Status sum_candidates(const GrowthReport& report, const std::vector<std::uint32_t>& candidate_of,
                      const std::vector<std::int32_t>& leaf_line, GrowthModel::Data& data);

}  // namespace snapdiff::graph
