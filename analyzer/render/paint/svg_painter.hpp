#pragma once

#include <string>
#include <vector>

#include "analyzer/render/paint/painter.hpp"
#include "analyzer/render/paint/typesetter.hpp"

namespace snapdiff::render {

/// Writes SVG of its own, because cairo's turns letters into outlines: texts stay texts, can be
/// searched and copied, and state their width so that another font fits the same boxes.
class SvgPainter : public Painter {
 public:
  explicit SvgPainter(const Typesetter& type) : type_(type) {}
  void fill(const Path& path, Color color) override;
  void stroke(const Path& path, const Stroke& stroke) override;
  void hatch(const Path& region, const Box& bounds, Color color, double gap, double line_width) override;
  void text(Point at, std::string_view text, const TextStyle& style, Color color, double width) override;
  void push(Point origin, double scale) override;
  void pop() override;
  void begin_item(std::string_view title) override;
  void end_item() override;
  void begin_link(std::string_view) override {}
  void end_link() override {}
  void anchor(std::string_view, Point) override {}

  /// The whole file, `width` by `height` points.
  std::string finish(std::string_view title, double width, double height);

 private:
  const Typesetter& type_;
  std::string body_;
  int clips_ = 0;
};

}  // namespace snapdiff::render
