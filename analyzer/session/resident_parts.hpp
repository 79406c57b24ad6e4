#pragma once

#include <memory>

#include "analyzer/session/load.hpp"
#include "snapdiff/postmortem.hpp"
#include "snapdiff/waterfall.hpp"

/// The parts of resident memory, as a section of a report.
namespace snapdiff::session {

/// From all snapshots of a command, whatever series they are of. Null where they do not say RSS and a part of it.
std::shared_ptr<const Waterfall> resident_parts(const Loaded& loaded);

/// Adds findings for RSS and its parts, after the findings of where. Adds a line in short if RSS grew by another part
/// than memory in use.
void tell_resident(const Waterfall& parts, Narrative& told);

}  // namespace snapdiff::session
