#include <memory>

#include "analyzer/render/graph/retained_graph.hpp"
#include "analyzer/render/pages/graph_picture.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "analyzer/render/paint/text.hpp"
#include "analyzer/render/retained.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

SceneWords words_of(const RetainedTree& tree) {
  SceneWords words;
  words.here = "own: ";
  if (tree.has_baseline()) {
    words.passes_growth = "Edge: width is growth retained below";
    words.passes_shrinkage = "Edge: width is shrinkage below";
    words.passes_both = "Edge: width is growth + shrinkage";
    return words;
  }
  words.growth = false;
  words.root = words.root_both = "all roots";
  words.fill = tree.has_bytes ? "Fill: retained bytes" : "Fill: retained objects";
  words.passes_growth = "Edge: width is what is retained";
  return words;
}

/// "Alive: 380 B → 600 B, +220 B"
std::string title_of(const RetainedTree& tree) {
  const Quantity q{tree.has_bytes};
  const Change& all = tree.nodes[0].retained;
  const auto value = [&](std::int64_t v) {
    return tree.has_bytes ? q.value(v) : counted(static_cast<std::uint64_t>(v), "object");
  };
  if (!tree.has_baseline()) return std::string("Alive: ").append(value(all.current));
  return concat("Alive: ", q.value(all.baseline), " \u2192 ", value(all.current), ", ", q.growth(all.growth()));
}

std::string sentence_of(const RetainedTree& tree) {
  const std::string what = tree.has_baseline() ? "The bold column follows the heavier growth. "
                                               : "The bold column follows the heavier side. ";
  return what +
         "A box stands for all objects of a type whose dominators have the types above it; without those, they would "
         "all go. An object that several hold is below what dominates all of them, not below one of them. Objects "
         "of one type below each other are one box.";
}

PictureText text_of(const RetainedStory& story) {
  std::string foot = printable(story.source);
  foot += concat("  \u00b7  ", story.tree.has_bytes ? "retained bytes" : "retained objects",
                 ", dominator tree by types, weak references not followed  \u00b7  ", printable(story.version));
  return {printable(story.title), title_of(story.tree), std::move(foot), words_of(story.tree)};
}

Result<std::string> write_pdf(const RetainedStory& story, const graph::GraphOptions& options, Paper paper) {
  Result<std::unique_ptr<Typesetter>> type = Typesetter::make();
  if (!type) return std::move(type).error();
  const PictureText text = text_of(story);
  const auto trim = [&](std::size_t nodes) { return retained_graph(story.tree, options, nodes); };
  const Result<FittedScene> fitted =
      fit_scene(trim, **type, options.max_nodes, kWidth, kLegendTop - 14 - kGraphTop, text.words);
  if (!fitted) return fitted.error();
  PagePlan plan;
  plan.add({"", text.title, "What keeps it alive?", "", [&](PdfDocument& document) {
              document.canvas().paragraph(kTop + 56, sentence_of(story.tree), {8.6}, kInk2, 3);
              draw_scaled(*fitted, document.canvas(), kGraphTop, {page_prefix(1), {}, false});
              draw_legend(fitted->scene, document.canvas(), kLegendTop);
            }});
  return write_document(plan, {"snapdiff: ", text.program, text.foot, printable(story.version), story.created_at_ns},
                        **type, paper);
}

template <class Make>
Result<std::string> guarded(const RetainedStory& story, const Make& make) {
  if (story.tree.nodes.empty()) return Error{ErrorCode::usage, "picture of 0 heaps: expected one or two"};
  return within_memory("picture of what is retained", make);
}

}  // namespace

Result<std::string> draw_retained(const RetainedStory& story, PictureForm form, const graph::GraphOptions& options,
                                  Paper paper, double scale) {
  if (!(scale > 0)) return Error{ErrorCode::usage, "scale of a picture: expected more than 0"};
  return guarded(story, [&]() -> Result<std::string> {
    if (form == PictureForm::pdf) return write_pdf(story, options, paper);
    Result<graph::GrowthGraph> graph = retained_graph(story.tree, options, options.max_nodes);
    if (!graph) return std::move(graph).error();
    return draw_graph(*std::move(graph), text_of(story), form, scale);
  });
}

Result<std::string> retained_as_dot(const RetainedStory& story, const graph::GraphOptions& options) {
  return guarded(story, [&]() -> Result<std::string> {
    const Result<graph::GrowthGraph> graph = retained_graph(story.tree, options, options.max_nodes);
    if (!graph) return graph.error();
    return graph_as_dot(*graph, text_of(story));
  });
}

}  // namespace snapdiff::render
