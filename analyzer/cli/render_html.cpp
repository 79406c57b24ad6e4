#include <utility>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/postmortem_series.hpp"
#include "analyzer/cli/render_job.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/render/drawing.hpp"

namespace snapdiff::cli {

int render_html(const Options& options, const RenderOptions& wanted, const Terminal& terminal) {
  Result<Compared> compared = load_compared(options, terminal, Fallback::with_view, store::Parts::allocator);
  if (!compared) return fail(compared.error());
  Result<std::optional<ReportedSeries>> moments = series_of_trace(compared->loaded);
  if (!moments) return fail(moments.error());
  ReportedSeries series;
  if (*moments) {
    series = **std::move(moments);
  } else {
    series.loaded = compared->loaded;
  }
  if (series.loaded.snapshots.size() < 2)
    return fail({ErrorCode::usage, "the page compares snapshots: found 1, expected at least 2"});
  const Result<postmortem::Rules> rules = postmortem::built_in_rules();
  if (!rules) return fail(rules.error());
  const Result<Postmortem> report = find_out(series, compared->options, {}, *rules);
  if (!report) return fail(report.error());
  html::HtmlOptions page;
  page.start = wanted.flame ? "flame" : wanted.memory.timeline ? "timeline" : "";
  if (!report->growth().metric.empty()) {
    // Everything else on the page is drawn by the browser.
    if (const Result<const render::Drawing*> drawing = render::open_drawing(); drawing) {
      Result<std::string> graph = (*drawing)->growth_svg(*report, wanted.graph);
      if (!graph) return fail(graph.error());
      page.graph_svg = *std::move(graph);
    } else {
      say("warning: the page has no graph: " + escape_for_terminal(drawing.error().message));
    }
  }
  const Result<std::string> bytes = html::to_html(*report, page);
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, "html", *bytes); code != kExitDone) return code;
  return tell_notes(compared->loaded, options);
}

}  // namespace snapdiff::cli
