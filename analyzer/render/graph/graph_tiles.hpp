#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/render/graph/graph_scene.hpp"

/// A graph that is too large for one page, cut into tiles: windows that overlap, so that every node is whole on one of
/// them. What of a node reaches into another tile is shown there as a shadow that names its tile.
namespace snapdiff::render {

struct Tile {
  Box window;                        ///< in the scene's coordinates
  std::vector<std::uint32_t> nodes;  ///< that are drawn here
};

struct TiledScene {
  GraphScene scene;
  double scale = 1;
  std::vector<Tile> tiles;             ///< by rows, then columns; none without nodes
  std::vector<std::uint32_t> tile_of;  ///< by node
};

/// Cuts windows of w by h points of the page. Nodes wider or higher than that: the window shows their beginning.
TiledScene cut_into_tiles(GraphScene scene, double scale, double w, double h);
/// Number of tiles that it would give.
std::size_t count_tiles(const GraphScene& scene, double scale, double w, double h);

/// Draws tile number `index` with its upper left corner at `at`. Links to tiles lead to `anchors`, by tile; nodes are
/// linked as in draw_scene().
void draw_tile(const TiledScene& tiled, std::size_t index, Canvas& canvas, Point at,
               const std::vector<std::string>& anchors, const SceneLinks& links);

/// All nodes as plain boxes with the tiles' windows and numbers; `current` stands out, of several tiles that is.
void draw_tile_map(const TiledScene& tiled, std::size_t current, Canvas& canvas, const Box& room,
                   const std::vector<std::string>& anchors);

}  // namespace snapdiff::render
