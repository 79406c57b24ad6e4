#include "analyzer/render/flame/flame_layout.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/render/chart/story_facts.hpp"

namespace snapdiff::render {
namespace {

/// Runs narrower than this say nothing that their last box does not say.
constexpr double kRoomForNames = 45;

void take_away(FlameMark& mark, const FlameBox& box) {
  mark.weight -= box.weight;
  mark.value -= box.value;
  mark.grew = wrapping_difference(mark.grew, box.grew);
  mark.shrank = wrapping_difference(mark.shrank, box.shrank);
  mark.error = std::sqrt(std::max(0.0, mark.error * mark.error - box.error * box.error));
}

FlameMark of_box(const FlameBox& box, std::uint32_t index) {
  FlameMark mark;
  mark.box = index;
  mark.weight = box.weight;
  mark.value = box.value;
  mark.grew = box.grew;
  mark.shrank = box.shrank;
  mark.error = box.error;
  return mark;
}

class Placing {
 public:
  Placing(const FlameTree& tree, double width, double least_width, std::uint32_t most_rows, double fold)
      : tree_(tree),
        least_(least_width),
        most_rows_(most_rows),
        fold_(fold),
        end_(tree.boxes.size()),
        deepest_(tree.boxes.size()) {
    const std::vector<FlameBox>& boxes = tree.boxes;
    scale_ = boxes.front().weight == 0 ? 0 : width / static_cast<double>(boxes.front().weight);
    for (std::uint32_t i = static_cast<std::uint32_t>(boxes.size()); i-- > 0;) {
      end_[i] = std::max(end_[i], i + 1);
      deepest_[i] = std::max(deepest_[i], boxes[i].depth);
      if (i == 0) break;
      end_[boxes[i].parent] = std::max(end_[boxes[i].parent], end_[i]);
      deepest_[boxes[i].parent] = std::max(deepest_[boxes[i].parent], deepest_[i]);
    }
  }

  FlameLayout run() {
    if (scale_ == 0) return std::move(out_);
    FlameMark root = of_box(tree_.boxes.front(), 0);
    root.w = points(root.weight);
    open_.push_back(root);
    while (!open_.empty()) {
      const FlameMark mark = open_.back();
      open_.pop_back();
      place(mark);
    }
    return std::move(out_);
  }

 private:
  double points(std::uint64_t weight) const { return static_cast<double>(weight) * scale_; }
  bool has_children(std::uint32_t box) const { return end_[box] > box + 1; }

  void add(FlameMark mark) {
    out_.rows = std::max(out_.rows, mark.row + 1);
    const bool whole = mark.kind == FlameMark::Kind::frame || mark.kind == FlameMark::Kind::here;
    if (mark.kind == FlameMark::Kind::run) {
      out_.folded_boxes += mark.frames;
      out_.marks.push_back(mark);
      return;
    }
    if (mark.end) (whole ? out_.drawn : out_.merged) += mark.weight;
    (whole ? out_.drawn_boxes : out_.merged_boxes) += mark.frames;
    out_.marks.push_back(mark);
  }

  /// A frame; its own part and what is merged below it; its callees later, from left to right.
  void place(FlameMark mark) {
    mark.end = !has_children(mark.box);
    add(mark);
    if (mark.end) return;
    const std::uint32_t below = deepest_[mark.box] - tree_.boxes[mark.box].depth;
    if (mark.row + 2 >= most_rows_ && mark.row + below + 1 > most_rows_) {
      cut(mark);
      return;
    }
    if (mark.w < fold_ && fold(mark)) return;
    FlameMark own = mark;
    own.kind = FlameMark::Kind::here;
    own.end = true;
    own.frames = 0;
    FlameMark rest;
    rest.kind = FlameMark::Kind::merged;
    rest.end = true;
    rest.box = mark.box;
    rest.frames = 0;
    for (std::uint32_t i = mark.box + 1; i < end_[mark.box]; i = end_[i]) take_away(own, tree_.boxes[i]);
    own.row = rest.row = mark.row + 1;

    double x = mark.x;
    const std::size_t first = open_.size();
    bool own_placed = own.weight == 0;
    const auto place_own = [&] {
      own.x = x;
      own.w = points(own.weight);
      x += own.w;
      own_placed = true;
      add(own);
    };
    for (std::uint32_t i = mark.box + 1; i < end_[mark.box]; i = end_[i]) {
      const FlameBox& box = tree_.boxes[i];
      if (points(box.weight) < least_) {
        add_figures(rest, of_box(box, i));
        rest.frames += end_[i] - i;
        rest.levels = std::max(rest.levels, deepest_[i] - tree_.boxes[mark.box].depth);
        continue;
      }
      if (!own_placed && own.weight >= box.weight) place_own();
      FlameMark child = of_box(box, i);
      child.row = mark.row + 1;
      child.x = x;
      child.w = points(box.weight);
      x += child.w;
      open_.push_back(child);
    }
    if (!own_placed && (points(own.weight) >= least_ || rest.frames == 0)) place_own();
    if (!own_placed) add_figures(rest, own);
    std::reverse(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end());
    if (rest.frames == 0) return;
    rest.x = x;
    rest.w = points(rest.weight);
    add(rest);
  }

  /// The only callee, where nothing else has a part in the width; else 0.
  std::uint32_t only_callee(std::uint32_t box) const {
    const std::uint32_t child = box + 1;
    const bool only = child < end_[box] && end_[child] == end_[box];
    return only && tree_.boxes[child].weight == tree_.boxes[box].weight ? child : 0;
  }

  /// Two or more single callees between `mark` and the last of its run become one low row.
  bool fold(const FlameMark& mark) {
    std::uint32_t last = mark.box;
    for (std::uint32_t next = only_callee(last); next != 0; next = only_callee(last)) last = next;
    const std::uint32_t between = last > mark.box ? last - mark.box - 1 : 0;
    if (between < 2 || mark.row + 3 > most_rows_) return false;
    FlameMark run = mark;
    run.kind = FlameMark::Kind::run;
    run.row = mark.row + 1;
    run.frames = run.levels = between;
    add(run);
    FlameMark end = of_box(tree_.boxes[last], last);
    end.row = mark.row + 2;
    end.x = mark.x;
    end.w = mark.w;
    open_.push_back(end);
    return true;
  }

  /// Everything below `mark` in one row.
  void cut(const FlameMark& mark) {
    FlameMark all = mark;
    all.kind = FlameMark::Kind::deeper;
    all.end = true;
    all.row = mark.row + 1;
    all.frames = end_[mark.box] - mark.box - 1;
    all.levels = deepest_[mark.box] - tree_.boxes[mark.box].depth;
    out_.cut_levels = std::max(out_.cut_levels, all.levels - 1);
    add(all);
  }

  const FlameTree& tree_;
  double least_, scale_ = 0;
  std::uint32_t most_rows_;
  double fold_;                         ///< runs narrower than this are folded
  std::vector<std::uint32_t> end_;      ///< by box: after the last one below it
  std::vector<std::uint32_t> deepest_;  ///< by box: depth of the deepest one below it
  std::vector<FlameMark> open_;
  FlameLayout out_;
};

}  // namespace

void add_figures(FlameMark& mark, const FlameMark& other) {
  mark.weight += other.weight;
  mark.value += other.value;
  mark.grew = wrapping_sum(mark.grew, other.grew);
  mark.shrank = wrapping_sum(mark.shrank, other.shrank);
  mark.error = std::hypot(mark.error, other.error);
}

FlameLayout lay_out(const FlameTree& tree, double width, double least_width, std::uint32_t good_rows,
                    std::uint32_t most_rows) {
  if (tree.boxes.empty()) return {};
  most_rows = std::max(most_rows, 2U);
  // Deeper boxes are not looked at: a stack may have a million frames.
  const std::uint32_t far = most_rows < 10'000 ? most_rows * 4 + 16 : most_rows;
  FlameLayout out = Placing(tree, width, least_width, far, 0).run();
  if (out.rows > good_rows) out = Placing(tree, width, least_width, far, kRoomForNames).run();
  if (out.rows > most_rows) out = Placing(tree, width, least_width, most_rows, width + 1).run();
  out.least_width = least_width;
  return out;
}

}  // namespace snapdiff::render
