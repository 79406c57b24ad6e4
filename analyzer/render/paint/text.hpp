#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/render/paint/style.hpp"
#include "snapdiff/growth.hpp"

/// Numbers and names as documents print them: typographic minus, thin spaces, binary units.
namespace snapdiff::render {

/// Valid UTF-8 without anything that could break a line, turn the reading direction or be no
/// character at all: such code points and every stray byte become \x1b, as everywhere. Texts of more
/// than 600 bytes lose their middle.
std::string printable(std::string_view bytes);

/// The text with a mark after each run of right-to-left letters, so that what follows (a number,
/// mostly) stays to the right of them.
std::string left_to_right(std::string_view text);

/// "std::vector<…>::push_back" for "std::vector<Session*, alloc<Session*>>::push_back": what is in angle brackets
/// after a name. Text whose brackets do not match is left as it is.
std::string without_template_arguments(std::string_view text);

/// At most `most` code points, the middle given up.
std::string shortened(std::string_view text, std::size_t most);

/// Where each of its code points begins.
std::vector<std::size_t> code_points(std::string_view text);

inline constexpr NumberGlyphs kGlyphs{"\u2212", "\u2009", " "};

/// "2.52 MiB": three significant digits, half away from zero; bytes whole.
inline std::string size_text(std::int64_t bytes) { return bytes_text(bytes, kGlyphs); }
/// "+2.52 MiB", "−4.00 MiB", "0 B".
inline std::string size_growth_text(std::int64_t bytes) { return growth_text(bytes, kGlyphs); }
/// "44 011" with thin spaces from four digits on.
template <std::integral Count>
std::string count_text(Count count) {
  return snapdiff::count_text(count, kGlyphs);
}
inline std::string count_growth_text(std::int64_t count) { return growth_count_text(count, kGlyphs); }
/// "12 snapshots", "1 snapshot".
inline std::string counted(std::uint64_t count, std::string_view thing) {
  return snapdiff::counted(count, thing, kGlyphs);
}
/// "[2 others]", "[1 other]".
inline std::string others_text(std::uint64_t count) { return snapdiff::others_text(count, kGlyphs); }

/// A metric's values in its own unit.
struct Quantity {
  bool bytes = true;
  std::string value(std::int64_t v) const { return bytes ? size_text(v) : count_text(v); }
  std::string growth(std::int64_t v) const { return bytes ? size_growth_text(v) : count_growth_text(v); }
  /// Without a sign.
  std::string size(std::int64_t v) const;
  /// "grew from 1.02 to 6.72 MiB"
  std::string change(std::int64_t before, std::int64_t after) const;
};
inline Quantity quantity_of(std::string_view unit) { return {unit == "bytes"}; }

/// Whole percent of a part, 0..1: "47 %", "<1 %", ">99 %"; "n/a" for not a number.
std::string share_text(double share);

/// "In-use bytes", "Allocated objects"; another metric's own name.
std::string metric_title(std::string_view metric);

/// "#ff8800", as SVG and DOT write it.
std::string color_text(Color color);

/// "2024-05-01 12:00:07Z" of nanoseconds since 1970.
inline std::string time_text(std::int64_t ns) { return utc_text(ns) + "Z"; }

/// Function name as tables show it; unsymbolized frames as "libz.so+0x12a4".
std::string frame_name(const FrameView& frame);
/// "svc_cache.cc:24"; "" where the frame has no file.
std::string site_text(const FrameView& frame);

}  // namespace snapdiff::render
