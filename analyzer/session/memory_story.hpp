#pragma once

#include <string>

#include "analyzer/render/render.hpp"
#include "analyzer/session/load.hpp"

namespace snapdiff::session {

/// Which charts of CUDA snapshots are wanted.
struct MemoryPages {
  bool timeline = false, segments = false, pins = false;
  bool ends_only = false;  ///< of more than two snapshots, segments and pins are those of the first and the last
  bool any() const { return timeline || segments || pins; }
};

/// A timeline of every device of every snapshot; segments and pins of the last one, with the growth since the one
/// before it. Errors: usage (nothing of the kind in the snapshots, more than two of them), and those of the diff.
Result<render::MemoryStory> tell_memory(const Loaded& loaded, const MemoryPages& pages, const DiffOptions& options);

/// "run.pickle 24732c64 \u2192 ...": the inputs, for the foot of a page.
std::string source_text(const Loaded& loaded);

}  // namespace snapdiff::session
