#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/style.hpp"
#include "analyzer/render/render.hpp"

/// Pages about device memory. All draw between kLeft and kRight, from `top` (below the page's title) down to at
/// most `bottom`, and return the lower edge of what they drew.
namespace snapdiff::render {

/// How a stack is called in a drawing: by its first Python frame where it has one, else by the first frame that is
/// not the allocator's; texts are printable.
struct StackLabel {
  std::string name;
  std::string site;                  ///< "train.py:12" or ""
  std::vector<std::string> callers;  ///< nearest first
};
StackLabel label_of(const StackView& view, StackRef stack);

/// Labels beside each other: equal names continue with the frame in which their stacks differ.
std::vector<StackLabel> labels_of(const StackView& view, const std::vector<StackRef>& stacks);

/// Site and the callers that fit into `width`. Returns the width used.
double draw_origin(Canvas& canvas, double x, double y, const StackLabel& label, const TextStyle& style, double width);

std::string pool_name(const PoolId& pool);

struct PageText {
  std::string title;
  std::string question;
};
PageText text_of(const TimelinePage& page);
PageText text_of(const SegmentsPage& page);
PageText text_of(const PinsPage& page);
PageText text_of(const CountersPage& page);
PageText text_of(const AxisPage& page);
PageText text_of(const MemoryPage& page);

double draw_page(const TimelinePage& page, Canvas& canvas, double top, double bottom);
double draw_page(const SegmentsPage& page, Canvas& canvas, double top, double bottom);
double draw_page(const PinsPage& page, Canvas& canvas, double top, double bottom);
double draw_page(const CountersPage& page, Canvas& canvas, double top, double bottom);
double draw_page(const AxisPage& page, Canvas& canvas, double top, double bottom);
double draw_page(const MemoryPage& page, Canvas& canvas, double top, double bottom);

/// Colours of the stacks that pin most, in the order of PinReport::rows; all others share one. Distinguished by people
/// who see red and green alike. Source: the "bright" scheme of Paul Tol's colour schemes.
inline constexpr std::array<Color, 6> kOwnerColors = {Color::hex(0x4477AA), Color::hex(0xEE6677), Color::hex(0x228833),
                                                      Color::hex(0xCCBB44), Color::hex(0xAA3377), Color::hex(0x66CCEE)};
inline constexpr Color kOtherOwner = Color::hex(0x55697D);
constexpr Color owner_color(std::size_t row) { return row < kOwnerColors.size() ? kOwnerColors[row] : kOtherOwner; }

/// "Who pins the segments": the heaviest rows, the rest, the sum. At most `bottom`. `coloured`: with the colour that a
/// map of the segments beside it gives to the blocks of each.
double draw_pins_table(const PinReport& report, Canvas& canvas, double y, double bottom, bool coloured = false);

/// Seconds, or milliseconds of short traces.
struct TimeScale {
  double span = 0;  ///< in units
  std::string unit;
};
TimeScale time_scale(std::int64_t span_us);

/// The failure, both ends, the peak.
std::string timeline_sentence(const MemoryTimeline& t);

/// "1 204 events; the fullest moment of each 2.5 ms shown".
std::string moments_text(const MemoryTimeline& t);

/// The parts of bars of segments.
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

/// Meanings of the colours, with bytes; returns the lower edge.
double draw_segments_key(const SegmentTotals& totals, bool by_role, Canvas& canvas, double y);

}  // namespace snapdiff::render
