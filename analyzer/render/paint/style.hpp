#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

/// Colours and type of all documents. The contrast of every text pair is at least 4.5:1; growth
/// and shrinkage have equal lightness, so a grey print ranks neither over the other.
namespace snapdiff::render {

struct Color {
  std::uint8_t r = 0, g = 0, b = 0;
  static constexpr Color hex(std::uint32_t rgb) {
    return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8), static_cast<std::uint8_t>(rgb)};
  }
  friend constexpr bool operator==(const Color&, const Color&) = default;
};

inline constexpr Color kInk = Color::hex(0x16202B);
inline constexpr Color kInk2 = Color::hex(0x4B5866);
inline constexpr Color kInk3 = Color::hex(0x647180);
inline constexpr Color kOnFill = Color::hex(0x33404D);
inline constexpr Color kLine = Color::hex(0xD3DAE1);
inline constexpr Color kPanel = Color::hex(0xF3F5F7);
inline constexpr Color kOther = Color::hex(0xDDE3E9);
inline constexpr Color kPaper = Color::hex(0xFFFFFF);

/// Five strengths of one colour.
struct Ramp {
  Color c900, c700, c500, c300, c100;
};
inline constexpr Ramp kGrow = {Color::hex(0x8A2B04), Color::hex(0xB33C0A), Color::hex(0xDE6B2F), Color::hex(0xF0A87F),
                               Color::hex(0xFBE6DA)};
inline constexpr Ramp kShrink = {Color::hex(0x0B3F70), Color::hex(0x155A9C), Color::hex(0x4A8CC7), Color::hex(0x9AC0E2),
                                 Color::hex(0xE1EDF7)};
/// Colours of roles, by role_number(); they differ for colour-blind people, and in grey. html/assets/pictures.css has
/// the same.
inline constexpr std::array<Color, 10> kRoles = {
    Color::hex(0xB8B8B8), Color::hex(0x6FA3D0), Color::hex(0x33597F), Color::hex(0xE8CF7A), Color::hex(0xE08A4F),
    Color::hex(0x8C6FA0), Color::hex(0xB9C79A), Color::hex(0xD9B8A8), Color::hex(0x4F7F6B), Color::hex(0xD8D4CB)};
inline constexpr Ramp kEven = {kInk2, kInk3, kInk3, kLine, kPanel};

inline constexpr const Ramp& ramp_of(double growth) { return growth > 0 ? kGrow : growth < 0 ? kShrink : kEven; }

/// Of a growth written as text; `even` where nothing grew.
inline constexpr Color growth_color(std::int64_t growth, Color even = kInk2) {
  return growth == 0 ? even : ramp_of(static_cast<double>(growth)).c700;
}

inline Color mix(Color from, Color to, double share) {
  const auto one = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
  };
  return {one(from.r, to.r), one(from.g, to.g), one(from.b, to.b)};
}

/// Fill of a box: strength by the root of |net| / max |net|, never by percent.
inline Color tint(double net, double most) {
  if (net == 0 || most <= 0) return kPanel;
  return mix(kPaper, ramp_of(net).c300, 0.18 + 0.62 * std::sqrt(std::min(1.0, std::fabs(net) / most)));
}

enum class FontWeight : std::uint8_t { regular, medium, semibold, bold };

struct TextStyle {
  double size = 8;
  FontWeight weight = FontWeight::regular;
  bool mono = false;
  bool italic = false;
  double track = 0;  ///< extra space between letters, points
};

struct Stroke {
  Color color;
  double width = 0.6;
  double dash_on = 0, dash_off = 0;  ///< 0: solid
  bool round_joins = false;
};

/// The live area: inside A4 and inside Letter.
inline constexpr double kLeft = 44, kRight = 551, kTop = 46, kBottom = 770;
inline constexpr double kWidth = kRight - kLeft;

/// No printed text is smaller, scaled graphs included.
inline constexpr double kSmallestText = 5.8;

}  // namespace snapdiff::render
