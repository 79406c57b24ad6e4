#pragma once

#include <string>

#include "analyzer/cli/load.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/symbols/symbols.hpp"

/// Names for raw addresses, as the command line asks for them.
namespace snapdiff::cli {

/// Whether an option asks for names.
bool wants_names(const Options& options);

symbols::SymbolOptions symbol_options(const Options& options);

/// Names the addresses of all snapshots at once; what was found and what is missing goes to
/// `loaded.notes`. Does nothing unless wants_names(). Errors: limit.
Status name_addresses(Loaded& loaded, const Options& options);

/// "812 of 830 addresses have names; 1.20 MiB in rows with others".
std::string naming_summary(const symbols::SymbolReport& report);

}  // namespace snapdiff::cli
