#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/graph/growth_model.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

/// A step of GrowthModel::read(): what the candidate nodes add up to, and the stacks as paths of them.
namespace snapdiff::graph {

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
