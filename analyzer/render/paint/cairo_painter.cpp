#include "analyzer/render/paint/cairo_painter.hpp"

#include <cstdio>

#include "analyzer/base/concat.hpp"

namespace snapdiff::render {

void CairoPainter::trace(const Path& path) {
  cairo_new_path(context_);
  for (const Path::Part& part : path.parts()) {
    switch (part.op) {
      case Path::Op::move: cairo_move_to(context_, part.a.x, part.a.y); break;
      case Path::Op::line: cairo_line_to(context_, part.a.x, part.a.y); break;
      case Path::Op::curve: cairo_curve_to(context_, part.a.x, part.a.y, part.b.x, part.b.y, part.c.x, part.c.y); break;
      case Path::Op::close: cairo_close_path(context_); break;
    }
  }
}

void CairoPainter::use(Color color) {
  cairo_set_source_rgb(context_, color.r / 255.0, color.g / 255.0, color.b / 255.0);
}

void CairoPainter::fill(const Path& path, Color color) {
  trace(path);
  use(color);
  cairo_fill(context_);
}

void CairoPainter::stroke(const Path& path, const Stroke& stroke) {
  trace(path);
  use(stroke.color);
  cairo_set_line_width(context_, stroke.width);
  cairo_set_line_join(context_, stroke.round_joins ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
  const double dash[2] = {stroke.dash_on, stroke.dash_off};
  cairo_set_dash(context_, dash, stroke.dash_on > 0 ? 2 : 0, 0);
  cairo_stroke(context_);
}

void CairoPainter::hatch(const Path& region, const Box& bounds, Color color, double gap, double line_width) {
  cairo_save(context_);
  trace(region);
  cairo_clip(context_);
  cairo_new_path(context_);
  for (int i = 0; i * gap - bounds.h < bounds.w; ++i) {
    const double t = i * gap - bounds.h;
    cairo_move_to(context_, bounds.x + t, bounds.y + bounds.h);
    cairo_line_to(context_, bounds.x + t + bounds.h, bounds.y);
  }
  use(color);
  cairo_set_line_width(context_, line_width);
  cairo_set_dash(context_, nullptr, 0, 0);
  cairo_stroke(context_);
  cairo_restore(context_);
}

void CairoPainter::text(Point at, std::string_view text, const TextStyle& style, Color color, double) {
  use(color);
  cairo_move_to(context_, at.x, at.y);
  type_.show(context_, text, style);
  cairo_new_path(context_);
}

void CairoPainter::push(Point origin, double scale) {
  cairo_save(context_);
  cairo_translate(context_, origin.x, origin.y);
  cairo_scale(context_, scale, scale);
}

void CairoPainter::pop() { cairo_restore(context_); }

void CairoPainter::begin_link(std::string_view name) {
  const bool begun = tagged_ && !name.empty();
  links_.push_back(begun);
  if (!begun) return;
  const std::string attributes = concat("dest='", name, "'");
  cairo_tag_begin(context_, CAIRO_TAG_LINK, attributes.c_str());
}

void CairoPainter::end_link() {
  if (links_.back()) cairo_tag_end(context_, CAIRO_TAG_LINK);
  links_.pop_back();
}

void CairoPainter::anchor(std::string_view name, Point at) {
  if (!tagged_ || name.empty()) return;
  char place[64] = {};
  std::snprintf(place, sizeof place, "' x=%.2f y=%.2f", at.x, at.y);
  const std::string attributes = concat("name='", name, place);
  cairo_tag_begin(context_, CAIRO_TAG_DEST, attributes.c_str());
  cairo_tag_end(context_, CAIRO_TAG_DEST);
}

}  // namespace snapdiff::render
