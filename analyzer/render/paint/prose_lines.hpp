#pragma once

#include <string>
#include <vector>

#include "analyzer/render/paint/canvas.hpp"
#include "snapdiff/postmortem.hpp"

/// Sentences of which parts are names out of inputs, wrapped and set.
namespace snapdiff::render {

/// The text alone, printable().
std::string plain_text(const Prose& prose);

/// One line: pieces from left to right, each with its width.
struct ProseLine {
  struct Piece {
    std::string text;
    bool name = false;
    double x = 0;
  };
  std::vector<Piece> pieces;
};

/// Breaks at spaces, never before a unit; names are a little heavier and lose their middle where they are long. The
/// last of `max_lines` lines ends in an ellipsis where something is left.
std::vector<ProseLine> wrap_prose(const Prose& prose, Typesetter& type, const TextStyle& style, double width,
                                  std::size_t max_lines);

/// First baseline at y; returns the last baseline.
double draw_prose(const std::vector<ProseLine>& lines, Canvas& canvas, double x, double y, const TextStyle& style,
                  Color color);

/// Distance of baselines.
inline double line_step(const TextStyle& style) { return style.size * 1.45; }

}  // namespace snapdiff::render
