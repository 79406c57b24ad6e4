#pragma once

#include <vector>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/paint/canvas.hpp"

namespace snapdiff::render {

/// How a band is filled: growing ones get paler from the top down; what shrank or went is hatched blue.
struct Paint {
  Color fill;
  bool hatched = false;
};
std::vector<Paint> paints_of(const std::vector<Band>& bands);

/// Totals over the series with the heaviest paths stacked under the line; of two snapshots a bar
/// before and a bar after. From y down; returns the lower edge. `mark_steps`: says how much the steps that stand out
/// added or took away.
double draw_plot(const Story& story, Canvas& canvas, double y, double height, bool mark_steps = false);
/// Left and right end of its axis, and the place of snapshot i of n on it.
inline constexpr double kPlotLeft = kLeft + 34, kPlotRight = kRight - 100;
double plot_x(std::size_t i, std::size_t n);
/// Height the plot asks for.
double plot_height(const Story& story);

}  // namespace snapdiff::render
