#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/session/load.hpp"
#include "analyzer/symbols/symbols.hpp"

/// Names for raw addresses, as a request asks for them.
namespace snapdiff::session {

bool wants_names(const Request& request);

/// Linker names that a file recorded become readable as the request says; snapshots that shared a dictionary still do.
void demangle_names(std::vector<Snapshot>& snapshots, Demangle how);

/// Takes DEBUGINFOD_URLS out of the environment: elfutils would ask these servers by itself. Call
/// once at start. Request::debuginfod puts it back.
void withhold_debuginfod();

/// symbols::name_snapshots() as a stage of its own.
/// Errors: limit; usage (debuginfod without servers); io (a path of symbols or sysroot that is not there).
Result<symbols::Named> name_snapshots(std::span<const Snapshot> snapshots, const Request& request, bool again);

/// Names the addresses of all snapshots at once; what was found and what is missing is one line in
/// `loaded.notes`. Does nothing unless wants_names(). Errors: as name_snapshots().
Status name_addresses(Loaded& loaded, const Request& request);

struct StoreNames {
  symbols::SymbolReport report;
  std::size_t changed = 0;  ///< addresses that have another name than before
};

/// Names the addresses in the store, each once. Errors: as name_snapshots(), and what the store returns.
Result<StoreNames> name_store(store::Store& store, const Request& request, bool again);

/// Keeps addresses of another build apart from those that a store holds already. Without build ids an address is a
/// module and an offset, in every build; the binaries that are given say whether other code lies there now.
class BuildsApart {
 public:
  /// `known`: what the store holds (Store::addresses()).
  explicit BuildsApart(const std::vector<Snapshot>& known);

  /// Gives the modules of another build the build ids of their binaries. A module is looked at until it is known.
  /// Errors: as name_snapshots().
  Status separate(std::vector<LoadedSnapshot>& loaded, const Request& request);

 private:
  std::map<std::string, std::string> ids_of_known(const symbols::SymbolReport& report) const;

  std::shared_ptr<const Dictionary> known_;
  std::set<std::string> named_;  ///< modules without a build id of which `known` names addresses
  std::map<std::string, std::string> build_id_of_module_;  ///< of those that are another build
};

/// The paths of Request::symbols from which nothing was read for these modules.
std::vector<std::string> idle_paths(const symbols::SymbolReport& report, const Request& request);

/// One line: how many addresses have names, and what is missing: paths that fit nothing, what binaries lack, what to
/// give. `warning` where something given could not be used.
Note naming_note(const symbols::SymbolReport& report, const Request& request);

/// "812 of 830 addresses have names; 1.20 MiB in rows with others".
std::string naming_summary(const symbols::SymbolReport& report);

}  // namespace snapdiff::session
