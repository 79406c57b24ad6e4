#include <numeric>

#include "analyzer/cli/addresses.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/recorded.hpp"
#include "analyzer/cli/written_answer.hpp"
#include "analyzer/session/judged_series.hpp"

namespace snapdiff::cli {
namespace {

/// `sorted`: rows stay as the engine sorted them.
WriteAnswer answer(const session::Compared& compared, const session::TrendRequest& wanted, bool sorted,
                   const Options& options) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  if (asks_for_counters(refs, options)) return answer_counters(refs, wanted.limit);
  const auto trend =
      std::make_shared<TrendReport>(value_or_throw(session::find_trend(compared.loaded, compared.options, wanted)));
  if (sorted && !wanted.loops && !wanted.triple) std::iota(trend->order.begin(), trend->order.end(), 0U);
  return [trend](const report::Style& style) { return report::write_trend(*trend, style); };
}

/// The snapshots to judge. A recording with one dump is no series of rows: then its counters are judged.
session::Compared open_series(Options& options, const Terminal& terminal, std::size_t least) {
  session::Compared compared = open_compared(options, terminal, session::Fallback::snapshots);
  if (compared.loaded.snapshots.size() >= least || options.counters || options.operands.size() != 1) return compared;
  Options counters = options;
  counters.counters = true;
  session::Compared other = open_compared(counters, terminal, session::Fallback::snapshots);
  if (other.loaded.snapshots.size() < least) return compared;
  options.counters = true;
  return other;
}

}  // namespace

int run_trend(const Arguments& arguments) {
  Options options;
  session::TrendRequest wanted;
  CommandLine line(
      "Leak or not: slope and verdict per stack over a series of snapshots.",
      "trend [OPERAND...] [options]\n\n"
      "  OPERAND is a file, a directory, SERIES, SERIES#2..#9, @2..@9; without any:\n"
      "  what was last compared. From 8 snapshots on stacks get a verdict; below they\n"
      "  are ranked",
      {"snapdiff trend heaps/", "snapdiff trend web.*.heap --limit 24GiB --by function",
       "snapdiff trend --loops 7 after-*.heap", "snapdiff trend --triple idle.pb.gz busy.pb.gz idle-again.pb.gz"});
  add_options(
      line, options,
      kTakesOperands | kFetches | kTakesSeries | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
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
  add_file_options(line, options);
  if (const auto code = line.parse(arguments)) return *code;
  fetch_operands(options);
  if (wanted.loops && wanted.triple) fail({ErrorCode::usage, "--loops and --triple: found both, expected one of them"});

  const std::optional<PictureForm> picture = chosen_picture(line, options);
  if (picture) check_drawing(*picture);
  if (picture && (wanted.loops || wanted.triple))
    fail({ErrorCode::usage, "--loops and --triple have no picture: expected -o FILE.md, .json, .jsonl, .csv or .txt"});
  const Terminal terminal = look_at_terminal(options.no_color);
  const report::Style style = style_of(options, terminal);
  const std::size_t least = wanted.loops ? 2 : 3;
  const session::Compared compared = open_series(options, terminal, wanted.loops || wanted.triple ? 0 : least);
  const std::size_t count = compared.loaded.snapshots.size();
  if (count < least) {
    fail({ErrorCode::usage, "too few snapshots for a trend: found " + std::to_string(count) + ", expected at least " +
                                std::to_string(least) + "; 'snapdiff diff' compares two"});
  }

  session::Recording recording(session::store_for_reading(request_of(options, terminal), compared.loaded),
                               compared.loaded, compared.options, options.series);
  if (picture) return draw_and_finish(*picture, compared, options, recording, terminal, wanted.limit);
  const WriteAnswer write = session::in_stage(
      watch_of(terminal), "judging", [&] { return answer(compared, wanted, line.is_given("--sort"), options); });
  return answer_and_finish(write, style, compared, options, recording, terminal);
}

}  // namespace snapdiff::cli
