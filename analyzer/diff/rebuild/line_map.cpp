#include "analyzer/diff/rebuild/line_map.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "analyzer/diff/rebuild/alignment.hpp"
#include "analyzer/diff/rebuild/disjoint_sets.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// The final positions of each function, in order of their lines.
std::vector<std::vector<std::uint32_t>> by_function(const Positions& positions, std::size_t functions) {
  std::vector<std::vector<std::uint32_t>> out(functions);
  for (std::uint32_t p = 0; p < positions.all.size(); ++p) {
    if (positions.all[p].final) out[positions.all[p].function].push_back(p);
  }
  for (auto& of_function : out) {
    std::vector<std::pair<std::vector<std::int32_t>, std::uint32_t>> sorted;
    sorted.reserve(of_function.size());
    for (const std::uint32_t p : of_function) sorted.emplace_back(positions.path(p), p);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) of_function[i] = sorted[i].second;
  }
  return out;
}

bool share_a_line(const Positions& a, const std::vector<std::uint32_t>& in_a, const Positions& b,
                  const std::vector<std::uint32_t>& in_b) {
  for (std::size_t i = 0, j = 0; i < in_a.size() && j < in_b.size();) {
    const std::int32_t x = a.path(in_a[i]).front();
    const std::int32_t y = b.path(in_b[j]).front();
    if (x == y) return true;
    x < y ? ++i : ++j;
  }
  return false;
}

}  // namespace

LineMap map_lines(const Positions& before, const Positions& after, std::size_t functions, const Code& current) {
  const auto in_a = by_function(before, functions);
  const auto in_b = by_function(after, functions);
  // In a file where functions have lost all their lines, an equal line is a coincidence.
  struct Moves {
    std::size_t moved = 0, all = 0;
  };
  std::map<std::string_view, Moves> of_file;
  for (std::size_t f = 0; f < functions; ++f) {
    if (in_a[f].empty() || in_b[f].empty()) continue;
    Moves& moves = of_file[current.functions[f].file];
    ++moves.all;
    if (!share_a_line(before, in_a[f], after, in_b[f])) ++moves.moved;
  }
  const std::size_t count_a = before.all.size();
  DisjointSets classes(count_a + after.all.size());
  std::vector<std::uint8_t> aligned(count_a + after.all.size(), 0);
  for (std::size_t f = 0; f < functions; ++f) {
    if (in_a[f].empty() || in_b[f].empty()) continue;
    const Moves& moves = of_file[current.functions[f].file];
    const double stays = moves.moved == 0 ? 1.0 : moves.moved * 4 < moves.all ? 0.4 : 0.02;
    align(before, in_a[f], after, in_b[f], stays, [&](std::uint32_t a, std::uint32_t b) {
      const auto other = static_cast<std::uint32_t>(count_a + b);
      classes.join(a, other);
      aligned[a] = aligned[other] = 1;
    });
  }
  LineMap map;
  map.paired.assign(count_a + after.all.size(), 0);
  for (std::uint32_t p = 0; p < count_a; ++p) map.before.push_back(classes.find(p));
  for (std::uint32_t p = 0; p < after.all.size(); ++p)
    map.after.push_back(classes.find(static_cast<std::uint32_t>(count_a + p)));
  for (std::uint32_t p = 0; p < aligned.size(); ++p) {
    if (aligned[p] != 0) map.paired[classes.find(p)] = 1;
  }
  return map;
}

}  // namespace snapdiff::diff::rebuild
