#include <memory>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::cli {
namespace {

struct Wanted {
  bool pprof = false, folded = false, speedscope = false, csv = false, jsonl = false, plain_sqlite = false;
  int count() const { return pprof + folded + speedscope + csv + jsonl + plain_sqlite; }
};

template <class Report>
WriteAnswer stacks_of(Report made, const Wanted& wanted,
                      std::string (*write_rows)(const Report&, const report::Style&)) {
  const auto report = std::make_shared<const Report>(std::move(made));
  if (wanted.folded) return [report](const report::Style& style) { return report::to_folded(*report, style.sink); };
  if (wanted.speedscope) return [report](const report::Style&) { return report::to_speedscope(*report); };
  return [report, write_rows](const report::Style& style) { return write_rows(*report, style); };
}

WriteAnswer export_snapshot(const SnapshotRef& snapshot, const DiffOptions& view, const Wanted& wanted) {
  if (wanted.pprof) return [snapshot](const report::Style&) { return report::to_pprof(snapshot); };
  return stacks_of<TopReport>(
      value_or_throw(diff::top(snapshot, view)), wanted,
      [](const TopReport& top, const report::Style& style) { return report::write_top(top, style); });
}

WriteAnswer export_growth(const SnapshotRef& from, const SnapshotRef& to, const DiffOptions& view,
                          const Wanted& wanted) {
  GrowthReport growth = value_or_throw(diff::diff(from, to, view));
  if (wanted.pprof) {
    return [bytes = value_or_throw(report::to_pprof_diff(growth))](const report::Style&) { return bytes; };
  }
  return stacks_of<GrowthReport>(std::move(growth), wanted, report::write_diff);
}

}  // namespace

int run_export(const Arguments& arguments) {
  Options options;
  Wanted wanted;
  CommandLine line("A snapshot, or the growth between two, as a file for other tools.",
                   "export KIND [options] [OPERAND [OPERAND]]\n\n"
                   "  without operands: growth of what was last compared, first to last",
                   {"snapdiff export --pprof a.heap b.heap -o diff.pb.gz", "snapdiff export --folded @last"});
  line.flag("--pprof", wanted.pprof, "profile.proto, for go tool pprof");
  line.flag("--folded", wanted.folded, "a line per stack, for flame graphs");
  line.flag("--speedscope", wanted.speedscope, "JSON of speedscope.app");
  line.flag("--csv", wanted.csv, "a row per stack");
  line.flag("--jsonl", wanted.jsonl, "a header, then an object per stack");
  line.flag("--plain-sqlite", wanted.plain_sqlite, "the whole store as plain tables; needs -o");
  line.text("-o,--output", "FILE", options.output, "file (stdout)");
  add_options(line, options, kTakesOperands | kTakesView | kReadsFiles | kTakesSymbols);
  if (const auto code = line.parse(arguments)) return *code;
  if (wanted.count() != 1) {
    fail({ErrorCode::usage,
          "export needs one of --pprof, --folded, --speedscope, --csv, --jsonl, --plain-sqlite: found " +
              std::to_string(wanted.count())});
  }
  const Terminal terminal = look_at_terminal(options.no_color);
  if (wanted.plain_sqlite) {
    if (options.output.empty() || options.output == "-") {
      fail({ErrorCode::usage, "--plain-sqlite needs -o FILE: a database cannot go to stdout"});
    }
    store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::read));
    value_or_throw(
        session::in_stage(watch_of(terminal), "writing", [&] { return store.export_plain(options.output); }));
    return kExitDone;
  }
  if (wanted.pprof && options.output.empty() && terminal.stdout_is_terminal) {
    fail({ErrorCode::usage, "a profile.proto is binary: give -o FILE, or redirect stdout"});
  }
  Options style_options = options;
  style_options.rows = 0;
  report::Style style = style_of(style_options, terminal);
  style.form = wanted.csv ? report::Form::csv : report::Form::jsonl;
  const session::Compared compared = open_compared(options, terminal, session::Fallback::with_view);
  const auto& snapshots = compared.loaded.snapshots;
  DiffOptions view = compared.options;
  if (wanted.pprof || wanted.folded || wanted.speedscope) {
    view.by = GroupBy::stack;
    view.fold_recursion = false;  // the other tool shows whole stacks
    if (view.frames == FrameSet::usual) view.frames = FrameSet::all;
  }
  const WriteAnswer write = session::in_stage(watch_of(terminal), "writing", [&] {
    return snapshots.size() == 1 ? export_snapshot(snapshots[0].ref, view, wanted)
                                 : export_growth(snapshots.front().ref, snapshots.back().ref, view, wanted);
  });
  write_output(options.output.empty() ? "-" : options.output, in_pieces(write, style), options.operands);
  return tell_notes(compared.loaded, options);
}

}  // namespace snapdiff::cli
