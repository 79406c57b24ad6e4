#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/render/flame/flame_layout.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/pdf_document.hpp"
#include "analyzer/render/paint/text.hpp"
#include "analyzer/render/render.hpp"

namespace snapdiff::render {

/// The meaning of widths in a flame graph, in words and figures.
class FlameWords {
 public:
  explicit FlameWords(const FlameStory& story) : story_(story), q_(quantity_of(story.tree.unit)) {}

  const Quantity& quantity() const { return q_; }
  /// Shrinkage, or growth, has a part in each box's width.
  bool shows_gone() const { return two_sided() && width() == FlameWidth::change; }
  bool shows_grown() const { return two_sided(); }
  /// Parts that both sides share have a part in it.
  bool shows_same() const { return !shows_gone(); }
  FlameWidth width() const { return story_.tree.width; }
  bool two_sided() const { return story_.two_sided; }

  /// "all change", "all after", "all".
  std::string root_name() const;
  std::string name(const FlameMark& mark) const;
  /// The colour of what a box is for; nothing of the root, and where the tree is not by role.
  std::optional<Color> role_color(std::uint32_t box) const;
  /// The label of a box, from the longest to the shortest form.
  std::vector<std::string> figures(const FlameMark& mark) const;
  /// Full names and figures: for tooltips.
  std::string title(const FlameMark& mark) const;
  /// A width: "8.66 MiB". Values beyond 2^63-1 as that.
  std::string size(std::uint64_t weight) const;
  /// Root first, to the mark itself.
  std::vector<std::string> path(const FlameMark& mark) const;
  bool is_unsure(const FlameMark& mark) const;
  /// Nothing was held here before, or nothing is any more, and that is not so of its caller already.
  bool begins_new(const FlameMark& mark) const;
  bool begins_gone(const FlameMark& mark) const;

 private:
  std::string merged_text(const FlameMark& mark) const;
  std::string run_text(const FlameMark& mark) const;
  bool is_new(std::uint32_t box) const;
  bool is_gone(std::uint32_t box) const;

  const FlameStory& story_;
  Quantity q_;
};

/// The boxes in rows of `row_height` from `top` down, at kLeft.
struct FlamePicture {
  FlameLayout layout;
  double row_height = 0;
  std::vector<std::string> links;  ///< by mark: anchor that it leads to; ""
  std::string anchors;             ///< beginning of the marks' own anchors
};

void draw_boxes(const FlamePicture& picture, const FlameWords& words, Canvas& canvas, double top);

/// How a box is filled: `gone`, `same` and `grown` parts of it, side by side. For the key as well.
struct FlameFill {
  double gone = 0, same = 0, grown = 0;  ///< shares of the width
  double strength = 1;                   ///< |net| / width
  bool unsure = false, is_new = false, is_gone = false;
  std::optional<Color> role;  ///< of `same`, where the tree is by role
  FlameMark::Kind kind = FlameMark::Kind::frame;
};
void draw_fill(const FlameFill& fill, Canvas& canvas, const Box& box);

/// A merged end narrower than this cannot be seen: it has no row in the table. Points.
inline constexpr double kLeastEnd = 8;

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

/// Its title, question and foot, printable.
PageFrame flame_frame(const FlameStory& story);

/// Its content between kLeft and kRight, from `top` (below the page's title) down to at most `bottom`; returns the
/// lower edge. Anchors and links begin with `prefix`, which must be this page's own; "" for none.
double draw_flame_content(const FlameStory& story, Canvas& canvas, double top, double bottom,
                          const std::string& prefix);

}  // namespace snapdiff::render
