#pragma once

#include <string_view>

#include "analyzer/render/paint/geometry.hpp"
#include "analyzer/render/paint/style.hpp"

namespace snapdiff::render {

/// Where marks go: a cairo surface (PDF, PNG) or SVG text. Texts must be printable().
class Painter {
 public:
  virtual ~Painter() = default;
  virtual void fill(const Path& path, Color color) = 0;
  virtual void stroke(const Path& path, const Stroke& stroke) = 0;
  /// Parallel lines at 45 degrees inside `region`; `bounds` encloses it.
  virtual void hatch(const Path& region, const Box& bounds, Color color, double gap, double line_width) = 0;
  /// One line, its baseline starting at `at`; `width` as measured.
  virtual void text(Point at, std::string_view text, const TextStyle& style, Color color, double width) = 0;

  /// Moves and scales the drawing until pop().
  virtual void push(Point origin, double scale) = 0;
  virtual void pop() = 0;

  /// The drawing between the two is one thing; `title` explains it where the medium can.
  virtual void begin_item(std::string_view title) = 0;
  virtual void end_item() = 0;
  /// The drawing between the two links to the anchor `name`; "" for nothing. Names are plain ASCII.
  virtual void begin_link(std::string_view name) = 0;
  virtual void end_link() = 0;
  virtual void anchor(std::string_view name, Point at) = 0;
};

}  // namespace snapdiff::render
