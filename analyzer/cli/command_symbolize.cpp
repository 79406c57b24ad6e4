#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/naming.hpp"

namespace snapdiff::cli {
namespace {

/// Snapshots that are named in one go: the memory for them is bounded.
constexpr std::uint64_t kRowsAtOnce = 4'000'000;

using Reports = std::map<std::pair<std::string, std::string>, symbols::ModuleReport>;

void add_report(Reports& all, const symbols::SymbolReport& report) {
  for (const symbols::ModuleReport& module : report.modules) {
    const auto [entry, added] = all.try_emplace({module.name, module.build_id}, module);
    if (added) continue;
    symbols::ModuleReport& sum = entry->second;
    sum.addresses = std::max(sum.addresses, module.addresses);
    sum.named = std::max(sum.named, module.named);
    if (!module.advice.empty()) sum.advice = module.advice;
  }
}

std::string table_of(const Reports& reports) {
  std::string text = "  named     of  module\n";
  const auto padded = [](std::uint64_t n) {
    std::string digits = std::to_string(n);
    digits.insert(0, digits.size() < 7 ? 7 - digits.size() : 0, ' ');
    return digits;
  };
  for (const auto& [key, module] : reports) {
    text += padded(module.named) + padded(module.addresses) + "  " +
            escape_for_terminal(module.name.empty() ? "[no module]" : module.name);
    if (!module.binary.empty()) text += "  from " + escape_for_terminal(module.binary);
    if (!module.debug_file.empty()) text += " and " + escape_for_terminal(module.debug_file);
    text += '\n';
    if (!module.advice.empty()) text += "                " + escape_for_terminal(module.advice) + '\n';
  }
  return text;
}

}  // namespace

int run_symbolize(const Arguments& arguments) {
  Options options;
  bool again = false;
  auto app = make_command_app("Name raw addresses in the store from binaries and their debug files.",
                              "symbolize [STORE] [options]\n\n"
                              "  looked for at the recorded paths first, then where --symbols says;\n"
                              "  addresses are kept, so it can be done again with better binaries",
                              {"snapdiff symbolize --symbols build/bin --symbols /usr/lib/debug",
                               "snapdiff symbolize crash.db --sysroot image/"});
  add_options(*app, options, kTakesOperands | kTakesSymbols);
  app->add_flag("--again", again, "also name anew what has a name from a binary");
  if (const auto code = parse_arguments(*app, options, arguments)) return *code;
  if (options.operands.size() > 1)
    return fail({ErrorCode::usage, "symbolize takes one store: found " + std::to_string(options.operands.size())});
  if (!options.operands.empty()) options.db = options.operands.front();

  Result<store::Store> store = open_store(choose_store(options), store::Access::write);
  if (!store) return fail(store.error());
  const Result<std::vector<store::SeriesInfo>> listed = store->list();
  if (!listed) return fail(listed.error());
  std::vector<store::SnapshotInfo> all;
  for (const store::SeriesInfo& series : *listed)
    all.insert(all.end(), series.snapshots.begin(), series.snapshots.end());
  symbols::SymbolOptions how = symbol_options(options);
  how.again = again;
  Reports reports;
  Notes notes;
  std::size_t changed = 0;
  for (std::size_t next = 0; next < all.size();) {
    std::vector<SnapshotId> ids;
    for (std::uint64_t rows = 0; next < all.size() && (ids.empty() || rows + all[next].rows <= kRowsAtOnce); ++next) {
      ids.push_back(all[next].id);
      rows += all[next].rows;
    }
    const Result<std::vector<Snapshot>> snapshots = store->load(ids);
    if (!snapshots) return fail(snapshots.error());
    const Result<symbols::Named> named = symbols::name_snapshots(*snapshots, how);
    if (!named) return fail(named.error());
    add_report(reports, named->report);
    notes.add_all(named->report.notes);
    const Result<std::size_t> taken = store->take_names(*named->snapshots.front().dictionary);
    if (!taken) return fail(taken.error());
    changed += *taken;
  }
  if (reports.empty()) {
    say("nothing to name: the store holds no raw addresses");
    return kExitDone;
  }
  if (Status printed = print_data(table_of(reports)); !printed) return fail(printed.error());
  for (const Note& note : notes.all()) {
    say(std::string(note.severity == Severity::info ? "note: " : "warning: ") + escape_for_terminal(note.text));
  }
  say("named " + report::count_text(static_cast<std::int64_t>(changed)) + " addresses");
  return kExitDone;
}

}  // namespace snapdiff::cli
