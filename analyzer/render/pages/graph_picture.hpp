#pragma once

#include <string>
#include <vector>

#include "analyzer/render/graph/graph_scene.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::render {

/// What stands round a graph that is a picture of its own. All printable().
struct PictureText {
  std::string program, title, foot;
  SceneWords words;
  std::vector<std::string> notes = {};  ///< below the foot
};

/// SVG, or PNG at `scale` pixels a point. Errors: io (no fonts), limit, internal.
Result<std::string> draw_graph(graph::GrowthGraph graph, const PictureText& text, PictureForm form, double scale);

/// Errors: internal.
Result<std::string> graph_as_dot(const graph::GrowthGraph& graph, const PictureText& text);

}  // namespace snapdiff::render
