#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// Whether half of what is left on each side stands on the other side too, with objects of the same size, but for the
/// line of one frame: so does a program into which lines were put, and none that only did other work.
/// `left_*`: entries of one side only.
bool differ_by_a_line(const Code& before, const Code& after, const std::vector<std::uint32_t>& left_before,
                      const std::vector<std::uint32_t>& left_after);

}  // namespace snapdiff::diff::rebuild
