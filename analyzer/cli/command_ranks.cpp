#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/ranks_report.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::cli {
namespace {

std::int64_t distance(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::numeric_limits<std::int64_t>::max();
  return difference < 0 ? -std::max(difference, -std::numeric_limits<std::int64_t>::max()) : difference;
}

std::int64_t middle_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A rank for each device of each snapshot.
std::vector<SnapshotRef> split(const Loaded& loaded, std::vector<RankFacts>& facts) {
  std::vector<SnapshotRef> refs;
  for (const LoadedSnapshot& item : loaded.snapshots) {
    std::vector<Snapshot> parts = cuda::by_device(*item.ref.snapshot);
    std::erase_if(parts, [](const Snapshot& part) {
      const auto device = part.facts.labels.find("device");
      return device != part.facts.labels.end() && device->second == "host";
    });
    for (Snapshot& part : parts) {
      RankFacts rank;
      rank.rank = part.facts.rank;
      const std::string file = std::string(base_name(item.ref.ref));
      const auto device = part.facts.labels.find("device");
      if (device != part.facts.labels.end() && device->second.find_first_not_of("0123456789") == std::string::npos &&
          device->second.size() < 10)
        rank.device = std::stoll("0" + device->second);
      rank.name = rank.rank ? "rank " + std::to_string(*rank.rank) + " (" + file + ")" : file;
      if (parts.size() > 1 && rank.device) rank.name += ", device " + std::to_string(*rank.device);
      for (const Counter& counter : part.facts.counters) {
        if (counter.name == "reserved") rank.reserved = counter.value;
      }
      facts.push_back(std::move(rank));
      SnapshotRef ref = item.ref;
      ref.snapshot = std::make_shared<const Snapshot>(std::move(part));
      refs.push_back(std::move(ref));
    }
  }
  return refs;
}

Result<RankReport> compare_ranks(const Loaded& loaded, const DiffOptions& options) {
  std::vector<RankFacts> ranks;
  const std::vector<SnapshotRef> refs = split(loaded, ranks);
  return rank_snapshots(refs, std::move(ranks), options);
}

}  // namespace

Result<RankReport> rank_snapshots(std::span<const SnapshotRef> refs, std::vector<RankFacts> ranks,
                                  const DiffOptions& options) {
  RankReport report;
  report.ranks = std::move(ranks);
  if (refs.size() < 2)
    return Error{ErrorCode::usage,
                 "ranks compares at least two files or devices: found " + std::to_string(refs.size())};
  Result<SeriesReport> series = diff::diff_series(refs, options);
  if (!series) return std::move(series).error();
  report.series = *std::move(series);
  const std::size_t count = refs.size();
  GrowthReport& overall = report.series.overall;
  // Of two there is no series beside the two sides.
  if (overall.series.empty()) {
    overall.series_length = count;
    for (const GrowthRow& row : overall.rows)
      overall.series.push_row(std::array{row.value.baseline, row.value.current});
  }
  std::vector<std::int64_t> totals;
  for (std::size_t i = 0; i < count; ++i) {
    report.ranks[i].total = report.series.steps[i].total;
    totals.push_back(report.ranks[i].total);
  }
  report.middle = middle_of(totals);
  std::vector<std::int64_t> scratch;
  for (std::uint32_t r = 0; r < overall.rows.size(); ++r) {
    const std::span<const std::int64_t> values = overall.series.row(r, scratch);
    RankRow row;
    row.row = r;
    row.middle = middle_of(std::vector<std::int64_t>(values.begin(), values.end()));
    row.lowest = *std::min_element(values.begin(), values.end());
    row.highest = *std::max_element(values.begin(), values.end());
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t off = distance(values[i], row.middle);
      if (off > distance(values[row.odd], row.middle)) row.odd = i;
      if (__builtin_add_overflow(report.ranks[i].off, off, &report.ranks[i].off))
        report.ranks[i].off = std::numeric_limits<std::int64_t>::max();
    }
    report.rows.push_back(row);
  }
  std::stable_sort(report.rows.begin(), report.rows.end(), [](const RankRow& a, const RankRow& b) {
    return distance(a.highest, a.lowest) > distance(b.highest, b.lowest);
  });
  if (count > 2) {
    const auto odd = std::max_element(report.ranks.begin(), report.ranks.end(),
                                      [](const RankFacts& a, const RankFacts& b) { return a.off < b.off; });
    if (odd->off > 0) report.odd = static_cast<std::size_t>(odd - report.ranks.begin());
  }
  return report;
}

int run_ranks(const Arguments& arguments) {
  Options options;
  CommandLine line("Processes or devices that do the same work beside each other: which one differs.",
                   "ranks [options] FILE FILE...\n\n"
                   "  a rank is a file, or a device of a CUDA snapshot of several; ranks are known by\n"
                   "  names like snap_rank3.pickle; moments of a trace are taken too: FILE@peak",
                   {"snapdiff ranks snap_rank*.pickle", "snapdiff ranks all.pickle --metric pinned_space"});
  add_options(line, options, kTakesOperands | kTakesView | kTakesCount | kTakesForm | kReadsFiles);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) return fail({ErrorCode::usage, "ranks needs at least one file, see --help"});
  if (options.as != "text" && options.as != "json")
    return fail({ErrorCode::usage, "ranks --as " + options.as + ": expected text or json"});
  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<Question> asked = understand(options, terminal);
  if (!asked) return fail(asked.error());
  Result<Loaded> loaded = load_operands(asked->operands, options, terminal, false);
  if (!loaded) return fail(loaded.error());
  // They were taken side by side: the order of their times means nothing.
  loaded->notes = {};
  const Result<RankReport> report =
      in_stage(terminal.stderr_is_terminal, "comparing", [&] { return compare_ranks(*loaded, asked->view); });
  if (!report) return fail(report.error());
  if (Status printed = print_report(report::write_ranks(*report, asked->style), asked->style.form); !printed)
    return fail(printed.error());
  return tell_notes(*loaded, options);
}

}  // namespace snapdiff::cli
