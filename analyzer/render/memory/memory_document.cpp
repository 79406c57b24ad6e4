#include <variant>

#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

std::string foot_of(const MemoryStory& story) {
  return printable(story.source).append("  \u00b7  ").append(printable(story.version));
}

Result<std::string> write_pdf(const MemoryStory& story, Typesetter& type, Paper paper) {
  PagePlan plan;
  for (const MemoryPage& page : story.pages) {
    PageText text = text_of(page);
    plan.add({std::move(text.title), std::move(text.question), "",
              [&page](PdfDocument& document) { draw_page(page, document.canvas(), kContent, kBottom - 4); }});
  }
  return write_document(
      plan, {"snapdiff: ", printable(story.title), foot_of(story), printable(story.version), story.created_at_ns}, type,
      paper);
}

/// All pages, one below the other; returns the height.
double draw_pages(const MemoryStory& story, Canvas& canvas) {
  double offset = 0;
  for (const MemoryPage& page : story.pages) {
    const PageText text = text_of(page);
    canvas.painter().push({0, offset}, 1);
    draw_head(canvas, {printable(story.title), text.title, text.question, ""}, kWidth);
    const double end = draw_picture_foot(canvas, draw_page(page, canvas, kContent, kBottom - 4), foot_of(story));
    canvas.painter().pop();
    offset += end;
  }
  return offset;
}

}  // namespace

PageText text_of(const MemoryPage& page) {
  return std::visit([](const auto& p) { return text_of(p); }, page);
}

double draw_page(const MemoryPage& page, Canvas& canvas, double top, double bottom) {
  return std::visit([&](const auto& p) { return draw_page(p, canvas, top, bottom); }, page);
}

Result<std::string> draw_memory(const MemoryStory& story, PictureForm form, Paper paper) {
  if (story.pages.empty()) return Error{ErrorCode::usage, "document of 0 pages: expected one or more"};
  return typeset("charts of memory", [&](Typesetter& type) {
    if (form == PictureForm::pdf) return write_pdf(story, type, paper);
    return write_picture(text_of(story.pages.front()).title, form, kPictureWidth, type,
                         [&](Canvas& canvas) { return draw_pages(story, canvas); });
  });
}

}  // namespace snapdiff::render
