#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/cli/addresses.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/match_text.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/recorded.hpp"
#include "analyzer/cli/written_answer.hpp"
#include "analyzer/session/device_moments.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/left_out.hpp"

namespace snapdiff::cli {
namespace {

// The writer of the report, whatever its kind. `loaded` holds two or more snapshots.
WriteAnswer answer(const Loaded& loaded, const DiffOptions& options, report::Form form, bool steps_wanted) {
  const std::vector<SnapshotRef> refs = loaded.refs();
  if (refs.size() == 2) {
    const auto report = std::make_shared<GrowthReport>(value_or_throw(session::compare_two(refs[0], refs[1], options)));
    session::add_left_out(loaded, report->notes);
    add_import_notes(*report, form);
    return [report](const report::Style& style) { return report::write_diff(*report, style); };
  }
  const auto trend = std::make_shared<TrendReport>(value_or_throw(session::judge_series(refs, options)));
  SeriesReport& series = trend->series;
  session::add_left_out(loaded, series.overall.notes);
  const auto steps = std::make_shared<std::vector<GrowthReport>>();
  if (steps_wanted || form == report::Form::json) {
    for (std::size_t i = 1; i < refs.size(); ++i) {
      GrowthReport step = value_or_throw(session::compare_pair(refs[i - 1], refs[i], options));
      add_import_notes(step, form);
      steps->push_back(std::move(step));
    }
  }
  series.steps = std::move(trend->steps);
  add_import_notes(series.overall, form);
  if (series.overall.series_length < kJudgedFrom) trend->verdicts.clear();
  return [trend, steps](const report::Style& style) {
    return report::write_series(trend->series, *steps, trend->verdicts, style);
  };
}

int explain_row(const session::Compared& compared, const Options& options, std::size_t place) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  if (refs.size() != 2) fail({ErrorCode::usage, "--explain-match needs two snapshots"});
  const diff::MatchExplanation why = value_or_throw(diff::explain_match(refs[0], refs[1], compared.options, place));
  value_or_throw(print_report(match_text(why, place), report::Form::text));
  return tell_notes(compared.loaded, options);
}

int show_single(const session::Compared& compared, const Options& options, const report::Style& style) {
  if (asks_for_counters(compared.loaded.refs(), options)) return show_counters(compared.loaded, options, style);
  const TopReport report = value_or_throw(session::top_of(compared.loaded.snapshots.front().ref, compared.options));
  const auto above =
      value_or_throw(session::above_top(compared.loaded.snapshots.front(), compared.options, style.form));
  show_answer([&](const report::Style& form) { return report::write_top(report, form, above); }, style, options);
  say("one snapshot: shown as 'snapdiff top'. Give a second file to see growth.");
  return tell_notes(compared.loaded, options);
}

/// Whether the operands are other than two files of different sizes: then some may come from equal bytes.
bool may_be_equal(const std::vector<std::string>& operands) {
  if (operands.size() != 2) return true;
  std::array<std::error_code, 2> failed;
  const auto first = std::filesystem::file_size(operands[0], failed[0]);
  return first == std::filesystem::file_size(operands[1], failed[1]) || failed[0] || failed[1];
}

}  // namespace

int run_diff(const Arguments& arguments) {
  Options options;
  CommandLine line("Growth per stack between two snapshots, or over a series.",
                   "[diff] [options] [OPERAND OPERAND...]\n\n"
                   "  OPERAND is a file, a directory, - (stdin), @3, @first, @last, @prev,\n"
                   "  SERIES, SERIES#3, SERIES#2..#9, label:K=V or @2..@9; without\n"
                   "  any: what was last compared",
                   {"snapdiff a.heap b.heap", "snapdiff diff @first @last --by function --cum",
                    "snapdiff diff a.heap b.heap --focus 'leak_' -o leak.csv"});
  add_options(
      line, options,
      kTakesOperands | kFetches | kTakesSeries | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  line.flag("--steps", options.steps, "a table for each step of a series");
  line.flag("--counters", options.counters, "growth of counters (HeapSys, rss) instead of stacks");
  std::optional<std::size_t> explained;
  line.count("--explain-match", explained, {1, std::numeric_limits<std::int32_t>::max()},
             "why row N of the table was matched with another build's, or not");
  add_file_options(line, options);
  if (const auto code = line.parse(arguments)) return *code;
  fetch_operands(options);

  const std::optional<PictureForm> picture = chosen_picture(line, options);
  if (picture) check_drawing(*picture);
  const Terminal terminal = look_at_terminal(options.no_color);
  const report::Style style = style_of(options, terminal);
  options.needs_hashes = picture || style.form != report::Form::text ||
                         !session::choose_store(options.db).in_memory() || may_be_equal(options.operands);
  const session::Compared compared =
      open_compared(options, terminal, session::Fallback::snapshots,
                    options.operands.size() <= 2 || picture ? store::Parts::allocator : store::Parts::rows);
  if (explained) return explain_row(compared, options, *explained - 1);
  if (compared.loaded.snapshots.size() == 1 && !picture) return show_single(compared, options, style);

  session::Recording recording(session::choose_store(options.db), compared.loaded, compared.options, options.series);
  if (picture) return draw_and_finish(*picture, compared, options, recording, terminal);
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  const WriteAnswer write = session::in_stage(watch_of(terminal), "comparing", [&] {
    return asks_for_counters(refs, options) ? answer_counters(refs)
                                            : answer(compared.loaded, compared.options, style.form, options.steps);
  });
  return answer_and_finish(write, style, compared, options, recording, terminal);
}

}  // namespace snapdiff::cli
