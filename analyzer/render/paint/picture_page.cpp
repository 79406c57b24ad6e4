#include "analyzer/render/paint/picture_page.hpp"

#include <memory>
#include <new>

#include "analyzer/render/paint/png_picture.hpp"
#include "analyzer/render/paint/svg_painter.hpp"
#include "analyzer/render/paint/text.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

/// Pictures have no page to keep to, but an end.
constexpr double kLongestPicture = 2600;

Result<std::string> write(const SinglePage& page, PictureForm form, Paper paper, double scale) {
  Result<std::unique_ptr<Typesetter>> type = Typesetter::make();
  if (!type) return std::move(type).error();
  const PageFrame& frame = page.frame;
  if (form != PictureForm::pdf) {
    return write_picture(frame.title, form, scale, **type, [&](Canvas& canvas) {
      draw_picture_head(canvas, frame);
      return draw_picture_foot(canvas, page.draw(canvas, kContent, kLongestPicture), frame.foot);
    });
  }
  PagePlan plan;
  plan.add({"", frame.title, frame.question, "",
            [&](PdfDocument& document) { page.draw(document.canvas(), kContent, kBottom - 4); }});
  return write_document(plan, {"snapdiff: ", frame.program, frame.foot, printable(page.version), page.created_at_ns},
                        **type, paper);
}

}  // namespace

void draw_picture_head(Canvas& canvas, const PageFrame& frame) {
  canvas.text(kLeft, kTop, "snapdiff", {8, FontWeight::bold}, kInk);
  const TextStyle question{8, FontWeight::regular, false, true};
  const double w = canvas.width(frame.question, question);
  canvas.text_within(kLeft + 44, kTop, frame.program, {8}, kInk3, kWidth - 60 - w);
  canvas.text(kRight, kTop, frame.question, question, kInk2, Align::right);
  canvas.rule(kLeft, kRight, kTop + 8);
  canvas.text_within(kLeft, kTop + 36, frame.title, {19, FontWeight::semibold, false, false, -0.25}, kInk, kWidth);
}

double draw_picture_foot(Canvas& canvas, double y, const std::string& foot) {
  canvas.rule(kLeft, kRight, y + 12);
  canvas.text_within(kLeft, y + 23, foot, {6.8}, kInk3, kWidth);
  return y + 36;
}

Result<std::string> write_picture(const std::string& title, PictureForm form, double scale, Typesetter& type,
                                  const std::function<double(Canvas&)>& draw) {
  SvgPainter painter(type);
  Canvas canvas(painter, type);
  const double height = draw(canvas);
  if (form == PictureForm::svg) return painter.finish(title, kPictureWidth, height);
  return png_picture(kPictureWidth, height, scale, type, [&](Canvas& pixels) { draw(pixels); });
}

Result<std::string> draw_single_page(const SinglePage& page, PictureForm form, Paper paper, double scale) {
  if (!(scale > 0)) return Error{ErrorCode::usage, "scale of a picture: expected more than 0"};
  return within_memory(concat("picture of ", page.frame.title), [&] { return write(page, form, paper, scale); });
}

}  // namespace snapdiff::render
