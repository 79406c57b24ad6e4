#pragma once

#include <cstdint>
#include <vector>

#include "snapdiff/flame.hpp"

namespace snapdiff::render {

/// A box of the picture.
///   frame   a box of the tree
///   here    what was allocated in a frame itself, beside its callees
///   merged  callees too narrow to be drawn, as one
///   deeper  all callees of a frame below which the levels do not fit
///   run     callees in a row that do nothing but call the next, folded where levels do not fit
struct FlameMark {
  enum class Kind : std::uint8_t { frame, here, merged, deeper, run };
  Kind kind = Kind::frame;
  bool end = false;       ///< nothing is drawn below it: widths of the ends add up to the root's
  std::uint32_t box = 0;  ///< of the tree; of `here`, `merged` and `deeper` the caller
  std::uint32_t row = 0;  ///< 0: the root
  double x = 0, w = 0;    ///< points, from the left edge
  std::uint64_t weight = 0;
  Change value;  ///< of `here` also stacks without width, which have no box
  std::int64_t grew = 0, shrank = 0;
  double error = 0;
  std::uint32_t frames = 1;  ///< boxes of the tree that it stands for
  std::uint32_t levels = 0;  ///< merged, deeper: rows they would take
};

/// drawn + merged == weight of the root: sums of ends that are frames or `here`, and of the others.
struct FlameLayout {
  std::vector<FlameMark> marks;  ///< callers before their callees
  std::uint32_t rows = 0;
  double least_width = 0;
  std::uint64_t drawn = 0, merged = 0;
  std::uint64_t drawn_boxes = 0, merged_boxes = 0, folded_boxes = 0;  ///< they add up to the tree's
  std::uint32_t cut_levels = 0;                                       ///< rows that did not fit
};

/// Adds what `other` holds: value, growth, error, width.
void add_figures(FlameMark& mark, const FlameMark& other);

/// Boxes of at least `least_width` points across `width` points. From more than `good_rows` on, runs of single
/// callees too narrow for names are folded; from more than `most_rows` (2 or more) on, all runs; then the deepest
/// levels are cut. Empty where the root has no width.
FlameLayout lay_out(const FlameTree& tree, double width, double least_width, std::uint32_t good_rows,
                    std::uint32_t most_rows);

}  // namespace snapdiff::render
