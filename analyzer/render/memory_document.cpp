#include <algorithm>
#include <memory>
#include <new>

#include "analyzer/render/memory_pages.hpp"
#include "analyzer/render/pdf_document.hpp"
#include "analyzer/render/picture_page.hpp"
#include "analyzer/render/png_picture.hpp"
#include "analyzer/render/svg_painter.hpp"
#include "analyzer/render/text.hpp"

namespace snapdiff::render {
namespace {

PageText text_of_any(const MemoryPage& page) {
  return std::visit([](const auto& p) { return text_of(p); }, page);
}

double draw_any(const MemoryPage& page, Canvas& canvas, double bottom) {
  return std::visit([&](const auto& p) { return draw_page(p, canvas, kContent, bottom); }, page);
}

std::string foot_of(const MemoryStory& story) {
  return printable(story.source).append("  \u00b7  ").append(printable(story.version));
}

Result<std::string> write_pdf(const MemoryStory& story, Typesetter& type, Paper paper) {
  const std::string fonts = std::string("fonts: ").append(type.sans()).append(", ").append(type.mono());
  PdfDocument document(
      type, paper,
      {std::string("snapdiff: ").append(printable(story.title)), printable(story.version), fonts, story.created_at_ns},
      static_cast<int>(story.pages.size()));
  for (const MemoryPage& page : story.pages) {
    const PageText text = text_of_any(page);
    document.begin_page({printable(story.title), text.title, text.question, foot_of(story)});
    document.bookmark(0, text.title, std::string("p").append(std::to_string(document.page())));
    draw_any(page, document.canvas(), kBottom - 4);
    document.end_page();
  }
  return document.finish();
}

/// All pages, one below the other; returns the height.
double draw_pages(const MemoryStory& story, Canvas& canvas) {
  double offset = 0;
  for (const MemoryPage& page : story.pages) {
    const PageText text = text_of_any(page);
    canvas.painter().push({0, offset}, 1);
    draw_picture_head(canvas, {printable(story.title), text.title, text.question, ""});
    const double end = draw_picture_foot(canvas, draw_any(page, canvas, kBottom - 4), foot_of(story));
    canvas.painter().pop();
    offset += end;
  }
  return offset;
}

Result<std::string> write_svg(const MemoryStory& story, Typesetter& type) {
  SvgPainter painter(type);
  Canvas canvas(painter, type);
  const double height = draw_pages(story, canvas);
  return painter.finish(text_of_any(story.pages.front()).title, kPictureWidth, height);
}

Result<std::string> write_png(const MemoryStory& story, Typesetter& type, double scale) {
  double height = 0;
  {
    SvgPainter measure(type);
    Canvas canvas(measure, type);
    height = draw_pages(story, canvas);
  }
  return png_picture(kPictureWidth, height, scale, type, [&](Canvas& canvas) { draw_pages(story, canvas); });
}

}  // namespace

Result<std::string> draw_memory(const MemoryStory& story, PictureForm form, Paper paper, double scale) {
  if (story.pages.empty()) return Error{ErrorCode::usage, "document of 0 pages: expected one or more"};
  if (!(scale > 0)) return Error{ErrorCode::usage, "scale of a picture: expected more than 0"};
  try {
    Result<std::unique_ptr<Typesetter>> type = Typesetter::make();
    if (!type) return std::move(type).error();
    switch (form) {
      case PictureForm::pdf: return write_pdf(story, **type, paper);
      case PictureForm::svg: return write_svg(story, **type);
      case PictureForm::png: return write_png(story, **type, scale);
    }
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "charts of memory: out of memory"};
  }
  return Error{ErrorCode::internal, "unknown form of picture"};
}

}  // namespace snapdiff::render
