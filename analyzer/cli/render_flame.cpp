#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/document.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/render_job.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/flame/flame.hpp"
#include "analyzer/render/drawing.hpp"

namespace snapdiff::cli {
namespace {

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

Result<render::FlameStory> of_ends(const std::vector<SnapshotRef>& refs, const DiffOptions& options, FlameWidth width,
                                   const render::Drawing& drawing) {
  const Result<GrowthReport> report = diff::diff(refs.front(), refs.back(), options);
  if (!report) return report.error();
  Result<FlameTree> tree = flame::flame_tree(*report, width);
  if (!tree) return std::move(tree).error();
  return drawing.tell_flame_of_growth(*std::move(tree), *report);
}

}  // namespace

int render_flame(const Options& options, const RenderOptions& wanted, const Terminal& terminal) {
  if (wanted.dot) return fail({ErrorCode::usage, "--dot has no flame graph: expected --pdf, --svg or --png"});
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return fail(drawing.error());
  const Result<Compared> compared = load_compared(options, terminal, Fallback::with_view);
  if (!compared) return fail(compared.error());
  const Loaded& loaded = compared->loaded;
  const std::vector<SnapshotRef> refs = loaded.refs();
  if (diff::has_counters_only(refs))
    return fail({ErrorCode::usage, "a flame graph is of stacks: found counters alone, expected heaps"});
  DiffOptions view = compared->options;
  view.by = GroupBy::stack;
  Result<render::FlameStory> story = refs.size() == 1 ? of_one(refs.front(), view, wanted.width, **drawing)
                                                      : of_ends(refs, view, wanted.width, **drawing);
  if (!story) return fail(story.error());
  story->title = title_of(loaded);
  story->version = "snapdiff " SNAPDIFF_VERSION;
  if (refs.size() > 2) story->order_note = "first and last of " + order_of(loaded);
  story->created_at_ns = document_time_ns(loaded);
  const Result<std::string> bytes = (*drawing)->draw_flame(*story, wanted.form(), wanted.page());
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, wanted.ending(), *bytes); code != kExitDone) return code;
  return tell_notes(loaded, options);
}

int render_series(const Options& options, const RenderOptions& wanted, const Compared& compared) {
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return fail(drawing.error());
  const Result<render::Story> story = tell_story(compared, false);
  if (!story) return fail(story.error());
  const Result<std::string> bytes = (*drawing)->draw_series(*story, wanted.form(), wanted.page());
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, wanted.ending(), *bytes); code != kExitDone) return code;
  return tell_notes(compared.loaded, options);
}

}  // namespace snapdiff::cli
