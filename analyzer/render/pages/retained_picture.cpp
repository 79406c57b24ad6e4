#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

using graph::Edge;
using graph::GrowthGraph;
using graph::Node;
using graph::Weight;

constexpr std::uint32_t kHidden = std::numeric_limits<std::uint32_t>::max();

Weight flat_of(const RetainedNode& node) {
  const std::int64_t growth = node.self.growth();
  return {std::max<std::int64_t>(growth, 0), std::min<std::int64_t>(growth, 0)};
}

/// Parents are before children: one pass from the end.
std::vector<Weight> cumulative_of(const RetainedTree& tree) {
  std::vector<Weight> out;
  for (const RetainedNode& node : tree.nodes) out.push_back(flat_of(node));
  for (std::size_t n = out.size(); n-- > 1;) {
    out[tree.nodes[n].parent].grew += out[n].grew;
    out[tree.nodes[n].parent].shrank += out[n].shrank;
  }
  return out;
}

/// A parent passes at least what its child does and is before it, so that the first ones make a tree.
std::vector<std::uint32_t> choose(const std::vector<Weight>& cumulative, double fraction, std::size_t max_nodes) {
  std::vector<std::uint32_t> order(cumulative.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (a == 0 || b == 0) return a == 0 && b != 0;
    if (cumulative[a].importance() != cumulative[b].importance())
      return cumulative[a].importance() > cumulative[b].importance();
    return a < b;
  };
  const std::size_t kept = std::min(order.size(), max_nodes + 1);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), before);
  order.resize(kept);
  const double least = fraction * static_cast<double>(cumulative[0].importance());
  while (order.size() > 1) {
    const std::uint64_t importance = cumulative[order.back()].importance();
    if (importance != 0 && static_cast<double>(importance) >= least) break;
    order.pop_back();
  }
  std::ranges::sort(order);
  return order;
}

Node node_of(const RetainedTree& tree, const RetainedNode& from, const Weight& cumulative) {
  Node node;
  node.name = from.type.empty() ? "(no name)" : from.type;
  node.full_name = node.name;
  node.cumulative = cumulative;
  node.flat = flat_of(from);
  node.value = from.retained;
  node.flat_value = from.self;
  node.flat_objects = from.objects.growth();
  if (tree.has_bytes && node.flat_objects != 0 && from.self.growth() % node.flat_objects == 0)
    node.object_bytes = std::max<std::int64_t>(from.self.growth() / node.flat_objects, 0);
  node.added = tree.has_baseline() && from.retained.baseline == 0 && from.objects.baseline == 0;
  node.gone = tree.has_baseline() && from.retained.current == 0 && from.objects.current == 0;
  return node;
}

/// From the root to the heavier side, down to where a place has more of its own than it passes on.
void mark_spine(GrowthGraph& out) {
  std::vector<std::uint32_t> heaviest(out.nodes.size(), kHidden);
  for (std::uint32_t e = 0; e < out.edges.size(); ++e) {
    std::uint32_t& best = heaviest[out.edges[e].from];
    if (best == kHidden || out.edges[e].weight.importance() > out.edges[best].weight.importance()) best = e;
  }
  out.nodes[0].spine = true;
  for (std::uint32_t n = 0; heaviest[n] != kHidden;) {
    Edge& edge = out.edges[heaviest[n]];
    if (out.nodes[n].flat.importance() >= edge.weight.importance()) break;
    edge.spine = true;
    n = edge.to;
    out.nodes[n].spine = true;
  }
}

/// A dominator tree as a graph for drawing: at most `max_nodes` places beside the root, those through which
/// most growth and shrinkage passes (of one heap: which retain most). Growth of a place: of its own bytes,
/// growing and shrinking places apart. Errors: internal (drawn + hidden != total).
Result<GrowthGraph> retained_graph(const RetainedTree& tree, const graph::GraphOptions& options,
                                   std::size_t max_nodes) {
  const std::vector<Weight> cumulative = cumulative_of(tree);
  const std::vector<std::uint32_t> kept = choose(cumulative, options.node_fraction, max_nodes);
  std::vector<std::uint32_t> number(tree.nodes.size(), kHidden);
  GrowthGraph out;
  out.unit = tree.has_bytes ? "bytes" : "count";
  out.metric = tree.has_bytes ? "retained bytes" : "retained objects";
  out.total = cumulative[0];
  for (const std::uint32_t n : kept) {
    number[n] = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes.push_back(node_of(tree, tree.nodes[n], cumulative[n]));
    out.drawn_flat.grew += out.nodes.back().flat.grew;
    out.drawn_flat.shrank += out.nodes.back().flat.shrank;
    if (n == 0) continue;
    const std::uint32_t parent = number[tree.nodes[n].parent];
    if (parent == kHidden) return Error{ErrorCode::internal, "place drawn without the one that dominates it"};
    out.nodes.back().dominator = parent;
    Edge edge;
    edge.from = parent;
    edge.to = number[n];
    edge.weight = cumulative[n];
    out.edges.push_back(std::move(edge));
  }
  for (std::size_t n = 1; n < tree.nodes.size(); ++n) {
    if (number[n] != kHidden || cumulative[n].importance() == 0) continue;
    ++out.hidden_nodes;
    ++out.hidden_edges;
    out.hidden_flat.grew += flat_of(tree.nodes[n]).grew;
    out.hidden_flat.shrank += flat_of(tree.nodes[n]).shrank;
  }
  if (out.drawn_flat.grew + out.hidden_flat.grew != out.total.grew ||
      out.drawn_flat.shrank + out.hidden_flat.shrank != out.total.shrank)
    return Error{ErrorCode::internal, "drawn and hidden places do not add up to the heap"};
  mark_spine(out);
  return out;
}

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
  const std::string what = tree.has_baseline() ? "Bold: heaviest growth. " : "Bold: heaviest path. ";
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

Result<std::string> write_pdf(const RetainedStory& story, const graph::GraphOptions& options, Typesetter& type,
                              Paper paper) {
  const PictureText text = text_of(story);
  const auto trim = [&](std::size_t nodes) { return retained_graph(story.tree, options, nodes); };
  const Result<FittedScene> fitted =
      fit_scene(trim, type, options.max_nodes, kWidth, kLegendTop - 14 - kGraphTop, text.words);
  if (!fitted) return fitted.error();
  PagePlan plan;
  plan.add({text.title, "What keeps it alive?", "", [&](PdfDocument& document) {
              document.canvas().paragraph(kTop + 56, sentence_of(story.tree), {8.6}, kInk2, 3);
              draw_scaled(*fitted, document.canvas(), kGraphTop, {page_prefix(1), {}, false});
              draw_legend(fitted->scene, document.canvas(), kLegendTop);
            }});
  return write_document(plan, {"snapdiff: ", text.program, text.foot, printable(story.version), story.created_at_ns},
                        type, paper);
}

Error no_heap() { return {ErrorCode::usage, "picture of 0 heaps: expected one or two"}; }
constexpr const char* kWhat = "picture of what is retained";

}  // namespace

Result<std::string> draw_retained(const RetainedStory& story, PictureForm form, const graph::GraphOptions& options,
                                  Paper paper) {
  if (story.tree.nodes.empty()) return no_heap();
  return typeset(kWhat, [&](Typesetter& type) -> Result<std::string> {
    if (form == PictureForm::pdf) return write_pdf(story, options, type, paper);
    Result<graph::GrowthGraph> graph = retained_graph(story.tree, options, options.max_nodes);
    if (!graph) return std::move(graph).error();
    return draw_graph(*std::move(graph), text_of(story), form, type);
  });
}

Result<std::string> retained_as_dot(const RetainedStory& story, const graph::GraphOptions& options) {
  if (story.tree.nodes.empty()) return no_heap();
  return within_memory(kWhat, [&]() -> Result<std::string> {
    const Result<graph::GrowthGraph> graph = retained_graph(story.tree, options, options.max_nodes);
    if (!graph) return graph.error();
    return graph_as_dot(*graph, text_of(story));
  });
}

}  // namespace snapdiff::render
