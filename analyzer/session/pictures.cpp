#include "analyzer/session/pictures.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/flame/flame.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/session/document.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/left_out.hpp"
#include "analyzer/session/memory_story.hpp"
#include "snapdiff/role_names.hpp"

namespace snapdiff::session {
namespace {

render::PictureForm drawn_form(const PictureOptions& options) {
  return options.form == PictureForm::svg   ? render::PictureForm::svg
         : options.form == PictureForm::png ? render::PictureForm::png
                                            : render::PictureForm::pdf;
}

render::Paper paper_of(const PictureOptions& options) {
  return options.letter ? render::Paper::letter : render::Paper::a4;
}

graph::GraphOptions graph_of(const PictureOptions& options) { return {.max_nodes = options.max_nodes}; }

/// What the head and the foot of every page say.
template <class AnyStory>
void sign(AnyStory& story, const Loaded& loaded) {
  if (story.title.empty()) story.title = title_of(loaded);
  story.version = kVersion;
  story.created_at_ns = document_time_ns(loaded);
}

/// The comparison as it is drawn; `pairs` of consecutive snapshots only where asked for.
Result<render::Story> tell_story(const Compared& compared, bool with_pairs) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  DiffOptions options = compared.options;
  options.by = GroupBy::stack;
  render::Story story;
  Result<JudgedSeries> series = judge_series(refs, options);
  if (!series) return std::move(series).error();
  for (std::size_t i = 1; with_pairs && refs.size() > 2 && i < refs.size(); ++i) {
    Result<GrowthReport> pair = compare_pair(refs[i - 1], refs[i], options);
    if (!pair) return std::move(pair).error();
    story.pairs.push_back(*std::move(pair));
  }
  TrendReport& trend = series->trend;
  if (trend.series.overall.series_length >= kJudgedFrom) story.verdicts = std::move(trend.verdicts);
  story.steps = std::move(series->steps);
  story.missing = missing_inputs(compared.loaded);
  story.overall = std::move(trend.series.overall);
  story.order_note = order_of(compared.loaded);
  story.full = with_pairs;
  sign(story, compared.loaded);
  return story;
}

Result<render::FlameStory> of_one(const SnapshotRef& ref, const DiffOptions& options, FlameWidth width,
                                  const render::Drawing& drawing) {
  if (width != FlameWidth::change && width != FlameWidth::current)
    return Error{ErrorCode::usage, "--" + std::string(to_text(width)) + " needs two snapshots: found 1"};
  const Result<TopReport> top = diff::top(ref, options);
  if (!top) return top.error();
  Result<FlameTree> tree = flame::flame_tree(*top);
  if (!tree) return std::move(tree).error();
  return drawing.tell_flame_of_top(*std::move(tree), *top);
}

Error no_roles() {
  return Error{ErrorCode::usage, "no roles in this snapshot: expected one of a CUDA device, or a moment as FILE@peak"};
}

/// Of what one snapshot holds, a part for each role.
Result<render::FlameStory> of_roles(const SnapshotRef& whole, const DiffOptions& options,
                                    const render::Drawing& drawing) {
  std::vector<flame::RoleRows> parts;
  for (const auto& [role, rows] : cuda::by_role(*whole.snapshot)) {
    SnapshotRef part = whole;
    part.snapshot = std::make_shared<const Snapshot>(rows);
    Result<TopReport> top = diff::top(part, options);
    if (!top) return std::move(top).error();
    parts.push_back({cuda::to_text(role), *std::move(top)});
  }
  if (parts.empty()) return no_roles();
  Result<FlameTree> tree = flame::flame_tree(parts);
  if (!tree) return std::move(tree).error();
  const Result<TopReport> all = diff::top(whole, options);
  if (!all) return all.error();
  if (all->total != tree->boxes.front().value.current)
    return Error{ErrorCode::internal, "flame graph: roles do not add up to the total"};
  return drawing.tell_flame_of_top(*std::move(tree), *all);
}

/// The rows of one role in a snapshot, none where it has none of it.
SnapshotRef part_of(const SnapshotRef& whole, const std::map<cuda::Role, Snapshot>& roles, cuda::Role role) {
  SnapshotRef part = whole;
  const auto found = roles.find(role);
  Snapshot rows = found != roles.end() ? found->second : *whole.snapshot;
  if (found == roles.end()) {
    rows.samples.stack.clear();
    rows.samples.labels.clear();
    for (Column& column : rows.samples.columns) column.value.clear(), column.known.clear();
  }
  rows.allocator = nullptr;
  part.snapshot = std::make_shared<const Snapshot>(std::move(rows));
  return part;
}

/// Of two snapshots, a part for each role that either has.
Result<render::FlameStory> of_roles(const SnapshotRef& before, const SnapshotRef& after, const DiffOptions& options,
                                    FlameWidth width, const render::Drawing& drawing) {
  const std::map<cuda::Role, Snapshot> old = cuda::by_role(*before.snapshot), now = cuda::by_role(*after.snapshot);
  if (old.empty() || now.empty()) return no_roles();
  std::vector<flame::RoleGrowth> parts;
  for (std::size_t role = 0; role < kRoleNames.size(); ++role) {
    const auto which = static_cast<cuda::Role>(role);
    if (!old.contains(which) && !now.contains(which)) continue;
    Result<GrowthReport> report = diff::diff(part_of(before, old, which), part_of(after, now, which), options);
    if (!report) return std::move(report).error();
    parts.push_back({cuda::to_text(which), *std::move(report)});
  }
  Result<FlameTree> tree = flame::flame_tree(parts, width);
  if (!tree) return std::move(tree).error();
  const Result<GrowthReport> all = diff::diff(before, after, options);
  if (!all) return all.error();
  if (all->total != tree->boxes.front().value)
    return Error{ErrorCode::internal, "flame graph: roles do not add up to the total"};
  return drawing.tell_flame_of_growth(*std::move(tree), *all);
}

Result<render::FlameStory> of_ends(const std::vector<SnapshotRef>& refs, const DiffOptions& options, FlameWidth width,
                                   const render::Drawing& drawing) {
  const Result<GrowthReport> report = diff::diff(refs.front(), refs.back(), options);
  if (!report) return report.error();
  Result<FlameTree> tree = flame::flame_tree(*report, width);
  if (!tree) return std::move(tree).error();
  return drawing.tell_flame_of_growth(*std::move(tree), *report);
}

}  // namespace

Result<std::string> draw_growth(const Compared& compared, const PictureOptions& options, const Watch& watch) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  if (refs.size() < 2) return Error{ErrorCode::usage, "render needs at least two snapshots: found 1"};
  if (diff::has_counters_only(refs)) return draw_counters(compared.loaded, options);
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return drawing.error();
  const Result<render::Story> story = in_stage(watch, "comparing", [&] { return tell_story(compared, options.full); });
  if (!story) return story.error();
  const graph::GraphOptions graph = graph_of(options);
  return in_stage(watch, "drawing", [&] {
    switch (options.form) {
      case PictureForm::svg: return (*drawing)->to_svg(*story, graph);
      case PictureForm::png: return (*drawing)->to_png(*story, graph);
      case PictureForm::dot: return (*drawing)->to_dot(*story, graph);
      default: return (*drawing)->to_pdf(*story, graph, paper_of(options));
    }
  });
}

Result<std::string> draw_flame(const Compared& compared, const PictureOptions& options) {
  const Loaded& loaded = compared.loaded;
  const std::vector<SnapshotRef> refs = loaded.refs();
  if (options.form == PictureForm::dot)
    return Error{ErrorCode::usage, "--dot has no flame graph: expected --pdf, --svg or --png"};
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return drawing.error();
  if (diff::has_counters_only(refs))
    return Error{ErrorCode::usage, "a flame graph is of stacks: found counters alone, expected heaps"};
  // The tree's texts are those of its snapshots.
  const std::vector<SnapshotRef> ends = refs.size() == 1 ? refs : std::vector<SnapshotRef>{refs.front(), refs.back()};
  const Result<Labelled> with_labels = labelled(ends, compared.options);
  if (!with_labels) return with_labels.error();
  DiffOptions view = compared.options;
  view.by = GroupBy::stack;
  const std::vector<SnapshotRef>& by_role = with_labels->snapshots;
  Result<render::FlameStory> story =
      !is_by_role(compared.options) ? (refs.size() == 1 ? of_one(refs.front(), view, options.width, **drawing)
                                                        : of_ends(refs, view, options.width, **drawing))
      : refs.size() == 1            ? of_roles(by_role.front(), view, **drawing)
                                    : of_roles(by_role.front(), by_role.back(), view, options.width, **drawing);
  if (!story) return std::move(story).error();
  if (refs.size() > 2) story->order_note = "first and last of " + order_of(loaded);
  story->title.clear();
  sign(*story, loaded);
  return (*drawing)->draw_flame(*story, drawn_form(options), paper_of(options));
}

Result<std::string> draw_timeline(const Compared& compared, const PictureOptions& options) {
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return drawing.error();
  const Result<render::Story> story = tell_story(compared, false);
  if (!story) return story.error();
  return (*drawing)->draw_series(*story, drawn_form(options), paper_of(options));
}

Result<std::string> draw_counters(const Loaded& loaded, const PictureOptions& options) {
  if (options.form == PictureForm::dot)
    return Error{ErrorCode::usage, "--dot has no charts: expected --pdf, --svg or --png"};
  if (loaded.snapshots.size() < 2) return Error{ErrorCode::usage, "render needs at least two snapshots: found 1"};
  Result<CounterReport> counters = judged_counters(loaded.refs());
  if (!counters) return std::move(counters).error();
  render::MemoryStory story;
  story.source = base_name(loaded.snapshots.front().ref.snapshot->facts.source.name);
  story.pages.push_back(render::CountersPage{*std::move(counters)});
  return draw_memory(std::move(story), loaded, options);
}

Result<std::string> draw_memory(render::MemoryStory story, const Loaded& loaded, const PictureOptions& options) {
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return drawing.error();
  sign(story, loaded);
  return (*drawing)->draw_memory(story, drawn_form(options), paper_of(options));
}

Result<std::string> draw_retained(const Loaded& loaded, const PictureOptions& options, const Watch& watch) {
  const std::vector<SnapshotRef> refs = loaded.refs();
  Result<RetainedTree> tree = in_stage(watch, "finding dominators", [&] {
    return objects::retained_tree(refs.size() == 2 ? refs.front() : SnapshotRef{}, refs.back());
  });
  if (!tree) return std::move(tree).error();
  render::RetainedStory story;
  story.tree = *std::move(tree);
  story.source = source_text(loaded);
  sign(story, loaded);
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return drawing.error();
  const graph::GraphOptions graph = graph_of(options);
  if (options.form == PictureForm::dot) return (*drawing)->retained_as_dot(story, graph);
  return (*drawing)->draw_retained(story, drawn_form(options), graph, paper_of(options));
}

Result<Page> make_page(const Compared& compared, const PictureOptions& options) {
  const Result<ReportedSeries> series = reported_series(compared.loaded);
  if (!series) return series.error();
  if (series->loaded.snapshots.size() < 2)
    return Error{ErrorCode::usage, "the page compares snapshots: found 1, expected at least 2"};
  const Result<postmortem::Rules> rules = postmortem::built_in_rules();
  if (!rules) return rules.error();
  const Result<Postmortem> report = find_out(*series, compared.options, {}, *rules);
  if (!report) return report.error();
  Page page;
  html::HtmlOptions html;
  html.start = options.kind == PictureKind::flame ? "flame" : options.kind == PictureKind::timeline ? "timeline" : "";
  if (!report->growth().metric.empty()) {
    // Everything else on the page is drawn by the browser.
    if (const Result<const render::Drawing*> drawing = render::open_drawing(); drawing) {
      Result<std::string> graph = (*drawing)->growth_svg(*report, graph_of(options));
      if (!graph) return std::move(graph).error();
      html.graph_svg = *std::move(graph);
    } else {
      page.no_graph = drawing.error();
    }
  }
  Result<std::string> bytes = html::to_html(*report, html);
  if (!bytes) return std::move(bytes).error();
  page.bytes = *std::move(bytes);
  return page;
}

Result<std::string> draw(const Compared& compared, const PictureOptions& options, const Watch& watch) {
  if (options.form == PictureForm::html) {
    Result<Page> page = make_page(compared, options);
    if (!page) return std::move(page).error();
    return std::move(page->bytes);
  }
  if (options.kind == PictureKind::flame) return draw_flame(compared, options);
  if (options.kind == PictureKind::timeline && !diff::has_counters_only(compared.loaded.refs()))
    return draw_timeline(compared, options);
  return draw_growth(compared, options, watch);
}

}  // namespace snapdiff::session
