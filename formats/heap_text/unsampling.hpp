#pragma once

#include <cstdint>

#include "formats/heap_text/raw_stacks.hpp"

namespace snapdiff::formats::heap_text {

/// How the numbers of a row become estimates.
///   none  they already are what was allocated
///   v2    Poisson sampling of bytes with mean gap R: an object of size s is seen with probability 1 - exp(-s/R)
///   v1    the oldest sampler: bytes per object below R count as R (perl pprof's rule)
enum class Rule : std::uint8_t { none, v2, v1 };

struct Sampler {
  Rule rule = Rule::none;
  std::int64_t period = 0;  ///< R, bytes
};

/// Un-samples one row: the in-use and the allocated pair each on its own, truncated toward zero
/// (google/pprof, scaleHeapSample). Returns false when an estimate leaves 64 bits.
[[nodiscard]] bool unsample(const Sampler& sampler, Values& values);

}  // namespace snapdiff::formats::heap_text
