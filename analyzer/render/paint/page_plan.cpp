#include "analyzer/render/paint/page_plan.hpp"

#include "snapdiff/concat.hpp"

namespace snapdiff::render {

Result<std::string> write_document(const PagePlan& plan, const DocumentText& text, Typesetter& type, Paper paper) {
  const std::string fonts = concat("fonts: ", type.sans(), ", ", type.mono());
  PdfDocument document(type, paper, {text.kind + text.program, text.version, fonts, text.created_at_ns},
                       static_cast<int>(plan.pages().size()));
  int parent = 0;
  std::string section;
  for (const PlannedPage& page : plan.pages()) {
    document.begin_page({text.program, page.title, page.question, page.foot.empty() ? text.foot : page.foot});
    const std::string here = std::string("p").append(std::to_string(document.page()));
    if (page.section.empty()) parent = 0;
    if (!page.section.empty() && page.section != section) parent = document.bookmark(0, page.section, here);
    section = page.section;
    if (page.listed) document.bookmark(parent, page.title, here);
    if (Status status = page.draw(document); !status) return std::move(status).error();
    document.end_page();
  }
  return document.finish();
}

}  // namespace snapdiff::render
