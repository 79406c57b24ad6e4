#pragma once

#include "analyzer/cli/options.hpp"

/// Operands that are addresses: http://HOST/debug/pprof/heap. The fetched snapshots stay as files.
namespace snapdiff::cli {

/// Reads the next snapshot of an address into the folder that the options name, else heaps-HOST. Says so. Returns the
/// file. Throws the errors of capture::fetch().
std::string fetch_snapshot(const std::string& url, const Options& options);

/// Replaces operands that are addresses by files; with --every and --count several of each. Throws the same;
/// usage.
void fetch_operands(Options& options);

}  // namespace snapdiff::cli
