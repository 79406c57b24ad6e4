#include <algorithm>
#include <utility>

#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "analyzer/render/paint/typesetter.hpp"

namespace snapdiff::render {
namespace {

/// The judged part as the pages of a comparison know it.
Story story_of(const Postmortem& report) {
  Story story;
  story.overall = report.growth();
  story.steps = report.trend.series.steps;
  const std::size_t left_out = std::min(report.trend.left_out, report.steps.size());
  if (left_out + story.steps.size() == report.steps.size())
    story.before.assign(report.steps.begin(), report.steps.begin() + static_cast<std::ptrdiff_t>(left_out));
  story.missing = report.missing;
  const std::vector<Verdict>& verdicts = report.trend.verdicts;
  const bool judged = verdicts.size() == story.overall.rows.size() &&
                      std::ranges::any_of(verdicts, [](const Verdict& v) { return !v.word.empty(); });
  if (judged) story.verdicts = verdicts;
  story.title = report.title;
  story.version = report.version;
  story.order_note = report.order_note;
  story.created_at_ns = report.created_at_ns;
  return story;
}

/// The foot of every page.
std::string foot_of(const PostmortemPages& pages) {
  constexpr std::string_view kBetween = "  \u00b7  ";
  std::string text;
  if (pages.has_stacks) {
    text = footer_text(pages.story.overall);
  } else if (!pages.source.empty()) {
    text = printable(pages.source);
  } else {
    text = printable(pages.report.order_note);
  }
  if (!text.empty()) text.append(kBetween);
  return text.append(printable(pages.report.version));
}

/// Something of the inputs is missing or doubtful.
bool has_losses(const Notes& notes) {
  return std::ranges::any_of(notes.all(), [](const Note& note) { return note.severity != Severity::info; });
}

/// Nothing passes through a frame where nothing changed; types of an object graph have no callers at all.
bool passes_through_frames(const GrowthReport& growth) {
  const auto& last = growth.current.snapshot;
  return (growth.grew != 0 || growth.shrank != 0) && (last == nullptr || last->graph == nullptr);
}

Status plan_pages(PostmortemPages& pages) {
  plan_answer(pages);
  plan_narrative(pages);
  // The full device and its holders explain a failed allocation better than the growth does.
  if (pages.report.failure) {
    plan_failure(pages);
  } else if (pages.has_stacks && passes_through_frames(pages.story.overall)) {
    if (Status status = plan_graph(pages.growth, pages.options); !status) return status;
  }
  if (pages.report.resident) plan_resident(pages);
  // A single one is on the first page.
  if (!pages.has_stacks && pages.report.counters && pages.report.counters->rows.size() > 1) plan_counters(pages);
  if (has_losses(pages.report.notes)) plan_unknown(pages);
  return ok();
}

Result<std::string> write_postmortem(const Postmortem& report, const std::string& source,
                                     const graph::GraphOptions& options, Typesetter& type, Paper paper) {
  PostmortemPages pages{report, source, options, type, story_of(report)};
  pages.has_stacks = pages.story.steps.size() >= 2 && !pages.story.overall.metric.empty();
  if (Status status = plan_pages(pages); !status) return std::move(status).error();
  return write_document(pages.plan,
                        {"snapdiff post-mortem: ", printable(report.title), foot_of(pages), printable(report.version),
                         report.created_at_ns},
                        type, paper);
}

}  // namespace

void draw_section(Canvas& canvas, double y, const std::string& title, const std::string& remark) {
  canvas.heading(y, title, remark);
  canvas.rule(kLeft, kRight, y + 5, kInk3, 0.7);
}

Block section_block(const std::string& title, const std::string& remark) {
  return {30, [title, remark](Canvas& canvas, double y) { draw_section(canvas, y + 19, title, remark); }, true};
}

Result<std::string> growth_svg(const Postmortem& postmortem, const graph::GraphOptions& options) {
  return to_svg(story_of(postmortem), options);
}

Result<std::string> postmortem_pdf(const Postmortem& postmortem, const std::string& source,
                                   const graph::GraphOptions& options, Paper paper) {
  return typeset("post-mortem as PDF",
                 [&](Typesetter& type) { return write_postmortem(postmortem, source, options, type, paper); });
}

}  // namespace snapdiff::render
