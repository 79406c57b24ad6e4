#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "snapdiff/gate.hpp"

namespace snapdiff::gate {

/// Twelve hex digits that a rebuild, moved lines and other addresses leave as they are.
std::string leak_id(const TrendReport& trend, std::uint32_t row);
std::string leak_id(std::span<const FrameView> leaf_first);
/// Of a total or a sum, by the budget's name.
std::string leak_id(const Budget& budget);

/// "alloc_body ‹ leak_sessions ‹ main": at most four functions.
std::string leak_name(const TrendReport& trend, std::uint32_t row);
std::string leak_name(std::span<const FrameView> leaf_first);

}  // namespace snapdiff::gate
