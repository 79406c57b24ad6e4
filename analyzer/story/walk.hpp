#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/story/explained.hpp"
#include "analyzer/story/growth_paths.hpp"

namespace snapdiff::story {

/// Growth that belongs together, and the function that it is called by.
struct Part {
  std::uint32_t function = 0;
  std::vector<std::uint32_t> paths;  ///< ascending; all run through the function
  double weight = 0;
};

/// Splits growth from the root, joins from the allocations what one function allocates for many callers, and names
/// each part by the user's function that it is purest in (README.md). Disjoint, heaviest first; parts of less than
/// kLeastShare of the whole are left out.
std::vector<Part> find_parts(const GrowthPaths& paths, const Weights& weights);

/// Less of the growth that has to be explained is no culprit of its own.
inline constexpr double kLeastShare = 0.05;

}  // namespace snapdiff::story
