#include "analyzer/base/number_text.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/session/naming.hpp"

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
  CommandLine line("Name raw addresses in the store from binaries and their debug files.",
                   "symbolize [STORE] [options]\n\n"
                   "  looked for at the recorded paths first, then where --symbols says;\n"
                   "  addresses are kept, so it can be done again with better binaries",
                   {"snapdiff symbolize --symbols build/bin --symbols /usr/lib/debug",
                    "snapdiff symbolize crash.db --sysroot image/"});
  add_options(line, options, kTakesOperands | kTakesSymbols);
  line.flag("--again", again, "also replace names that came from a binary");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.size() > 1)
    fail({ErrorCode::usage, "symbolize takes one store: found " + std::to_string(options.operands.size())});
  if (!options.operands.empty()) options.db = options.operands.front();

  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::write));
  const session::Request request = request_of(options, look_at_terminal(options.no_color));
  const session::StoreNames names = value_or_throw(session::name_store(store, request, again));
  if (names.report.addresses == 0) {
    say("nothing to name: the store holds no raw addresses");
    return kExitDone;
  }
  value_or_throw(print_report(table_of(names.report), report::Form::text));
  for (const Note& note : names.report.notes.all()) say_note(note);
  for (const std::string& path : session::idle_paths(names.report, request))
    say_note({Severity::warning, path + " fits no module in the store"});
  say("named " + count_text(names.changed) + " addresses");
  return kExitDone;
}

}  // namespace snapdiff::cli
