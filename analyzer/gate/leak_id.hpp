#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "snapdiff/gate.hpp"

namespace snapdiff::gate {

/// Twelve hex digits that a rebuild, moved lines and other addresses leave as they are.
std::string leak_id(const TrendReport& trend, std::uint32_t row);
std::string leak_id(std::span<const FrameView> leaf_first);
std::string leak_id(std::string_view name);  ///< of what has no frames
/// What the id was before a release that renamed functions of it; "" where it was the same, and where the row was not
/// matched across builds.
std::string former_leak_id(const TrendReport& trend, std::uint32_t row);
/// Of a culprit, whose path is `leaf_first`; `rows` are those below it.
std::string former_leak_id(const TrendReport& trend, std::span<const FrameView> leaf_first,
                           std::span<const std::uint32_t> rows);
/// Of a total or a sum, by the budget's name.
std::string leak_id(const Budget& budget);

/// "alloc_body ‹ leak_sessions ‹ main": at most four functions.
std::string leak_name(std::span<const FrameView> leaf_first);

}  // namespace snapdiff::gate
