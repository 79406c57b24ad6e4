#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::symbols {

/// By name, the modules without a build id that both hold: whether `named` has other code at the same offsets than
/// `known`, that is another function or line at a tenth or more of the addresses that have one in both. Only addresses that were
/// named after their import count; modules without such are left out.
std::map<std::string, bool> modules_of_another_build(const Dictionary& named, const Dictionary& known);

/// Copies whose modules have these build ids, by module name, where they have none: their addresses are other ones then,
/// and so are the stacks. Snapshots that share a dictionary share one again.
std::vector<Snapshot> with_build_ids(std::span<const Snapshot> snapshots,
                                     const std::map<std::string, std::string>& build_id_of_module);

}  // namespace snapdiff::symbols
