#include "analyzer/cli/naming.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "analyzer/cli/progress.hpp"

namespace snapdiff::cli {

namespace {

std::string& withheld_servers() {
  static std::string servers;
  return servers;
}

symbols::SymbolOptions symbol_options(const Options& options) {
  symbols::SymbolOptions out;
  out.paths = options.symbols;
  out.sysroot = options.sysroot;
  out.demangle = options.demangle == "none"     ? symbols::Demangle::none
                 : options.demangle == "simple" ? symbols::Demangle::simple
                                                : symbols::Demangle::full;
  out.debuginfod = options.debuginfod;
  return out;
}

}  // namespace

bool wants_names(const Options& options) {
  return !options.symbols.empty() || !options.sysroot.empty() || options.debuginfod;
}

void withhold_debuginfod() {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  withheld_servers() = servers == nullptr ? "" : servers;
  unsetenv("DEBUGINFOD_URLS");
}

Result<symbols::Named> name_snapshots(std::span<const Snapshot> snapshots, const Options& options, bool again,
                                      const Terminal& terminal) {
  if (options.debuginfod) {
    if (withheld_servers().empty())
      return Error{ErrorCode::usage, "--debuginfod found no server: expected their addresses in DEBUGINFOD_URLS"};
    setenv("DEBUGINFOD_URLS", withheld_servers().c_str(), 1);
  }
  symbols::SymbolOptions how = symbol_options(options);
  how.again = again;
  ProgressLine line(terminal.stderr_is_terminal, "naming");
  how.progress = [&](std::uint64_t done, std::uint64_t all) {
    line.update(static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(all, 1)),
                [&] { return std::to_string(done) + " of " + std::to_string(all) + " addresses"; });
  };
  return symbols::name_snapshots(snapshots, how);
}

Result<StoreNames> name_store(store::Store& store, const Options& options, bool again, const Terminal& terminal) {
  const Result<std::vector<Snapshot>> addresses = store.addresses();
  if (!addresses) return addresses.error();
  Result<symbols::Named> named = name_snapshots(*addresses, options, again, terminal);
  if (!named) return std::move(named).error();
  StoreNames names{std::move(named->report), 0};
  if (names.report.addresses == 0) return names;
  const Result<std::size_t> changed = store.take_names(*named->snapshots.front().dictionary);
  if (!changed) return changed.error();
  names.changed = *changed;
  return names;
}

std::string naming_summary(const symbols::SymbolReport& report) {
  const auto count = [](std::uint64_t n) { return report::count_text(static_cast<std::int64_t>(n)); };
  if (report.addresses == 0) return "no addresses to name";
  std::string text =
      count(report.addresses - report.unnamed) + " of " + count(report.addresses) + " addresses have names";
  if (report.unnamed > 0 && report.unnamed_bytes > 0)
    text += "; " + report::bytes_text(report.unnamed_bytes) + " in rows with others";
  return text;
}

Status name_addresses(Loaded& loaded, const Options& options, const Terminal& terminal) {
  if (!wants_names(options) || loaded.snapshots.empty()) return ok();
  std::vector<Snapshot> snapshots;
  for (const LoadedSnapshot& s : loaded.snapshots) snapshots.push_back(*s.ref.snapshot);
  Result<symbols::Named> named = name_snapshots(snapshots, options, false, terminal);
  if (!named) return std::move(named).error();
  for (std::size_t i = 0; i < loaded.snapshots.size(); ++i)
    loaded.snapshots[i].ref.snapshot = std::make_shared<const Snapshot>(std::move(named->snapshots[i]));
  loaded.named = named->report.addresses > named->report.unnamed;
  loaded.notes.add(Severity::info, naming_summary(named->report));
  for (const symbols::ModuleReport& module : named->report.modules) {
    if (!module.advice.empty() && module.unnamed_bytes > 0) loaded.notes.add(Severity::info, module.advice);
  }
  loaded.notes.add_all(named->report.notes);
  return ok();
}

}  // namespace snapdiff::cli
