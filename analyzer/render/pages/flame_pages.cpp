#include <memory>
#include <utility>

#include "analyzer/flame/flame_tree.hpp"
#include "analyzer/render/flame/flame_page.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"

namespace snapdiff::render {

Status plan_flame(PostmortemPages& pages) {
  const GrowthReport& report = pages.report.growth();
  if (report.grew == 0 && report.shrank == 0) return ok();
  Result<FlameTree> tree = flame::flame_tree(report, FlameWidth::change);
  if (!tree) return std::move(tree).error();
  auto story = std::make_shared<FlameStory>(tell_flame(*std::move(tree), report));
  story->title = pages.report.title;
  story->version = pages.report.version;
  story->order_note = pages.report.order_note;
  const PageFrame frame = flame_frame(*story);
  pages.plan.add({"flame", frame.title, frame.question, "", [story](PdfDocument& document) {
                    draw_flame_content(*story, document.canvas(), kTop + 57, kBottom - 4, "flame-");
                  }});
  return ok();
}

}  // namespace snapdiff::render
