#pragma once

#include "analyzer/base/held_stacks.hpp"
#include "analyzer/base/importer.hpp"

namespace snapdiff::formats::pprof {

struct ReadLimits {
  /// Inputs up to this size are decoded from one view of everything; longer ones through the
  /// input's window. Must stay below 4 GiB (SampleSpan).
  std::size_t in_memory_bytes = std::size_t{256} << 20;
  /// With more samples than this in one view they are merged as they come: their number is then
  /// out of proportion to the distinct stacks that a profile can have.
  std::size_t in_memory_samples = std::size_t{4} << 20;
  /// As in ReadRequest.
  std::function<const HeldStacks*()> held_stacks = {};
};

/// Reads one profile.proto and gives the snapshot to `out`.
/// Errors: malformed, limit (both with an offset); what the input and the sink return.
Status read_profile(Input& in, SnapshotSink& out, const ReadLimits& limits);

}  // namespace snapdiff::formats::pprof
