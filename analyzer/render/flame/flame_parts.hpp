#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/render/flame/flame_boxes.hpp"

/// What is below a flame graph: scale, key, table.
namespace snapdiff::render {

/// A letter needs this much room.
inline constexpr double kLeastLetter = 8;

/// "scale ---- 1 MiB of change"; `points` is the width of all boxes.
double draw_flame_scale(const FlameStory& story, const FlameWords& words, Canvas& canvas, double y, double points);

/// "How to read it": samples of what the picture holds, and the sum of widths.
double flame_key_height(const FlameStory& story, const FlameWords& words, const FlameLayout& layout);
double draw_flame_key(const FlameStory& story, const FlameWords& words, const FlameLayout& layout, Canvas& canvas,
                      double y);

/// The ends of the paths, heaviest first, each with its path; then what is in no row, and the total.
struct FlameTable {
  std::vector<std::size_t> rows;  ///< marks, in order
  std::size_t more_boxes = 0;     ///< drawn ends in no row
  std::uint64_t more_frames = 0;  ///< merged ones in no row
};
/// The heaviest ends, `most` at most; of the merged ones those that can be seen.
FlameTable choose_ends(const FlameLayout& layout, std::size_t most);
double flame_table_height(const FlameTable& table);
double draw_flame_table(const FlameStory& story, const FlameWords& words, const FlamePicture& picture,
                        const FlameTable& table, const std::string& prefix, Canvas& canvas, double y);
std::string flame_row_anchor(const std::string& prefix, std::size_t row);

}  // namespace snapdiff::render
