#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <vector>

#include "analyzer/render/paint/painter.hpp"
#include "analyzer/render/paint/typesetter.hpp"

namespace snapdiff::render {

struct CairoRelease {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using CairoSurface = std::unique_ptr<cairo_surface_t, CairoRelease>;
using CairoContext = std::unique_ptr<cairo_t, CairoRelease>;

/// Where surfaces write to: `bytes` is a std::string.
inline cairo_status_t append_bytes(void* bytes, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

/// Links and anchors become tags where `tagged` (PDF), and are left out elsewhere.
class CairoPainter : public Painter {
 public:
  CairoPainter(cairo_t* context, Typesetter& type, bool tagged) : context_(context), type_(type), tagged_(tagged) {}
  void fill(const Path& path, Color color) override;
  void stroke(const Path& path, const Stroke& stroke) override;
  void hatch(const Path& region, const Box& bounds, Color color, double gap, double line_width) override;
  void text(Point at, std::string_view text, const TextStyle& style, Color color, double width) override;
  void push(Point origin, double scale) override;
  void pop() override;
  void begin_item(std::string_view) override {}
  void end_item() override {}
  void begin_link(std::string_view name) override;
  void end_link() override;
  void anchor(std::string_view name, Point at) override;

 private:
  void trace(const Path& path);
  void use(Color color);

  cairo_t* context_;
  Typesetter& type_;
  bool tagged_;
  std::vector<bool> links_;  ///< open ones; false: nothing was begun
};

}  // namespace snapdiff::render
