#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/written_answer.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/axis_chart.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/memory_story.hpp"
#include "analyzer/session/pictures.hpp"

namespace snapdiff::cli {
namespace {

/// What `render` is asked for.
struct RenderOptions : PictureOptions {
  bool pdf = false, svg = false, png = false, dot = false, html = false;
  session::MemoryPages memory;
  bool retained = false;
  bool flame = false, current = false;
  std::string paper = "a4";

  std::string_view ending() const {
    constexpr std::string_view kEndings[] = {"pdf", "html", "svg", "png", "dot"};
    return kEndings[static_cast<std::size_t>(form)];
  }
};

/// What all kinds of pictures are made of.
struct Job {
  const Options& options;
  const RenderOptions& wanted;
  const DiffOptions& view;
  const session::Request& request;
};

session::Compared compared_of(const Job& job, store::Parts parts = store::Parts::rows) {
  // Roles are worked out from traces.
  if (session::is_by_role(job.view)) parts = store::Parts::allocator;
  return value_or_throw(
      session::load_compared(job.options.operands, job.view, job.request, session::Fallback::with_view, parts));
}

/// Writes the picture where the options say and says so, and what was noted. Returns the exit code.
int finish(const Job& job, const Result<std::string>& drawn, const Loaded& loaded) {
  const std::string bytes = value_or_throw(drawn);
  const std::string path =
      job.options.output.empty() ? "snapdiff." + std::string(job.wanted.ending()) : job.options.output;
  job.options.open ? open_page(bytes, job.options) : write_and_tell(path, bytes, job.options.operands);
  return tell_notes(loaded, job.options);
}

// The page of a report, opened where --flame or --timeline asks for.
int render_page(const Job& job) {
  const session::Compared compared = compared_of(job, store::Parts::allocator);
  session::Page page = value_or_throw(session::make_page(compared, job.wanted));
  if (page.no_graph) say("warning: the page has no graph: " + escape_for_terminal(page.no_graph->message));
  return finish(job, std::move(page.bytes), compared.loaded);
}

// What charts are of: the operands, a file as one snapshot; else what was last compared.
session::Compared load_charted(const Job& job) {
  if (job.options.operands.empty()) return compared_of(job, store::Parts::allocator);
  const std::vector<session::Operand> operands = value_or_throw(session::parse_operands(job.options.operands));
  Loaded loaded = value_or_throw(session::load_operands(operands, job.request, false, store::Parts::allocator));
  return {std::move(loaded), job.view};
}

// Heaps have no events in them: their timeline is that of the series.
bool is_heap_series(const Loaded& loaded, const session::MemoryPages& memory) {
  return memory.timeline && !memory.segments && !memory.pins &&
         std::none_of(loaded.snapshots.begin(), loaded.snapshots.end(),
                      [](const LoadedSnapshot& item) { return item.ref.snapshot->allocator != nullptr; });
}

// Charts of CUDA snapshots: --timeline, --segments, --pins.
int render_memory(const Job& job) {
  if (job.wanted.dot) fail({ErrorCode::usage, "--dot has no charts: expected --pdf, --svg or --png"});
  if (job.wanted.memory.timeline) {
    std::optional<session::AxisChart> axis =
        value_or_throw(session::chart_of_series(job.options.operands, job.request));
    if (axis) {
      const Loaded& loaded = axis->loaded;
      return finish(job, session::draw_memory(std::move(axis->story), loaded, job.wanted), loaded);
    }
  }
  const session::Compared compared = load_charted(job);
  const Loaded& loaded = compared.loaded;
  if (diff::has_counters_only(loaded.refs())) {
    // A log is a series, not one snapshot.
    const session::Compared series = compared_of(job);
    return finish(job, session::draw_counters(series.loaded, job.wanted), series.loaded);
  }
  if (is_heap_series(loaded, job.wanted.memory)) {
    // One file may hold the whole series.
    if (loaded.snapshots.size() > 1) return finish(job, session::draw_timeline(compared, job.wanted), loaded);
    const session::Compared series = compared_of(job);
    if (series.loaded.snapshots.size() > 1)
      return finish(job, session::draw_timeline(series, job.wanted), series.loaded);
  }
  session::MemoryPages pages = job.wanted.memory;
  pages.ends_only = job.options.operands.empty();
  render::MemoryStory story = value_or_throw(session::in_stage(
      job.request.watch, "drawing", [&] { return session::tell_memory(loaded, pages, compared.options); }));
  return finish(job, session::draw_memory(std::move(story), loaded, job.wanted), loaded);
}

// The dominator tree of an object graph: --retained.
int render_retained(const Job& job) {
  const std::size_t count = job.options.operands.size();
  if (count == 0 || count > 2)
    fail({ErrorCode::usage, "--retained takes one file, or a baseline and a file: found " + std::to_string(count)});
  const std::vector<session::Operand> operands = value_or_throw(session::parse_operands(job.options.operands));
  const Loaded loaded = value_or_throw(session::load_operands(operands, job.request, false));
  if (loaded.snapshots.size() != count)
    fail({ErrorCode::usage,
          "--retained takes one snapshot of each file: found " + std::to_string(loaded.snapshots.size())});
  return finish(job, session::draw_retained(loaded, job.wanted, job.request.watch), loaded);
}

void declare_pictures(CommandLine& line, Options& options, RenderOptions& wanted) {
  line.flag("--pdf", wanted.pdf, "what grew and where, graph, table (default)");
  line.flag("--svg", wanted.svg, "the graph, text stays text").excludes("--pdf");
  line.flag("--png", wanted.png, "the graph as pixels").excludes("--pdf").excludes("--svg");
  line.flag("--dot", wanted.dot, "the graph for Graphviz").excludes("--pdf").excludes("--svg").excludes("--png");
  line.flag("--html", wanted.html,
            "one page for browsers, works offline: table, flame graph,\n"
            "timeline, graph; opens at --flame or --timeline")
      .excludes("--pdf")
      .excludes("--svg")
      .excludes("--png");
  line.text("-o,--output", "FILE", options.output, "file (snapdiff.pdf, .svg, .png, .dot, .html; - is stdout)");
  line.text("--paper", "X", wanted.paper, "a4, letter (a4)").choices({"a4", "letter"});
  line.count("--max-nodes", wanted.max_nodes, {2, 2000}, "boxes drawn at most (40)");
  line.flag("--flame", wanted.flame, "flame graph of what came and what went");
  line.flag("--current", wanted.current, "its width: the value after").needs("--flame");
  line.flag("--open", options.open, "open the page in the browser (with --html)");
  line.flag("--timeline", wanted.memory.timeline,
            "totals over the series, in bands of what grew;\n"
            "CUDA: memory over time, by stack;\n"
            "several series: all on one axis of time");
  line.flag("--segments", wanted.memory.segments, "CUDA: map of segments, and who pins them");
  line.flag("--pins", wanted.memory.pins, "CUDA: graph segment, blocks, stack");
  line.flag("--retained", wanted.retained,
            "object graphs: dominator tree by types, of one\n"
            "file, or its growth since a baseline");
}

// No form given: the ending of the output's name says it.
void choose_form(const Options& options, RenderOptions& wanted) {
  const bool other = wanted.pdf || wanted.svg || wanted.png || wanted.dot;
  if (options.open && (other || !(options.output.empty() || options.output.ends_with(".html"))))
    fail({ErrorCode::usage, "--open is for pages: expected --html, or -o FILE.html"});
  wanted.html = wanted.html || options.open;
  if (!(wanted.pdf || wanted.svg || wanted.png || wanted.dot || wanted.html)) {
    wanted.html = options.output.ends_with(".html");
    wanted.svg = options.output.ends_with(".svg");
    wanted.png = options.output.ends_with(".png");
    wanted.dot = options.output.ends_with(".dot");
    const std::string ending = std::filesystem::path(options.output).extension().string();
    if (!(wanted.html || wanted.svg || wanted.png || wanted.dot || ending.empty() || ending == ".pdf"))
      fail({ErrorCode::usage, "-o " + options.output + ": found the ending " + ending +
                                  ", expected .pdf, .svg, .png, .dot or .html, or an option that says the form"});
  }
  wanted.form = wanted.html  ? PictureForm::html
                : wanted.svg ? PictureForm::svg
                : wanted.png ? PictureForm::png
                : wanted.dot ? PictureForm::dot
                             : PictureForm::pdf;
  wanted.kind = wanted.flame             ? PictureKind::flame
                : wanted.memory.timeline ? PictureKind::timeline
                                         : PictureKind::growth;
  wanted.letter = wanted.paper == "letter";
}

/// Pictures that do not go together. Throws usage.
void check_kinds(const RenderOptions& wanted) {
  if (wanted.memory.any() && wanted.retained)
    fail({ErrorCode::usage, "--retained is no chart of a CUDA snapshot: expected one or the other"});
  if (wanted.flame && (wanted.memory.any() || wanted.retained))
    fail({ErrorCode::usage, "--flame is a picture of its own: expected no other one beside it"});
  if (wanted.html && (wanted.retained || wanted.memory.segments || wanted.memory.pins))
    fail({ErrorCode::usage, "--html has no such chart: expected it alone, or with --flame or --timeline"});
}

}  // namespace

int run_render(const Arguments& arguments) {
  Options options;
  RenderOptions wanted;
  CommandLine line(
      "Retention graph, flame graph or chart of a comparison, as a document or a picture.",
      "render [options] [OPERAND OPERAND...]\n\n"
      "  without operands: what was last compared; charts of a CUDA snapshot take one\n"
      "  (FILE@peak or @3@peak for --segments and --pins), a baseline may stand before it",
      {"snapdiff render --pdf", "snapdiff render --svg @1 @12 -o growth.svg",
       "snapdiff render --flame -o flame.svg a.heap b.heap", "snapdiff render --timeline --segments run.pickle"});
  add_options(line, options, kTakesOperands | kTakesSeries | kTakesView | kReadsFiles | kTakesSymbols);
  declare_pictures(line, options, wanted);
  if (const auto code = line.parse(arguments)) return *code;
  if (wanted.current) wanted.width = FlameWidth::current;
  choose_form(options, wanted);

  check_kinds(wanted);
  const DiffOptions view = diff_options(options);
  const session::Request request = request_of(options, look_at_terminal(options.no_color));
  const Job job{options, wanted, view, request};
  if (wanted.html) return render_page(job);
  value_or_throw(render::open_drawing());  // what cannot be drawn is not computed either
  if (wanted.retained) return render_retained(job);
  if (wanted.memory.any()) return render_memory(job);
  const session::Compared compared = compared_of(job);
  return finish(job, session::draw(compared, wanted, request.watch), compared.loaded);
}

}  // namespace snapdiff::cli
