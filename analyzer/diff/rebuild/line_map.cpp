#include "analyzer/diff/rebuild/line_map.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/rebuild/disjoint_sets.hpp"
#include "analyzer/diff/rebuild/sites.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// The final positions of each function, in order of their lines.
class ByFunction {
 public:
  ByFunction() = default;
  ByFunction(const Positions& positions, std::size_t functions) : end_(functions, 0) {
    for (const Position& position : positions.all) end_[position.function] += position.final ? 1U : 0U;
    std::vector<Line> lines(std::reduce(end_.begin(), end_.end(), std::size_t{0}));
    std::exclusive_scan(end_.begin(), end_.end(), end_.begin(), 0U);  // where each begins, until the first is there
    for (std::uint32_t p = 0; p < positions.all.size(); ++p) {
      if (positions.all[p].final) lines[end_[positions.all[p].function]++] = {positions.own_line(p), p};
    }
    const auto before = [&positions](const Line& x, const Line& y) {
      if (x.line != y.line) return x.line < y.line;
      const std::vector<std::int32_t> path_x = positions.path(x.position), path_y = positions.path(y.position);
      return path_x != path_y ? path_x < path_y : x.position < y.position;
    };
    for (std::size_t f = 0, begin = 0; f < functions; begin = end_[f++])
      std::sort(lines.data() + begin, lines.data() + end_[f], before);
    positions_.reserve(lines.size());
    for (const Line& one : lines) positions_.push_back(one.position);
  }

  std::size_t size() const { return end_.size(); }
  std::span<const std::uint32_t> operator[](std::size_t function) const {
    const std::size_t begin = function == 0 ? 0 : end_[function - 1];
    return std::span(positions_).subspan(begin, end_[function] - begin);
  }

 private:
  struct Line {
    std::int32_t line;
    std::uint32_t position;
  };
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint32_t> end_;  ///< per function, in `positions_`
};

bool share_a_line(const Positions& a, std::span<const std::uint32_t> in_a, const Positions& b,
                  std::span<const std::uint32_t> in_b) {
  for (std::size_t i = 0, j = 0; i < in_a.size() && j < in_b.size();) {
    const std::int32_t x = a.own_line(in_a[i]);
    const std::int32_t y = b.own_line(in_b[j]);
    if (x == y) return true;
    x < y ? ++i : ++j;
  }
  return false;
}

/// The function's first and last line before, and by how much they moved.
struct Ends {
  std::uint32_t function = 0;
  std::int32_t first = 0, last = 0;
  std::int32_t first_moved = 0, last_moved = 0;
};

using AlignedLines = std::vector<AlignedPair>;

/// The line that `a` is aligned with; kNone where no line or more than one fits, to one of the two.
std::uint32_t only_partner(const AlignedLines& aligned, std::uint32_t a) {
  std::uint32_t b = kNone;
  for (const auto& [here, there] : aligned) {
    if (here != a) continue;
    if (b != kNone) return kNone;
    b = there;
  }
  const auto of_b = [b](const auto& pair) { return pair.second == b; };
  return b != kNone && std::count_if(aligned.begin(), aligned.end(), of_b) == 1 ? b : kNone;
}

/// Aligns the lines of all functions of two sides.
class Lines {
 public:
  Lines(const Positions& before, const Positions& after, std::size_t functions, const Code& current)
      : a_(before), b_(after), current_(current), shifts_(functions) {
    for_each_parallel(2, before.all.size() + after.all.size(), [&](std::size_t side) {
      side == 0 ? in_a_ = ByFunction(before, functions) : in_b_ = ByFunction(after, functions);
    });
    // In a file where functions have lost all their lines, an equal line is a coincidence.
    for (std::size_t f = 0; f < functions; ++f) {
      if (in_a_[f].empty() || in_b_[f].empty()) continue;
      Moves& moves = of_file_[current.functions[f].file];
      ++moves.all;
      if (!share_a_line(a_, in_a_[f], b_, in_b_[f])) ++moves.moved;
    }
    for (std::size_t f = 0; f < functions; ++f) {
      const Moves& moves = of_file_[current.functions[f].file];
      shifts_[f].stays = moves.moved == 0 ? 1.0 : moves.moved * 4 < moves.all ? 0.4 : 0.02;
    }
  }

  /// What is between two functions moved by as much as one of them.
  void find_shifts() {
    align_each([](std::size_t) { return true; });
    std::unordered_map<std::string_view, std::vector<Ends>, KeyedHash> files;
    for (std::uint32_t f = 0; f < in_a_.size(); ++f) {
      if (in_a_[f].empty() || in_b_[f].empty()) continue;
      const std::uint32_t first = only_partner(pairs_[f], in_a_[f].front());
      const std::uint32_t last = only_partner(pairs_[f], in_a_[f].back());
      if (first == kNone || last == kNone) continue;
      const auto moved = [&](std::uint32_t a, std::uint32_t b) { return b_.own_line(b) - a_.own_line(a); };
      const std::int32_t begin = a_.own_line(in_a_[f].front()), end = a_.own_line(in_a_[f].back());
      if (begin == 0 || end == 0) continue;
      files[current_.functions[f].file].push_back(
          {f, begin, end, moved(in_a_[f].front(), first), moved(in_a_[f].back(), last)});
    }
    for (auto& [file, ends] : files) {
      std::sort(ends.begin(), ends.end(), [](const Ends& x, const Ends& y) { return x.first < y.first; });
      for (std::size_t i = 1; i + 1 < ends.size(); ++i) {
        const Ends &above = ends[i - 1], &below = ends[i + 1];
        if (above.last >= ends[i].first || ends[i].last >= below.first) continue;
        Shift& shift = shifts_[ends[i].function];
        // Nothing new where the whole function moved by as much already, or nothing else is possible.
        const bool agrees = ends[i].first_moved == above.last_moved && ends[i].last_moved == below.first_moved &&
                            above.last_moved == below.first_moved &&
                            pairs_[ends[i].function].size() == in_a_[ends[i].function].size() &&
                            in_a_[ends[i].function].size() == in_b_[ends[i].function].size();
        if (agrees) continue;
        shift.known = true;
        shift.above = above.last_moved;
        shift.below = below.first_moved;
      }
    }
  }

  AlignedLines align_all() {
    align_each([this](std::size_t f) { return shifts_[f].known; });
    AlignedLines all;
    all.reserve(std::min(a_.all.size(), b_.all.size()));
    for (const AlignedLines& of_function : pairs_) all.insert(all.end(), of_function.begin(), of_function.end());
    return all;
  }

 private:
  struct Moves {
    std::size_t moved = 0, all = 0;
  };
  /// Aligns the functions that both sides have and `which` lets through.
  template <class Which>
  void align_each(Which which) {
    pairs_.resize(in_a_.size());
    constexpr std::size_t kShares = 16;
    for_each_parallel(kShares, a_.all.size() + b_.all.size(), [&](std::size_t share) {
      for (std::size_t f = in_a_.size() * share / kShares; f < in_a_.size() * (share + 1) / kShares; ++f) {
        if (in_a_[f].empty() || in_b_[f].empty() || !which(f)) continue;
        pairs_[f].clear();
        align_sites(a_, in_a_[f], b_, in_b_[f], shifts_[f], pairs_[f]);
      }
    });
  }

  const Positions& a_;
  const Positions& b_;
  const Code& current_;
  ByFunction in_a_, in_b_;
  std::unordered_map<std::string_view, Moves, KeyedHash> of_file_;
  std::vector<Shift> shifts_;
  std::vector<AlignedLines> pairs_;  ///< per function
};

/// What the positions of one side are aligned with.
using Counterparts = ByPosition<std::uint32_t>;

/// `at`, `there`: which of a pair is of the side.
Counterparts counterparts_of(const AlignedLines& aligned, std::size_t positions, std::uint32_t AlignedPair::*at,
                             std::uint32_t AlignedPair::*there) {
  std::vector<std::uint32_t> counts(positions, 0);
  for (const AlignedPair& pair : aligned) ++counts[pair.*at];
  Counterparts out(counts);
  for (const AlignedPair& pair : aligned) out.add(pair.*at, pair.*there);
  return out;
}

/// A line of one side that the frames of a function of this side alone made a part of another one, and that no line
/// is: where such a function calls, the line itself does in a build that leaves its frame out.
class Parts {
 public:
  Parts(const Positions& own, const Positions& other, const Counterparts& counterparts)
      : own_(own), other_(other), counterparts_(counterparts), of_line_(own.all.size(), kNone) {
    for (std::uint32_t p = 0; p < own.all.size(); ++p) {
      for (const std::uint32_t there : counterparts[p]) {
        if (other.all[there].above != kNone) continue;
        std::uint32_t& known = of_line_[whole(p)];
        known = known == kNone || known == there ? there : kSeveral;
      }
    }
  }

  /// The line of the other side that a part is, or kNone.
  std::uint32_t of(std::uint32_t part) const {
    const Position& position = own_.all[part];
    if (position.above == kNone || !position.final || !counterparts_[part].empty()) return kNone;
    const std::uint32_t there = of_line_[whole(part)];
    if (there == kNone || there == kSeveral) return kNone;
    // What it allocates itself is another site.
    const std::span<const std::uint32_t> calls = other_.all[there].next;
    return std::any_of(
               position.next.begin(), position.next.end(),
               [&](std::uint32_t f) { return f != kAllocation && std::binary_search(calls.begin(), calls.end(), f); })
               ? there
               : kNone;
  }

 private:
  static constexpr std::uint32_t kSeveral = kNone - 1;
  std::uint32_t whole(std::uint32_t p) const {
    while (own_.all[p].above != kNone) p = own_.all[p].above;
    return p;
  }

  const Positions& own_;
  const Positions& other_;
  const Counterparts& counterparts_;
  std::vector<std::uint32_t> of_line_;  ///< per position that is no part
};

}  // namespace

LineMap map_lines(const Positions& before, const Positions& after, std::size_t functions, const Code& current) {
  Lines lines(before, after, functions, current);
  lines.find_shifts();
  const std::size_t count_a = before.all.size();
  DisjointSets classes(count_a + after.all.size());
  std::vector<std::uint8_t> aligned(count_a + after.all.size(), 0);
  const AlignedLines pairs = lines.align_all();
  for (const auto& [a, b] : pairs) {
    const auto other = static_cast<std::uint32_t>(count_a + b);
    classes.join(a, other);
    aligned[a] = aligned[other] = 1;
  }
  const Counterparts of_before = counterparts_of(pairs, count_a, &AlignedPair::first, &AlignedPair::second);
  const Counterparts of_after = counterparts_of(pairs, after.all.size(), &AlignedPair::second, &AlignedPair::first);
  const Parts parts_before(before, after, of_before), parts_after(after, before, of_after);
  for (std::uint32_t p = 0; p < count_a; ++p) {
    const std::uint32_t there = parts_before.of(p);
    if (there != kNone) classes.join(p, static_cast<std::uint32_t>(count_a + there));
  }
  for (std::uint32_t p = 0; p < after.all.size(); ++p) {
    const std::uint32_t there = parts_after.of(p);
    if (there != kNone) classes.join(static_cast<std::uint32_t>(count_a + p), there);
  }
  LineMap map;
  map.ambiguous.assign(count_a + after.all.size(), 0);
  std::vector<std::uint32_t> lines_a(aligned.size(), 0), lines_b(aligned.size(), 0);
  map.paired.assign(count_a + after.all.size(), 0);
  for (std::uint32_t p = 0; p < count_a; ++p) map.before.push_back(classes.find(p));
  for (std::uint32_t p = 0; p < after.all.size(); ++p)
    map.after.push_back(classes.find(static_cast<std::uint32_t>(count_a + p)));
  for (std::uint32_t p = 0; p < aligned.size(); ++p) {
    if (aligned[p] == 0) continue;
    const std::uint32_t of_line = classes.find(p);
    std::uint32_t& own = p < count_a ? lines_a[of_line] : lines_b[of_line];
    if (++own > 1) map.ambiguous[of_line] = 1;
    map.paired[of_line] = 1;
  }
  return map;
}

}  // namespace snapdiff::diff::rebuild
