#include <string_view>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/document.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/memory_story.hpp"
#include "analyzer/cli/output_file.hpp"
#include "analyzer/cli/render_axis.hpp"
#include "analyzer/cli/verdicts.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/objects/objects.hpp"
#include "analyzer/render/render.hpp"
#include "analyzer/render/retained.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
namespace {

struct RenderOptions {
  bool pdf = false, svg = false, png = false, dot = false;
  MemoryPages memory;
  bool retained = false;
  std::string paper = "a4";
  graph::GraphOptions graph;

  std::string_view ending() const { return svg ? "svg" : png ? "png" : dot ? "dot" : "pdf"; }
  render::PictureForm form() const {
    return svg ? render::PictureForm::svg : png ? render::PictureForm::png : render::PictureForm::pdf;
  }
  render::Paper page() const { return paper == "letter" ? render::Paper::letter : render::Paper::a4; }
};

Result<render::Story> tell_story(const Compared& compared) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  DiffOptions options = compared.options;
  options.by = GroupBy::stack;
  render::Story story;
  Result<SeriesReport> series = diff::diff_series(refs, options);
  if (!series) return std::move(series).error();
  if (refs.size() > 2) {
    for (std::size_t i = 1; i < refs.size(); ++i) {
      Result<GrowthReport> pair = diff::diff(refs[i - 1], refs[i], options);
      if (!pair) return std::move(pair).error();
      story.pairs.push_back(*std::move(pair));
    }
  }
  for (const report::RowVerdict& verdict : row_verdicts(series->overall)) {
    story.verdicts.push_back({verdict.word, verdict.reason});
  }
  story.steps = std::move(series->steps);
  story.overall = std::move(series->overall);
  story.title = title_of(compared.loaded);
  story.version = "snapdiff " SNAPDIFF_VERSION;
  story.order_note = order_of(compared.loaded);
  story.created_at_ns = document_time_ns(compared.loaded);
  return story;
}

int write_picture(const Options& options, std::string_view ending, const std::string& bytes) {
  const std::string path = options.output.empty() ? "snapdiff." + std::string(ending) : options.output;
  if (Status written = write_output(path, bytes); !written) return fail(written.error());
  if (path != "-") {
    say("wrote " + escape_for_terminal(path) + " (" + report::bytes_text(static_cast<std::int64_t>(bytes.size())) +
        ")");
  }
  return kExitDone;
}

int write_memory(const Options& options, const RenderOptions& wanted, const Loaded& loaded, render::MemoryStory story) {
  if (story.title.empty()) story.title = title_of(loaded);
  story.version = "snapdiff " SNAPDIFF_VERSION;
  story.created_at_ns = document_time_ns(loaded);
  const Result<std::string> bytes = render::draw_memory(story, wanted.form(), wanted.page());
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
  if (options.operands.empty())
    return load_compared(options, terminal, Fallback::last_comparison, store::Parts::allocator);
  Result<Question> asked = understand(options, terminal);
  if (!asked) return std::move(asked).error();
  Result<Loaded> loaded = load_operands(asked->operands, options, terminal, false, store::Parts::allocator);
  if (!loaded) return std::move(loaded).error();
  return Compared{*std::move(loaded), asked->view};
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
    const Result<Compared> series = load_compared(options, terminal, Fallback::last_comparison);
    if (!series) return fail(series.error());
    return render_counters(options, wanted, series->loaded);
  }
  MemoryPages pages = wanted.memory;
  pages.ends_only = options.operands.empty();
  Result<render::MemoryStory> story = tell_memory(loaded, pages, compared->options);
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
  Result<RetainedTree> tree = objects::retained_tree(refs.size() == 2 ? refs.front() : SnapshotRef{}, refs.back());
  if (!tree) return fail(tree.error());
  render::RetainedStory story;
  story.tree = *std::move(tree);
  story.title = title_of(*loaded);
  story.source = source_text(*loaded);
  story.version = "snapdiff " SNAPDIFF_VERSION;
  story.created_at_ns = document_time_ns(*loaded);
  const Result<std::string> bytes = wanted.dot
                                        ? render::retained_as_dot(story, wanted.graph)
                                        : render::draw_retained(story, wanted.form(), wanted.graph, wanted.page());
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, wanted.ending(), *bytes); code != kExitDone) return code;
  return tell_notes(*loaded, options);
}

}  // namespace

int run_render(const Arguments& arguments) {
  Options options;
  RenderOptions wanted;
  auto app = make_command_app("Retention graph of a comparison as a document or a picture.",
                              "render [options] [OPERAND OPERAND...]\n\n"
                              "  without operands: what was last compared; charts of a CUDA snapshot take one\n"
                              "  (FILE@peak or @3@peak for --segments and --pins), a baseline may stand before it",
                              {"snapdiff render --pdf", "snapdiff render --svg @1 @12 -o growth.svg",
                               "snapdiff render --timeline --segments run.pickle"});
  add_options(*app, options, kTakesOperands | kTakesView | kReadsFiles | kTakesSymbols);
  auto* pdf = app->add_flag("--pdf", wanted.pdf, "summary, graph, a page per step (default)");
  auto* svg = app->add_flag("--svg", wanted.svg, "the graph, text stays text")->excludes(pdf);
  auto* png = app->add_flag("--png", wanted.png, "the graph as pixels")->excludes(pdf)->excludes(svg);
  app->add_flag("--dot", wanted.dot, "the graph for Graphviz")->excludes(pdf)->excludes(svg)->excludes(png);
  app->add_option("-o,--output", options.output, "file (snapdiff.pdf, .svg, .png, .dot; - is stdout)")
      ->type_name("FILE");
  app->add_option("--paper", wanted.paper, "a4, letter (a4)")->type_name("X")->check(one_of({"a4", "letter"}));
  app->add_option("--max-nodes", wanted.graph.max_nodes, "boxes drawn at most (40)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{2}, std::size_t{2000}).description(""));
  app->add_flag("--timeline", wanted.memory.timeline,
                "CUDA: memory over time, by stack; of a folder or stored\n"
                "                           series of several kinds: all on one axis of time");
  app->add_flag("--segments", wanted.memory.segments, "CUDA: map of segments, and who pins them");
  app->add_flag("--pins", wanted.memory.pins, "CUDA: graph segment, blocks, stack");
  app->add_flag("--retained", wanted.retained,
                "object graphs: dominator tree by types, of one\n"
                "                           file, or its growth since a baseline");
  if (const auto code = parse_arguments(*app, options, arguments)) return *code;
  // No form given: the ending of the output's name tells it.
  if (!wanted.pdf && !wanted.svg && !wanted.png && !wanted.dot) {
    wanted.svg = options.output.ends_with(".svg");
    wanted.png = options.output.ends_with(".png");
    wanted.dot = options.output.ends_with(".dot");
  }

  const Terminal terminal = look_at_terminal(options.no_color);
  if (wanted.memory.any() && wanted.retained)
    return fail({ErrorCode::usage, "--retained is no chart of a CUDA snapshot: expected one or the other"});
  if (wanted.retained) return render_retained(options, wanted, terminal);
  if (wanted.memory.any()) return render_memory(options, wanted, terminal);
  const Result<Compared> compared = load_compared(options, terminal, Fallback::last_comparison);
  if (!compared) return fail(compared.error());
  if (compared->loaded.snapshots.size() < 2) {
    return fail({ErrorCode::usage, "render needs at least two snapshots: found 1"});
  }
  if (diff::has_counters_only(compared->loaded.refs())) return render_counters(options, wanted, compared->loaded);
  const Result<render::Story> story = tell_story(*compared);
  if (!story) return fail(story.error());

  const Result<std::string> bytes = wanted.svg   ? render::to_svg(*story, wanted.graph)
                                    : wanted.png ? render::to_png(*story, wanted.graph)
                                    : wanted.dot ? render::to_dot(*story, wanted.graph)
                                                 : render::to_pdf(*story, wanted.graph, wanted.page());
  if (!bytes) return fail(bytes.error());
  if (const int code = write_picture(options, wanted.ending(), *bytes); code != kExitDone) return code;
  return tell_notes(compared->loaded, options);
}

}  // namespace snapdiff::cli
