#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/style.hpp"

namespace snapdiff::render {

/// What bars of segments are made of.
enum SegmentPart : std::uint8_t { kPartLive, kPartRounding, kPartPending, kPartFree };
inline constexpr std::size_t kSegmentParts = 4;

inline constexpr Color kSegmentBorder = Color::hex(0x9AA6B2);
inline constexpr double kRoleKeyLine = 12;  ///< height of a line of roles

/// Sums over the bars; `roles` of live bytes, by number of the role, where bars are coloured by it.
struct SegmentTotals {
  std::array<std::int64_t, kSegmentParts> bytes{};
  std::array<std::int64_t, kRoles.size()> roles{};
  std::int64_t reserved = 0;
  std::size_t segments = 0;
};

/// What the colours mean, with bytes; returns the lower edge.
double draw_segments_key(const SegmentTotals& totals, bool by_role, Canvas& canvas, double y);

}  // namespace snapdiff::render
