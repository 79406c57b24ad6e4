#include "analyzer/render/paint/picture_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/markup_text.hpp"
#include "analyzer/render/paint/cairo_painter.hpp"
#include "analyzer/render/paint/painter.hpp"
#include "analyzer/render/paint/text.hpp"
#include "analyzer/render/paint/typesetter.hpp"

namespace snapdiff::render {
namespace {

/// Hundredths of a point, without trailing zeros and without the locale's decimal comma.
std::string number(double value) {
  const long long hundredths = std::llround(value * 100);
  const unsigned long long size =
      hundredths < 0 ? 0ULL - static_cast<unsigned long long>(hundredths) : static_cast<unsigned long long>(hundredths);
  std::string out = std::to_string(size / 100);
  if (size % 100 != 0) {
    out += '.';
    out += static_cast<char>('0' + size % 100 / 10);
    if (size % 10 != 0) out += static_cast<char>('0' + size % 10);
  }
  if (hundredths < 0) out.insert(out.begin(), '-');
  return out;
}

std::string point(Point p) { return number(p.x).append(1, ' ').append(number(p.y)); }

std::string data(const Path& path) {
  std::string out;
  for (const Path::Part& part : path.parts()) {
    switch (part.op) {
      case Path::Op::move: out.append("M").append(point(part.a)); break;
      case Path::Op::line: out.append("L").append(point(part.a)); break;
      case Path::Op::curve:
        out.append("C").append(point(part.a)).append(" ").append(point(part.b)).append(" ").append(point(part.c));
        break;
      case Path::Op::close: out.append("Z"); break;
    }
  }
  return out;
}

int css_weight(FontWeight weight) { return 400 + 100 * static_cast<int>(weight); }

/// Writes SVG of its own, because cairo's turns letters into outlines: texts stay texts, can be
/// searched and copied, and state their width so that another font fits the same boxes.
class SvgPainter : public Painter {
 public:
  explicit SvgPainter(const Typesetter& type) : type_(type) {}
  void fill(const Path& path, Color color) override {
    body_.append("<path d=\"").append(data(path)).append("\" fill=\"").append(color_text(color)).append("\"/>\n");
  }

  void stroke(const Path& path, const Stroke& stroke) override {
    body_.append("<path d=\"").append(data(path)).append("\" fill=\"none\" stroke=\"").append(color_text(stroke.color));
    body_.append("\" stroke-width=\"").append(number(stroke.width)).append("\"");
    if (stroke.dash_on > 0)
      body_ += concat(" stroke-dasharray=\"", number(stroke.dash_on), " ", number(stroke.dash_off), "\"");
    if (stroke.round_joins) body_.append(" stroke-linejoin=\"round\"");
    body_.append("/>\n");
  }

  void hatch(const Path& region, const Box& bounds, Color color, double gap, double line_width) override {
    const std::string id = std::string("clip").append(std::to_string(++clips_));
    body_.append("<clipPath id=\"").append(id).append("\"><path d=\"").append(data(region)).append("\"/></clipPath>\n");
    Path lines;
    for (int i = 0; i * gap - bounds.h < bounds.w; ++i) {
      const double t = i * gap - bounds.h;
      lines.move({bounds.x + t, bounds.y + bounds.h}).line({bounds.x + t + bounds.h, bounds.y});
    }
    body_.append("<g clip-path=\"url(#").append(id).append(")\">\n");
    stroke(lines, {color, line_width});
    body_.append("</g>\n");
  }

  void text(Point at, std::string_view text, const TextStyle& style, Color color, double width) override {
    if (text.empty()) return;
    body_.append("<text x=\"").append(number(at.x)).append("\" y=\"").append(number(at.y)).append("\" font-size=\"");
    body_.append(number(type_.real_size(style.size))).append("\" fill=\"").append(color_text(color)).append("\"");
    if (style.weight != FontWeight::regular)
      body_.append(" font-weight=\"").append(std::to_string(css_weight(style.weight))).append("\"");
    if (style.mono) body_.append(" class=\"m\"");
    if (style.italic) body_.append(" font-style=\"italic\"");
    if (width > 0) body_.append(" textLength=\"").append(number(width)).append("\" lengthAdjust=\"spacingAndGlyphs\"");
    body_.append(">").append(entities(left_to_right(text))).append("</text>\n");
  }

  void push(Point origin, double scale) override {
    body_.append("<g transform=\"translate(").append(point(origin)).append(")");
    char factor[32] = {};
    std::snprintf(factor, sizeof factor, " scale(%lld.%04lld)", std::llround(scale * 10000) / 10000,
                  std::llround(scale * 10000) % 10000);
    if (scale != 1) body_.append(factor);
    body_.append("\">\n");
  }

  void pop() override { body_.append("</g>\n"); }

  void begin_item(std::string_view title) override {
    body_.append("<g>");
    if (!title.empty()) body_.append("<title>").append(entities(title)).append("</title>");
    body_.append("\n");
  }

  void end_item() override { body_.append("</g>\n"); }

  void begin_link(std::string_view) override {}
  void end_link() override {}
  void anchor(std::string_view, Point) override {}

  /// The whole file, `width` by `height` points.
  std::string finish(std::string_view title, double width, double height) {
    const std::string size = number(width).append(" ").append(number(height));
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
    out.append(number(width))
        .append("pt\" height=\"")
        .append(number(height))
        .append("pt\" viewBox=\"0 0 ")
        .append(size);
    out.append("\">\n<title>").append(entities(title)).append("</title>\n<style>text{font-family:\"");
    out.append(entities(type_.sans()))
        .append("\",\"DejaVu Sans\",sans-serif;font-feature-settings:\"tnum\" 1,\"calt\" 0;white-space:pre}");
    out.append(".m{font-family:\"")
        .append(entities(type_.mono()))
        .append("\",\"DejaVu Sans Mono\",monospace}</style>\n");
    out.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n").append(body_).append("</svg>\n");
    return out;
  }

 private:
  const Typesetter& type_;
  std::string body_;
  int clips_ = 0;
};

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
    plan.add({frame.title, frame.question, "",
              [&](PdfDocument& document) { page.draw(document.canvas(), kContent, kBottom - 4); }});
    return write_document(plan, {"snapdiff: ", frame.program, frame.foot, printable(page.version), page.created_at_ns},
                          type, paper);
  });
}

}  // namespace snapdiff::render
