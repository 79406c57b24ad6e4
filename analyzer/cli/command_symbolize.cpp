#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/naming.hpp"

namespace snapdiff::cli {
namespace {

std::string table_of(const symbols::SymbolReport& report) {
  std::string text = "  named     of  module\n";
  const auto padded = [](std::uint64_t n) {
    std::string digits = std::to_string(n);
    digits.insert(0, digits.size() < 7 ? 7 - digits.size() : 0, ' ');
    return digits;
  };
  for (const symbols::ModuleReport& module : report.modules) {
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
  const Result<std::vector<Snapshot>> addresses = store->addresses();
  if (!addresses) return fail(addresses.error());
  const Result<symbols::Named> named = name_snapshots(*addresses, options, again, look_at_terminal(options.no_color));
  if (!named) return fail(named.error());
  if (named->report.addresses == 0) {
    say("nothing to name: the store holds no raw addresses");
    return kExitDone;
  }
  const Result<std::size_t> changed = store->take_names(*named->snapshots.front().dictionary);
  if (!changed) return fail(changed.error());
  if (Status printed = print_data(table_of(named->report)); !printed) return fail(printed.error());
  for (const Note& note : named->report.notes.all()) {
    say(std::string(note.severity == Severity::info ? "note: " : "warning: ") + escape_for_terminal(note.text));
  }
  say("named " + report::count_text(static_cast<std::int64_t>(*changed)) + " addresses");
  return kExitDone;
}

}  // namespace snapdiff::cli
