#include "analyzer/session/pictures.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/flame/flame_tree.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/session/document.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/left_out.hpp"
#include "analyzer/session/memory_story.hpp"

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

/// The comparison as it is drawn.
render::Story tell_story(const Compared& compared) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  DiffOptions options = compared.options;
  options.by = GroupBy::stack;
  render::Story story;
  TrendReport trend = value_or_throw(judge_series(refs, options));
  if (trend.series.overall.series_length >= kJudgedFrom) story.verdicts = std::move(trend.verdicts);
  story.steps = std::move(trend.steps);
  story.missing = missing_inputs(compared.loaded);
  story.overall = std::move(trend.series.overall);
  story.order_note = order_of(compared.loaded);
  sign(story, compared.loaded);
  return story;
}

render::FlameStory of_one(const SnapshotRef& ref, const DiffOptions& options, const render::Drawing& drawing) {
  const TopReport top = value_or_throw(diff::top(ref, options));
  FlameTree tree = value_or_throw(flame::flame_tree(top));
  return drawing.tell_flame_of_top(std::move(tree), top);
}

[[noreturn]] void fail_without_roles() {
  fail({ErrorCode::usage, "no roles in this snapshot: expected one of a CUDA device, or a moment as FILE@peak"});
}

/// Of what one snapshot holds, a part for each role.
render::FlameStory of_roles(const SnapshotRef& whole, const DiffOptions& options, const render::Drawing& drawing) {
  std::vector<flame::RoleRows> parts;
  for (const auto& [role, rows] : cuda::by_role(*whole.snapshot)) {
    SnapshotRef part = whole;
    part.snapshot = std::make_shared<const Snapshot>(rows);
    parts.push_back({cuda::to_text(role), value_or_throw(diff::top(part, options))});
  }
  if (parts.empty()) fail_without_roles();
  FlameTree tree = value_or_throw(flame::flame_tree(parts));
  const TopReport all = value_or_throw(diff::top(whole, options));
  if (all.total != tree.boxes.front().value.current)
    fail({ErrorCode::internal, "flame graph: roles do not add up to the total"});
  return drawing.tell_flame_of_top(std::move(tree), all);
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
render::FlameStory of_roles(const SnapshotRef& before, const SnapshotRef& after, const DiffOptions& options,
                            FlameWidth width, const render::Drawing& drawing) {
  const std::map<cuda::Role, Snapshot> old = cuda::by_role(*before.snapshot), now = cuda::by_role(*after.snapshot);
  if (old.empty() || now.empty()) fail_without_roles();
  std::vector<flame::RoleGrowth> parts;
  for (std::size_t role = 0; role < kRoleNames.size(); ++role) {
    const auto which = static_cast<cuda::Role>(role);
    if (!old.contains(which) && !now.contains(which)) continue;
    GrowthReport report = value_or_throw(diff::diff(part_of(before, old, which), part_of(after, now, which), options));
    parts.push_back({cuda::to_text(which), std::move(report)});
  }
  FlameTree tree = value_or_throw(flame::flame_tree(parts, width));
  const GrowthReport all = value_or_throw(diff::diff(before, after, options));
  if (all.total != tree.boxes.front().value)
    fail({ErrorCode::internal, "flame graph: roles do not add up to the total"});
  return drawing.tell_flame_of_growth(std::move(tree), all);
}

render::FlameStory of_ends(const std::vector<SnapshotRef>& refs, const DiffOptions& options, FlameWidth width,
                           const render::Drawing& drawing) {
  const GrowthReport report = value_or_throw(diff::diff(refs.front(), refs.back(), options));
  FlameTree tree = value_or_throw(flame::flame_tree(report, width));
  return drawing.tell_flame_of_growth(std::move(tree), report);
}

}  // namespace

Result<std::string> draw_growth(const Compared& compared, const PictureOptions& options, const Watch& watch) {
  return guarded([&]() -> std::string {
    const std::vector<SnapshotRef> refs = compared.loaded.refs();
    if (refs.size() < 2) fail({ErrorCode::usage, "render needs at least two snapshots: found 1"});
    if (diff::has_counters_only(refs)) return value_or_throw(draw_counters(compared.loaded, options));
    const render::Drawing* const drawing = value_or_throw(render::open_drawing());
    const render::Story story = in_stage(watch, "comparing", [&] { return tell_story(compared); });
    const graph::GraphOptions graph = graph_of(options);
    return value_or_throw(in_stage(watch, "drawing", [&] {
      switch (options.form) {
        case PictureForm::svg: return drawing->to_svg(story, graph);
        case PictureForm::png: return drawing->to_png(story, graph);
        case PictureForm::dot: return drawing->to_dot(story, graph);
        default: return drawing->to_pdf(story, graph, paper_of(options));
      }
    }));
  });
}

Result<std::string> draw_flame(const Compared& compared, const PictureOptions& options) {
  return guarded([&]() -> std::string {
    const Loaded& loaded = compared.loaded;
    const std::vector<SnapshotRef> refs = loaded.refs();
    if (options.form == PictureForm::dot)
      fail({ErrorCode::usage, "--dot has no flame graph: expected --pdf, --svg or --png"});
    const render::Drawing* const drawing = value_or_throw(render::open_drawing());
    if (diff::has_counters_only(refs))
      fail({ErrorCode::usage, "a flame graph is of stacks: found counters alone, expected heaps"});
    // The tree's texts are those of its snapshots.
    const std::vector<SnapshotRef> ends = refs.size() == 1 ? refs : std::vector<SnapshotRef>{refs.front(), refs.back()};
    const Labelled with_labels = value_or_throw(labelled(ends, compared.options));
    DiffOptions view = compared.options;
    view.by = GroupBy::stack;
    const std::vector<SnapshotRef>& by_role = with_labels.snapshots;
    render::FlameStory story =
        !is_by_role(compared.options)
            ? (refs.size() == 1 ? of_one(refs.front(), view, *drawing) : of_ends(refs, view, options.width, *drawing))
        : refs.size() == 1 ? of_roles(by_role.front(), view, *drawing)
                           : of_roles(by_role.front(), by_role.back(), view, options.width, *drawing);
    if (refs.size() > 2) story.order_note = "first and last of " + order_of(loaded);
    story.title.clear();
    sign(story, loaded);
    return value_or_throw(drawing->draw_flame(story, drawn_form(options), paper_of(options)));
  });
}

Result<std::string> draw_timeline(const Compared& compared, const PictureOptions& options) {
  return guarded([&]() -> std::string {
    const render::Drawing* const drawing = value_or_throw(render::open_drawing());
    return value_or_throw(drawing->draw_series(tell_story(compared), drawn_form(options), paper_of(options)));
  });
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
  return guarded([&]() -> std::string {
    const std::vector<SnapshotRef> refs = loaded.refs();
    render::RetainedStory story;
    story.tree = value_or_throw(in_stage(watch, "finding dominators", [&] {
      return objects::retained_tree(refs.size() == 2 ? refs.front() : SnapshotRef{}, refs.back());
    }));
    story.source = source_text(loaded);
    sign(story, loaded);
    const render::Drawing* const drawing = value_or_throw(render::open_drawing());
    const graph::GraphOptions graph = graph_of(options);
    return value_or_throw(options.form == PictureForm::dot
                              ? drawing->retained_as_dot(story, graph)
                              : drawing->draw_retained(story, drawn_form(options), graph, paper_of(options)));
  });
}

Result<Page> make_page(const Compared& compared, const PictureOptions& options, std::optional<std::int64_t> limit) {
  return guarded([&]() -> Page {
    const ReportedSeries series = value_or_throw(reported_series(compared.loaded));
    if (series.loaded.snapshots.size() < 2)
      fail({ErrorCode::usage, "the page compares snapshots: found 1, expected at least 2"});
    const postmortem::Rules rules = value_or_throw(postmortem::built_in_rules());
    const Postmortem report = value_or_throw(find_out(series, compared.options, limit, rules));
    Page page;
    html::HtmlOptions html;
    html.start = options.kind == PictureKind::flame ? "flame" : options.kind == PictureKind::timeline ? "timeline" : "";
    if (!report.growth().metric.empty()) {
      // Everything else on the page is drawn by the browser.
      if (const Result<const render::Drawing*> drawing = render::open_drawing(); drawing) {
        html.graph_svg = value_or_throw((*drawing)->growth_svg(report, graph_of(options)));
      } else {
        page.no_graph = drawing.error();
      }
    }
    page.bytes = value_or_throw(html::to_html(report, html));
    return page;
  });
}

Result<std::string> draw(const Compared& compared, const PictureOptions& options, const Watch& watch) {
  if (options.form == PictureForm::html)
    return guarded([&] { return value_or_throw(make_page(compared, options)).bytes; });
  if (options.kind == PictureKind::flame) return draw_flame(compared, options);
  if (options.kind == PictureKind::timeline && !diff::has_counters_only(compared.loaded.refs()))
    return draw_timeline(compared, options);
  return draw_growth(compared, options, watch);
}

}  // namespace snapdiff::session
