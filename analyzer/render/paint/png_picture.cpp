#include "analyzer/render/paint/png_picture.hpp"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "analyzer/render/paint/cairo_painter.hpp"

namespace snapdiff::render {
namespace {

constexpr double kMostPixels = 16000;

struct Release {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};

cairo_status_t append_png(void* closure, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Result<std::string> png_picture(double w, double h, double scale, Typesetter& type,
                                const std::function<void(Canvas&)>& draw) {
  scale = std::min({scale, kMostPixels / w, kMostPixels / h});
  const auto pixels = [scale](double points) {
    return std::clamp(static_cast<int>(std::floor(points * scale)), 1, static_cast<int>(kMostPixels));
  };
  const std::unique_ptr<cairo_surface_t, Release> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(w), pixels(h)));
  const std::unique_ptr<cairo_t, Release> context(cairo_create(surface.get()));
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  cairo_scale(context.get(), scale, scale);
  CairoPainter painter(context.get(), type, false);
  Canvas canvas(painter, type);
  draw(canvas);
  std::string bytes;
  const cairo_status_t drawing = cairo_status(context.get());
  const cairo_status_t status =
      drawing != CAIRO_STATUS_SUCCESS ? drawing : cairo_surface_write_to_png_stream(surface.get(), append_png, &bytes);
  if (status != CAIRO_STATUS_SUCCESS)
    return Error{ErrorCode::internal, std::string("writing the PNG: ").append(cairo_status_to_string(status))};
  return bytes;
}

}  // namespace snapdiff::render
