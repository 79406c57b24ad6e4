#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/flame/flame_tree.hpp"
#include "unit/analyzer/flame/flame_text.hpp"

namespace snapdiff::test {

__extension__ using Wide = __int128;

/// What a box should say, by its path of names: sums in 128 bits over all rows, one path at a time.
struct Expected {
  Wide weight = 0, baseline = 0, current = 0, grew = 0, shrank = 0;
  double variance = 0;
};

inline Wide oracle_weight(FlameWidth width, const Expected& row) {
  if (width == FlameWidth::change) return row.grew - row.shrank;
  return row.current < 0 ? -row.current : row.current;
}

inline std::map<std::vector<std::string>, Expected> oracle(const GrowthReport& report, FlameWidth width) {
  std::map<std::vector<std::string>, Expected> out;
  const auto add = [&](const std::vector<std::string>& path, Expected row) {
    row.weight = oracle_weight(width, row);
    for (std::size_t n = 0; n <= path.size(); ++n) {
      Expected& box = out[{path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n)}];
      box.weight += row.weight;
      box.baseline += row.baseline;
      box.current += row.current;
      box.grew += row.grew;
      box.shrank += row.shrank;
      box.variance += row.variance;
    }
  };
  std::vector<FrameView> frames;
  for (const GrowthRow& row : report.rows) {
    report.frames(row, frames);
    std::vector<std::string> path, own;
    for (std::size_t i = frames.size(); i-- > 0;) {
      path.push_back(frames[i].function.empty() ? address_text(frames[i]) : std::string(frames[i].function));
      if (!frames[i].library) own.push_back(path.back());
    }
    if (!own.empty()) path = own;  // what a library does inside is its caller's
    if (path.empty()) path.push_back("[filtered out]");
    add(path, {0, row.value.baseline, row.value.current, row.grew, row.shrank, row.error * row.error});
  }
  const auto rest = [&](const char* name, const Change& value) {
    const Wide growth = Wide{value.current} - value.baseline;
    const double variance = report.exact || growth == 0 ? 0 : kUnknownError;
    add({name}, {0, value.baseline, value.current, growth > 0 ? growth : 0, growth < 0 ? growth : 0, variance});
  };
  if (report.unattributed != Change{}) rest("[unattributed]", report.unattributed);
  if (report.filtered != Change{}) rest("[filtered out]", report.filtered);
  std::erase_if(out, [](const auto& box) { return !box.first.empty() && box.second.weight == 0; });
  return out;
}

/// Every box of the tree against the oracle, and what must hold between boxes.
inline void check_tree(const GrowthReport& report, FlameWidth width) {
  INFO("width " << static_cast<int>(width));
  const Result<FlameTree> tree = flame::flame_tree(report, width);
  REQUIRE(tree);
  const auto expected = oracle(report, width);
  REQUIRE(tree->boxes.size() == std::max<std::size_t>(expected.size(), 1));
  std::vector<std::string> path;
  std::vector<Wide> children(tree->boxes.size(), 0);
  std::uint32_t deepest = 0;
  bool good = true;
  for (std::size_t i = 0; i < tree->boxes.size(); ++i) {
    const FlameBox& box = tree->boxes[i];
    deepest = std::max(deepest, box.depth);
    if (i > 0) {
      REQUIRE(box.parent < i);
      REQUIRE(box.depth == tree->boxes[box.parent].depth + 1);
      path.resize(box.depth - 1);
      path.push_back(box_name(*tree, i));
      children[box.parent] += static_cast<Wide>(box.weight);
    }
    const auto at = expected.find(path);
    if (at == expected.end()) {
      CHECK(expected.empty());
      continue;
    }
    const Expected& e = at->second;
    good = good && static_cast<Wide>(box.weight) == e.weight && box.value.baseline == e.baseline &&
           box.value.current == e.current && box.grew == e.grew && box.shrank == e.shrank;
    const double error = std::sqrt(e.variance);
    if (i > 0) good = good && (std::isnan(error) ? std::isnan(box.error) : box.error == Approx(error).margin(1e-9));
    if (!good) FAIL("box " << i << " " << box_name(*tree, i));
  }
  for (std::size_t i = 0; i < tree->boxes.size(); ++i)
    good = good && children[i] <= static_cast<Wide>(tree->boxes[i].weight);
  CHECK(good);
  CHECK(tree->depth == deepest);
  CHECK(tree->boxes.front().value == report.total);
  // Siblings: heaviest first, then by name.
  std::vector<std::size_t> last(tree->boxes.size(), 0);
  for (std::size_t i = 1; i < tree->boxes.size(); ++i) {
    std::size_t& before = last[tree->boxes[i].parent];
    if (before != 0) {
      const FlameBox& a = tree->boxes[before];
      const FlameBox& b = tree->boxes[i];
      const bool sorted = a.weight > b.weight ||
                          (a.weight == b.weight && (tree->frames[a.name].function < tree->frames[b.name].function ||
                                                    box_name(*tree, before) < box_name(*tree, i)));
      if (!sorted) FAIL("order of " << box_name(*tree, before) << " and " << box_name(*tree, i));
    }
    before = i;
  }
}

inline void check_all_widths(const GrowthReport& report) {
  for (const FlameWidth width : {FlameWidth::change, FlameWidth::current}) check_tree(report, width);
}

}  // namespace snapdiff::test
