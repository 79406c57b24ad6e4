#include <algorithm>
#include <memory>
#include <new>

#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "analyzer/render/paint/text.hpp"

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
  PagePlan plan;
  for (const MemoryPage& page : story.pages) {
    PageText text = text_of_any(page);
    plan.add({"", std::move(text.title), std::move(text.question), "", [&page](PdfDocument& document) {
                draw_any(page, document.canvas(), kBottom - 4);
                return ok();
              }});
  }
  return write_document(
      plan, {"snapdiff: ", printable(story.title), foot_of(story), printable(story.version), story.created_at_ns}, type,
      paper);
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

}  // namespace

Result<std::string> draw_memory(const MemoryStory& story, PictureForm form, Paper paper, double scale) {
  if (story.pages.empty()) return Error{ErrorCode::usage, "document of 0 pages: expected one or more"};
  if (!(scale > 0)) return Error{ErrorCode::usage, "scale of a picture: expected more than 0"};
  try {
    Result<std::unique_ptr<Typesetter>> type = Typesetter::make();
    if (!type) return std::move(type).error();
    if (form == PictureForm::pdf) return write_pdf(story, **type, paper);
    return write_picture(text_of_any(story.pages.front()).title, form, scale, **type,
                         [&](Canvas& canvas) { return draw_pages(story, canvas); });
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "charts of memory: out of memory"};
  }
}

}  // namespace snapdiff::render
