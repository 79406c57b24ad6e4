#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/story/explained.hpp"
#include "analyzer/story/growth_paths.hpp"
#include "analyzer/story/sum_judge.hpp"
#include "analyzer/story/walk.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::story {

/// What all describers need.
struct Evidence {
  const GrowthPaths& paths;
  const SumJudge& judge;
  const Explained& explained;
};

/// A part as people read it: its function, file and line, its values and its verdict. `whole`: what shares are of.
Culprit describe(const Evidence& evidence, const Part& part, double whole);

/// Rows without callers (types, size classes): the parts of `weights` with the user's own types before those that a
/// runtime makes on behalf of others, where both climb.
std::vector<Part> find_types(const GrowthPaths& paths, const Explained& explained, const Weights& weights);

/// What graphs, flame graphs and tables mark: the culprits and what was freed, as paths and rows.
std::vector<Suspect> suspects_of(const Story& story, bool with_rows);

}  // namespace snapdiff::story
