#include <set>
#include <utility>

#include "analyzer/base/words.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/option_times.hpp"
#include "analyzer/session/kept_snapshots.hpp"

/// rm, prune and merge.
namespace snapdiff::cli {
namespace {

/// The snapshots of a series that are about to be removed.
struct Doomed {
  std::string series;
  std::size_t of = 0;  ///< snapshots that it has
  std::vector<SnapshotId> ids;
};

struct Consent {
  bool dry_run = false, yes = false;

  void add_to(CommandLine& line) {
    line.flag("--dry-run", dry_run, "only say what would be removed");
    line.flag("-y,--yes", yes, "remove without asking; needed where no terminal can answer");
  }
};

/// "removes 12 of 40 snapshots of web"
void tell_doomed(const std::vector<Doomed>& doomed, bool dry_run) {
  constexpr std::size_t kMostNamed = 20;  // series, one a line: a screen
  std::size_t count = 0;
  for (std::size_t i = 0; i < doomed.size(); ++i) {
    const Doomed& one = doomed[i];
    count += one.ids.size();
    if (i < kMostNamed)
      say((dry_run ? "would remove " : "removes ") + std::to_string(one.ids.size()) + " of " +
          counted(one.of, "snapshot") + " of " + escape_for_terminal(one.series));
  }
  if (doomed.size() > 1)
    say((dry_run ? "would remove " : "removes ") + counted(count, "snapshot") + " of " + std::to_string(doomed.size()) +
        " series");
}

/// Says first what will be removed. Returns the exit code.
int remove_and_tell(store::Store& store, std::vector<Doomed> doomed, const Consent& consent) {
  std::erase_if(doomed, [](const Doomed& one) { return one.ids.empty(); });
  if (doomed.empty()) {
    say("nothing to remove");
    return kExitDone;
  }
  tell_doomed(doomed, consent.dry_run);
  if (consent.dry_run) return kExitDone;
  if (!consent.yes) {
    const std::optional<bool> answer = ask("remove them from " + escape_for_terminal(store.path()) + "?");
    if (!answer)
      fail({ErrorCode::usage, "nothing was removed: no terminal to ask, expected --yes", std::nullopt, store.path()});
    if (!*answer) {
      say("nothing was removed");
      return kExitDone;
    }
  }
  std::vector<SnapshotId> ids;
  for (const Doomed& one : doomed) ids.insert(ids.end(), one.ids.begin(), one.ids.end());
  value_or_throw(store.remove(ids));
  say("removed " + counted(ids.size(), "snapshot"));
  return kExitDone;
}

/// Snapshots by their series.
std::vector<Doomed> by_series(store::Store& store, std::set<SnapshotId> ids) {
  std::vector<Doomed> doomed;
  while (!ids.empty()) {
    const std::optional<store::SeriesOrder> series = value_or_throw(store.series_with(*ids.begin()));
    if (!series) fail({ErrorCode::malformed, "a snapshot belongs to no series", std::nullopt, store.path()});
    Doomed& one = doomed.emplace_back(Doomed{series->name, series->snapshots.size(), {}});
    for (const SnapshotId id : series->snapshots) {
      if (ids.erase(id) > 0) one.ids.push_back(id);
    }
  }
  return doomed;
}

}  // namespace

int run_rm(const Arguments& arguments) {
  Options options;
  Consent consent;
  CommandLine line("Remove snapshots from the store. What goes is said first, and asked about on a terminal.",
                   "rm [options] REF...\n\n"
                   "  REF is @3, @first, @last, @prev, SERIES#3, label:K=V or @2..@9",
                   {"snapdiff rm @3", "snapdiff rm label:release=1.4 --yes"});
  add_options(line, options, kTakesOperands);
  consent.add_to(line);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "rm needs at least one snapshot, see --help"});
  const std::vector<session::Operand> operands = value_or_throw(session::parse_operands(options.operands));
  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::write));
  std::set<SnapshotId> ids;
  for (const session::Operand& operand : operands) {
    if (operand.is_path()) {
      fail({ErrorCode::usage, "rm takes snapshots of the store, never files: found '" + operand.text + "'"});
    }
    const std::vector<SnapshotId> found = value_or_throw(session::resolve_stored(store, operand));
    ids.insert(found.begin(), found.end());
  }
  return remove_and_tell(store, by_series(store, std::move(ids)), consent);
}

int run_prune(const Arguments& arguments) {
  Options options;
  Consent consent;
  session::Retention kept;
  std::string last, hourly, daily, series_name;
  CommandLine line(
      "Thin the series of the store as backups are thinned. A snapshot stays where one option keeps it.\n"
      "Time is counted back from the newest snapshot of each series.",
      "prune [options]",
      {"snapdiff prune --keep 100", "snapdiff prune --keep-last 48h --keep-hourly 14d --keep-daily 1y --yes"});
  add_options(line, options, 0);
  line.count("--keep", kept.newest, {1, 1'000'000'000}, "how many newest snapshots stay");
  line.text("--keep-last", "TIME", last, "all snapshots of this time stay, e.g. 48h");
  line.text("--keep-hourly", "TIME", hourly, "the newest of each hour of this time, e.g. 14d");
  line.text("--keep-daily", "TIME", daily, "the newest of each day of this time, e.g. 1y");
  line.text("--series", "NAME", series_name, "only this series (all)");
  consent.add_to(line);
  if (const auto code = line.parse(arguments)) return *code;
  kept.all_ns = duration_of("--keep-last", last);
  kept.hourly_ns = duration_of("--keep-hourly", hourly);
  kept.daily_ns = duration_of("--keep-daily", daily);
  if (!kept.newest && !kept.by_time())
    fail({ErrorCode::usage, "prune needs --keep, --keep-last, --keep-hourly or --keep-daily, see --help"});
  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::write));
  const std::vector<std::string> names =
      series_name.empty() ? value_or_throw(store.series_names()) : std::vector<std::string>{series_name};
  std::vector<Doomed> doomed;
  for (const std::string& name : names) {
    const std::optional<store::SeriesOrder> series = value_or_throw(store.series(name));
    if (!series) fail({ErrorCode::usage, "no series '" + name + "'", std::nullopt, store.path()});
    if (auto surplus = session::surplus_of(*series, kept)) {
      doomed.push_back({name, series->snapshots.size(), *std::move(surplus)});
    } else {
      say("note: " + escape_for_terminal(name) + " stays whole: not all of its snapshots have a time, use --keep");
    }
  }
  return remove_and_tell(store, std::move(doomed), consent);
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
