#pragma once

#include <cstdint>
#include <vector>

/// Points of 1/72 inch, y downwards.
namespace snapdiff::render {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, w = 0, h = 0;
};

/// Lines and Bezier curves.
class Path {
 public:
  enum class Op : std::uint8_t { move, line, curve, close };
  struct Part {
    Op op;
    Point a, b, c;  ///< the target is a; of a curve c, with control points a and b
  };
  Path& move(Point to) { return add({Op::move, to, {}, {}}); }
  Path& line(Point to) { return add({Op::line, to, {}, {}}); }
  Path& curve(Point a, Point b, Point to) { return add({Op::curve, a, b, to}); }
  Path& close() { return add({Op::close, {}, {}, {}}); }
  const std::vector<Part>& parts() const { return parts_; }

  static Path rect(const Box& box) {
    Path path;
    path.move({box.x, box.y}).line({box.x + box.w, box.y}).line({box.x + box.w, box.y + box.h});
    path.line({box.x, box.y + box.h}).close();
    return path;
  }
  /// Corners of radius r, each one Bezier curve (0.5523: the usual quarter circle).
  static Path round_rect(const Box& box, double r) {
    const double k = r * (1 - 0.5523);
    const double x0 = box.x, y0 = box.y, x1 = box.x + box.w, y1 = box.y + box.h;
    Path path;
    path.move({x0 + r, y0}).line({x1 - r, y0}).curve({x1 - k, y0}, {x1, y0 + k}, {x1, y0 + r});
    path.line({x1, y1 - r}).curve({x1, y1 - k}, {x1 - k, y1}, {x1 - r, y1});
    path.line({x0 + r, y1}).curve({x0 + k, y1}, {x0, y1 - k}, {x0, y1 - r});
    path.line({x0, y0 + r}).curve({x0, y0 + k}, {x0 + k, y0}, {x0 + r, y0}).close();
    return path;
  }
  static Path circle(Point centre, double r) { return round_rect({centre.x - r, centre.y - r, 2 * r, 2 * r}, r); }

 private:
  Path& add(Part part) {
    parts_.push_back(part);
    return *this;
  }
  std::vector<Part> parts_;
};

}  // namespace snapdiff::render
