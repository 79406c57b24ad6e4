#pragma once

#include <cstdint>
#include <vector>

#include "snapdiff/flame.hpp"

namespace snapdiff::flame {

/// Puts boxes that are in some preorder into the one with siblings by weight, then by `rank` of their
/// name. Needs 16 bytes a box beside the boxes.
void order_siblings(std::vector<FlameBox>& boxes, const std::vector<std::uint32_t>& rank);

}  // namespace snapdiff::flame
