#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/document.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/memory_story.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/render_axis.hpp"
#include "analyzer/cli/render_job.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/objects/objects.hpp"
#include "analyzer/render/drawing.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
namespace {

int write_memory(const Options& options, const RenderOptions& wanted, const Loaded& loaded, render::MemoryStory story) {
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return fail(drawing.error());
  if (story.title.empty()) story.title = title_of(loaded);
  story.version = "snapdiff " SNAPDIFF_VERSION;
  story.created_at_ns = document_time_ns(loaded);
  const Result<std::string> bytes = (*drawing)->draw_memory(story, wanted.form(), wanted.page());
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, wanted.ending(), *bytes); code != kExitDone) return code;
  return tell_notes(loaded, options);
}

// Snapshots of logs: lines over time.
int render_counters(const Options& options, const RenderOptions& wanted, const Loaded& loaded) {
  if (wanted.dot) return fail({ErrorCode::usage, "--dot has no charts: expected --pdf, --svg or --png"});
  if (loaded.snapshots.size() < 2) return fail({ErrorCode::usage, "render needs at least two snapshots: found 1"});
  Result<CounterReport> counters = diff::diff_counters(loaded.refs());
  if (!counters) return fail(counters.error());
  trend::judge_counters(*counters);
  render::MemoryStory story;
  story.source = base_name(loaded.snapshots.front().ref.snapshot->facts.source.name);
  story.pages.push_back(render::CountersPage{*std::move(counters)});
  return write_memory(options, wanted, loaded, std::move(story));
}

// What charts are of: the operands, a file as one snapshot; else what was last compared.
Result<Compared> load_charted(const Options& options, const Terminal& terminal) {
  if (options.operands.empty()) return load_compared(options, terminal, Fallback::with_view, store::Parts::allocator);
  Result<Question> asked = understand(options, terminal);
  if (!asked) return std::move(asked).error();
  Result<Loaded> loaded = load_operands(asked->operands, options, terminal, false, store::Parts::allocator);
  if (!loaded) return std::move(loaded).error();
  return Compared{*std::move(loaded), asked->view};
}

// Heaps have no events in them: their timeline is that of the series.
bool is_heap_series(const Loaded& loaded, const RenderOptions& wanted) {
  return wanted.memory.timeline && !wanted.memory.segments && !wanted.memory.pins &&
         std::none_of(loaded.snapshots.begin(), loaded.snapshots.end(),
                      [](const LoadedSnapshot& item) { return item.ref.snapshot->allocator != nullptr; });
}

// Charts of CUDA snapshots: --timeline, --segments, --pins.
int render_memory(const Options& options, const RenderOptions& wanted, const Terminal& terminal) {
  if (wanted.dot) return fail({ErrorCode::usage, "--dot has no charts: expected --pdf, --svg or --png"});
  if (wanted.memory.timeline) {
    Result<std::optional<AxisChart>> axis = chart_of_series(options, terminal);
    if (!axis) return fail(axis.error());
    if (*axis) return write_memory(options, wanted, (*axis)->loaded, std::move((*axis)->story));
  }
  const Result<Compared> compared = load_charted(options, terminal);
  if (!compared) return fail(compared.error());
  const Loaded& loaded = compared->loaded;
  if (diff::has_counters_only(loaded.refs())) {
    // A log is a series, not one snapshot.
    const Result<Compared> series = load_compared(options, terminal, Fallback::with_view);
    if (!series) return fail(series.error());
    return render_counters(options, wanted, series->loaded);
  }
  if (is_heap_series(loaded, wanted)) {
    // One file may hold the whole series.
    if (loaded.snapshots.size() > 1) return render_series(options, wanted, *compared);
    const Result<Compared> series = load_compared(options, terminal, Fallback::with_view);
    if (!series) return fail(series.error());
    if (series->loaded.snapshots.size() > 1) return render_series(options, wanted, *series);
  }
  MemoryPages pages = wanted.memory;
  pages.ends_only = options.operands.empty();
  Result<render::MemoryStory> story =
      in_stage(terminal.stderr_is_terminal, "drawing", [&] { return tell_memory(loaded, pages, compared->options); });
  if (!story) return fail(story.error());
  return write_memory(options, wanted, loaded, *std::move(story));
}

// The dominator tree of an object graph: --retained.
int render_retained(const Options& options, const RenderOptions& wanted, const Terminal& terminal) {
  if (options.operands.empty() || options.operands.size() > 2)
    return fail({ErrorCode::usage, "--retained takes one file, or a baseline and a file: found " +
                                       std::to_string(options.operands.size())});
  const Result<Question> asked = understand(options, terminal);
  if (!asked) return fail(asked.error());
  const Result<Loaded> loaded = load_operands(asked->operands, options, terminal, false);
  if (!loaded) return fail(loaded.error());
  const std::vector<SnapshotRef> refs = loaded->refs();
  if (refs.size() != options.operands.size())
    return fail({ErrorCode::usage, "--retained takes one snapshot of each file: found " + std::to_string(refs.size())});
  Result<RetainedTree> tree = in_stage(terminal.stderr_is_terminal, "finding dominators", [&] {
    return objects::retained_tree(refs.size() == 2 ? refs.front() : SnapshotRef{}, refs.back());
  });
  if (!tree) return fail(tree.error());
  render::RetainedStory story;
  story.tree = *std::move(tree);
  story.title = title_of(*loaded);
  story.source = source_text(*loaded);
  story.version = "snapdiff " SNAPDIFF_VERSION;
  story.created_at_ns = document_time_ns(*loaded);
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return fail(drawing.error());
  const Result<std::string> bytes = wanted.dot
                                        ? (*drawing)->retained_as_dot(story, wanted.graph)
                                        : (*drawing)->draw_retained(story, wanted.form(), wanted.graph, wanted.page());
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, wanted.ending(), *bytes); code != kExitDone) return code;
  return tell_notes(*loaded, options);
}

constexpr std::array<std::pair<FlameWidth, const char*>, 4> kWidths = {{
    {FlameWidth::baseline, "its width: the value before"},
    {FlameWidth::current, "its width: the value after"},
    {FlameWidth::both, "its width: all of either side"},
    {FlameWidth::growth, "its width: growing stacks alone"},
}};

std::string width_option(std::size_t i) { return std::string("--").append(to_text(kWidths[i].first)); }

using Widths = std::array<bool, kWidths.size()>;

void declare_pictures(CommandLine& line, Options& options, RenderOptions& wanted, Widths& widths) {
  line.flag("--pdf", wanted.pdf, "what grew and where, graph, table (default)");
  line.flag("--full", wanted.full, "--pdf: a page per step and all inputs as well");
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
  line.count("--max-nodes", wanted.graph.max_nodes, {2, 2000}, "boxes drawn at most (40)");
  line.flag("--flame", wanted.flame, "flame graph of what came and what went");
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    Option& option = line.flag(width_option(i), widths[i], kWidths[i].second).needs("--flame");
    for (std::size_t other = 0; other < i; ++other) option.excludes(width_option(other));
  }
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
Status choose_form(const Options& options, RenderOptions& wanted) {
  if (wanted.pdf || wanted.svg || wanted.png || wanted.dot || wanted.html) return ok();
  wanted.html = options.output.ends_with(".html");
  wanted.svg = options.output.ends_with(".svg");
  wanted.png = options.output.ends_with(".png");
  wanted.dot = options.output.ends_with(".dot");
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (wanted.html || wanted.svg || wanted.png || wanted.dot || ending.empty() || ending == ".pdf") return ok();
  return Error{ErrorCode::usage, "-o " + options.output + ": found the ending " + ending +
                                     ", expected .pdf, .svg, .png, .dot or .html, or an option that says the form"};
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
  Widths widths{};
  declare_pictures(line, options, wanted, widths);
  if (const auto code = line.parse(arguments)) return *code;
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    if (widths[i]) wanted.width = kWidths[i].first;
  }
  if (const Status chosen = choose_form(options, wanted); !chosen) return fail(chosen.error());

  const Terminal terminal = look_at_terminal(options.no_color);
  if (wanted.memory.any() && wanted.retained)
    return fail({ErrorCode::usage, "--retained is no chart of a CUDA snapshot: expected one or the other"});
  if (wanted.flame && (wanted.memory.any() || wanted.retained))
    return fail({ErrorCode::usage, "--flame is a picture of its own: expected no other one beside it"});
  if (wanted.html) {
    if (wanted.retained || wanted.memory.segments || wanted.memory.pins)
      return fail({ErrorCode::usage, "--html has no such chart: expected it alone, or with --flame or --timeline"});
    return render_html(options, wanted, terminal);
  }
  // What cannot be drawn is not computed either.
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (!drawing) return fail(drawing.error());
  if (wanted.flame) return render_flame(options, wanted, terminal);
  if (wanted.retained) return render_retained(options, wanted, terminal);
  if (wanted.memory.any()) return render_memory(options, wanted, terminal);
  const Result<Compared> compared = load_compared(options, terminal, Fallback::with_view);
  if (!compared) return fail(compared.error());
  if (compared->loaded.snapshots.size() < 2) {
    return fail({ErrorCode::usage, "render needs at least two snapshots: found 1"});
  }
  if (diff::has_counters_only(compared->loaded.refs())) return render_counters(options, wanted, compared->loaded);
  const Result<render::Story> story =
      in_stage(terminal.stderr_is_terminal, "comparing", [&] { return tell_story(*compared, wanted.full); });
  if (!story) return fail(story.error());

  const Result<std::string> bytes = in_stage(terminal.stderr_is_terminal, "drawing", [&] {
    return wanted.svg   ? (*drawing)->to_svg(*story, wanted.graph)
           : wanted.png ? (*drawing)->to_png(*story, wanted.graph)
           : wanted.dot ? (*drawing)->to_dot(*story, wanted.graph)
                        : (*drawing)->to_pdf(*story, wanted.graph, wanted.page());
  });
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, wanted.ending(), *bytes); code != kExitDone) return code;
  return tell_notes(compared->loaded, options);
}

}  // namespace snapdiff::cli
