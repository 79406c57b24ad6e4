#include <algorithm>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/recording.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
int run_trend(const Arguments& arguments) {
  Options options;
  std::string limit_text;
  auto app = make_command_app("Leak or not: slope and verdict per stack over a series of snapshots.",
                              "trend [OPERAND...] [options]\n\n"
                              "  OPERAND is a file, a directory, SERIES#3, @2..@9; without any: the newest\n"
                              "  series in the store. From 8 snapshots on stacks get a verdict; below they\n"
                              "  are ranked",
                              {"snapdiff trend heaps/", "snapdiff trend web.*.heap --limit 24GiB --by function"});
  add_options(*app, options, kTakesOperands | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  app->add_option("--limit", limit_text, "say when the total will reach this")->type_name("SIZE");
  if (const auto code = parse_arguments(*app, options, arguments)) return *code;
  std::optional<std::int64_t> limit;
  if (!limit_text.empty()) {
    const Result<std::int64_t> size = parse_size(limit_text);
    if (!size) return fail(size.error());
    limit = *size;
  }

  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<report::Style> style = style_of(options, terminal);
  if (!style) return fail(style.error());
  const Result<Compared> compared = load_compared(options, terminal, Fallback::newest_series);
  if (!compared) return fail(compared.error());
  const std::size_t count = compared->loaded.snapshots.size();
  if (count < 3) {
    return fail({ErrorCode::usage, "too few snapshots for a trend: found " + std::to_string(count) +
                                       ", expected at least 3; 'snapdiff diff' compares two"});
  }

  Recording recording(choose_store(options), compared->loaded, compared->options, terminal);
  const auto diff_part = [&](std::span<const SnapshotRef> part) { return diff::diff_series(part, compared->options); };
  const Result<TrendReport> trend = trend::judge_since_restart(compared->loaded.refs(), diff_part, limit);
  if (!trend) return fail(trend.error());
  const std::string text = report::write_trend(*trend, *style);
  recording.answered();
  const Status printed = print_data(text);
  const int partial_code = tell_notes(compared->loaded, options);
  const int stored_code = recording.finish();
  if (!printed) return fail(printed.error());
  return std::max(partial_code, stored_code);
}

}  // namespace snapdiff::cli
