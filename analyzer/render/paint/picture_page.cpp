#include "analyzer/render/paint/picture_page.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/render/paint/cairo_painter.hpp"
#include "analyzer/render/paint/svg_painter.hpp"
#include "analyzer/render/paint/text.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

/// Pictures have no page to keep to, but an end.
constexpr double kLongestPicture = 2600;

constexpr double kPixels = 2;  ///< of a PNG a point
/// Viewers and image libraries stop being reliable about there.
constexpr double kMostPixels = 16000;

/// A drawing of w x h points on white, as the bytes of a PNG: kPixels a point, less where a side would pass
/// kMostPixels.
Result<std::string> png_picture(double w, double h, Typesetter& type, const std::function<double(Canvas&)>& draw) {
  const double scale = std::min({kPixels, kMostPixels / w, kMostPixels / h});
  const auto pixels = [scale](double points) {
    return std::clamp(static_cast<int>(std::floor(points * scale)), 1, static_cast<int>(kMostPixels));
  };
  const CairoSurface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(w), pixels(h)));
  const CairoContext context(cairo_create(surface.get()));
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  cairo_scale(context.get(), scale, scale);
  CairoPainter painter(context.get(), type, false);
  Canvas canvas(painter, type);
  draw(canvas);
  std::string bytes;
  const cairo_status_t drawing = cairo_status(context.get());
  const cairo_status_t status = drawing != CAIRO_STATUS_SUCCESS
                                    ? drawing
                                    : cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes);
  if (status != CAIRO_STATUS_SUCCESS)
    return Error{ErrorCode::internal, std::string("writing the PNG: ").append(cairo_status_to_string(status))};
  return bytes;
}

}  // namespace

double draw_picture_foot(Canvas& canvas, double y, const std::string& foot) {
  canvas.rule(kLeft, kRight, y + 12);
  canvas.text_within(kLeft, y + 23, foot, {6.8}, kInk3, kWidth);
  return y + 36;
}

Result<std::string> write_picture(const std::string& title, PictureForm form, double width, Typesetter& type,
                                  const std::function<double(Canvas&)>& draw) {
  SvgPainter painter(type);
  Canvas canvas(painter, type);
  const double height = draw(canvas);
  if (form == PictureForm::svg) return painter.finish(title, width, height);
  return png_picture(width, height, type, draw);
}

Result<std::string> draw_single_page(const SinglePage& page, PictureForm form, Paper paper) {
  return typeset(concat("picture of ", page.frame.title), [&](Typesetter& type) {
    const PageFrame& frame = page.frame;
    if (form != PictureForm::pdf) {
      return write_picture(frame.title, form, kPictureWidth, type, [&](Canvas& canvas) {
        draw_head(canvas, frame, kWidth);
        return draw_picture_foot(canvas, page.draw(canvas, kContent, kLongestPicture), frame.foot);
      });
    }
    PagePlan plan;
    plan.add({"", frame.title, frame.question, "",
              [&](PdfDocument& document) { page.draw(document.canvas(), kContent, kBottom - 4); }});
    return write_document(plan, {"snapdiff: ", frame.program, frame.foot, printable(page.version), page.created_at_ns},
                          type, paper);
  });
}

}  // namespace snapdiff::render
