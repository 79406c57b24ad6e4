#include <algorithm>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "snapdiff/words.hpp"

/// rm, prune and merge.
namespace snapdiff::cli {
namespace {

int remove_and_tell(store::Store& store, std::vector<SnapshotId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  value_or_throw(store.remove(ids));
  say("removed " + counted(ids.size(), "snapshot"));
  return kExitDone;
}

}  // namespace

int run_rm(const Arguments& arguments) {
  Options options;
  CommandLine line("Remove snapshots from the store.",
                   "rm [options] REF...\n\n"
                   "  REF is @3, @first, @last, @prev, SERIES#3, label:K=V or @2..@9",
                   {"snapdiff rm @3", "snapdiff rm label:release=1.4"});
  add_options(line, options, kTakesOperands);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "rm needs at least one snapshot, see --help"});
  const std::vector<session::Operand> operands = value_or_throw(session::parse_operands(options.operands));
  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::write));
  std::vector<SnapshotId> ids;
  for (const session::Operand& operand : operands) {
    if (operand.is_path()) {
      fail({ErrorCode::usage, "rm takes snapshots of the store, never files: found '" + operand.text + "'"});
    }
    const std::vector<SnapshotId> found = value_or_throw(session::resolve_stored(store, operand));
    ids.insert(ids.end(), found.begin(), found.end());
  }
  return remove_and_tell(store, std::move(ids));
}

int run_prune(const Arguments& arguments) {
  Options options;
  std::size_t keep = 0;
  std::string series_name;
  CommandLine line("Keep the newest snapshots of each series, remove the others.", "prune --keep N [--series NAME]",
                   {"snapdiff prune --keep 100"});
  add_options(line, options, 0);
  line.count("--keep", keep, {0, 1'000'000'000}, "how many newest snapshots stay").required();
  line.text("--series", "NAME", series_name, "only this series (all)");
  if (const auto code = line.parse(arguments)) return *code;
  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::write));
  const std::vector<store::SeriesInfo> listed = value_or_throw(store.list());
  std::vector<SnapshotId> ids;
  bool found = series_name.empty();
  for (const store::SeriesInfo& series : listed) {
    if (!series_name.empty() && series.name != series_name) continue;
    found = true;
    const std::size_t surplus = series.snapshots.size() > keep ? series.snapshots.size() - keep : 0;
    for (std::size_t i = 0; i < surplus; ++i) ids.push_back(series.snapshots[i].id);
  }
  if (!found) fail({ErrorCode::usage, "no series '" + series_name + "'", std::nullopt, store.path()});
  return remove_and_tell(store, std::move(ids));
}

int run_merge(const Arguments& arguments) {
  Options options;
  CommandLine line("Take other stores into this one.", "merge [options] STORE...",
                   {"snapdiff merge host-a.db host-b.db --db fleet.db"});
  add_options(line, options, kTakesOperands);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "merge needs at least one store, see --help"});
  store::Store store =
      value_or_throw(store::Store::open(session::choose_store(options.db).path, store::Access::create));
  for (const std::string& other : options.operands) {
    const std::size_t added = value_or_throw(store.merge(other));
    say("merged " + counted(added, "snapshot") + " of " + escape_for_terminal(other));
  }
  return kExitDone;
}

}  // namespace snapdiff::cli
