#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/counters.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/judged_series.hpp"
#include "analyzer/cli/left_out.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/recording.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/story/story.hpp"
#include "analyzer/trend/scenario.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
namespace {

struct TrendArguments {
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> floor;
  std::optional<std::int64_t> loops;
  bool triple = false;
  bool sorted = false;  ///< --sort was given: rows stay as the engine sorted them
};

/// A scenario is judged as it was made, from its first snapshot on; any other series since its last restart.
Result<TrendReport> find_trend(const std::vector<SnapshotRef>& snapshots, const DiffOptions& options,
                               const TrendArguments& wanted) {
  const auto& [limit, floor_bytes, loops, triple, sorted] = wanted;
  const std::optional<double> floor =
      floor_bytes ? std::optional(static_cast<double>(*floor_bytes)) : std::optional<double>();
  if (!loops && !triple) {
    Result<JudgedSeries> judged = judge_series(snapshots, options, limit, floor);
    if (!judged) return std::move(judged).error();
    if (sorted) std::iota(judged->trend.order.begin(), judged->trend.order.end(), 0U);
    return std::move(judged->trend);
  }
  Result<SeriesReport> series = diff::diff_series(snapshots, options, loops ? std::optional(0.0) : std::nullopt);
  if (!series) return std::move(series).error();
  TrendReport report = trend::analyse(*std::move(series), limit);
  story::tell(report);
  if (Status found = loops ? trend::find_round_trips(report, *loops) : trend::find_triple(report); !found)
    return std::move(found).error();
  return report;
}

Result<std::string> answer(const Loaded& loaded, const DiffOptions& view, const TrendArguments& wanted,
                           const Options& options, const report::Style& style) {
  const std::vector<SnapshotRef> refs = loaded.refs();
  if (asks_for_counters(refs, options)) return answer_counters(refs, style);
  Result<TrendReport> trend = find_trend(refs, view, wanted);
  if (!trend) return std::move(trend).error();
  add_left_out(loaded, trend->series.overall.notes);
  return report::write_trend(*trend, style);
}

}  // namespace

int run_trend(const Arguments& arguments) {
  Options options;
  TrendArguments wanted;
  CommandLine line(
      "Leak or not: slope and verdict per stack over a series of snapshots.",
      "trend [OPERAND...] [options]\n\n"
      "  OPERAND is a file, a directory, SERIES, SERIES#2..#9, @2..@9; without any:\n"
      "  what was last compared. From 8 snapshots on stacks get a verdict; below they\n"
      "  are ranked",
      {"snapdiff trend heaps/", "snapdiff trend web.*.heap --limit 24GiB --by function",
       "snapdiff trend --loops 7 after-*.heap", "snapdiff trend --triple idle.pb.gz busy.pb.gz idle-again.pb.gz"});
  add_options(line, options,
              kTakesOperands | kTakesSeries | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  line.size("--limit", wanted.limit, 1, "say when the total will reach this");
  line.size("--floor", wanted.floor, 0,
            "rows that change less are minor (0.2 % of the largest\n"
            "snapshot)");
  line.count("--loops", wanted.loops, {1, 1'000'000'000},
             "each snapshot follows L round trips that should leave\n"
             "nothing: rows with L objects more each time")
      .called("L");
  line.flag("--triple", wanted.triple,
            "baseline, target, final: what the target added and\n"
            "the final snapshot still holds");
  line.flag("--counters", options.counters, "counters (HeapSys, rss) instead of stacks");
  if (const auto code = line.parse(arguments)) return *code;
  wanted.sorted = line.is_given("--sort");
  if (wanted.loops && wanted.triple)
    return fail({ErrorCode::usage, "--loops and --triple: found both, expected one of them"});

  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<report::Style> style = style_of(options, terminal);
  if (!style) return fail(style.error());
  const Result<Compared> compared = load_compared(options, terminal, Fallback::snapshots);
  if (!compared) return fail(compared.error());
  const std::size_t count = compared->loaded.snapshots.size();
  const std::size_t least = wanted.loops ? 2 : 3;
  if (count < least) {
    return fail({ErrorCode::usage, "too few snapshots for a trend: found " + std::to_string(count) +
                                       ", expected at least " + std::to_string(least) +
                                       "; 'snapdiff diff' compares two"});
  }

  Recording recording(store_for_reading(options, compared->loaded), compared->loaded, compared->options, terminal,
                      options.series);
  const Result<std::string> text = in_stage(terminal.stderr_is_terminal, "judging", [&] {
    return answer(compared->loaded, compared->options, wanted, options, *style);
  });
  if (!text) return fail(text.error());
  recording.answered();
  const Status printed = print_report(*text, style->form);
  const int partial_code = tell_notes(compared->loaded, options);
  const int stored_code = recording.finish();
  if (!printed) return fail(printed.error());
  return std::max(partial_code, stored_code);
}

}  // namespace snapdiff::cli
