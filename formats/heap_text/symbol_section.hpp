#pragma once

#include "formats/heap_text/dump.hpp"

namespace snapdiff::formats::heap_text {

/// Most functions inlined at one address. Debug information of real programs stays below 100;
/// a bound keeps a small file from unfolding into a large model.
inline constexpr std::size_t kMaxInlined = 256;

/// Reads "--- symbol" up to the "---" that closes it into dump.symbols:
///   binary=/path/to/main
///   0x<hex> outer--…--inner
/// Throws ReadFailure: malformed where the section or what follows is missing, limit.
void read_symbol_section(DumpReader& dump);

}  // namespace snapdiff::formats::heap_text
