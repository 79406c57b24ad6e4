#include "analyzer/diff/rebuild/lines.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/rebuild/disjoint_sets.hpp"
#include "analyzer/diff/rebuild/score.hpp"

namespace snapdiff::diff::rebuild {
namespace {

using Weight = float;  // nats, of all pairs of lines of a function: memory counts
using Weights = std::vector<Weight>;
constexpr Weight kAboutAsGood = 1.2F;                           // an answer that is this near to the best
constexpr auto kOutOfOrder = static_cast<Weight>(kMovedAlike);  // a line that changed its order
constexpr std::size_t kMostCells = 4'000'000;
constexpr auto kBeside = static_cast<Weight>(kMovedAlike / 2);  // the pair before gives the other half
constexpr Weight kNever = -1e9F;

using AlignedPair = std::pair<std::uint32_t, std::uint32_t>;  ///< a position before and one after that are the same

/// How much of the smaller set the other one has as well, 0 to 1. Both ascend.
double overlap(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  std::size_t both = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint32_t in_a = a[i], in_b = b[j];  // without a branch, which nothing could foresee
    both += in_a == in_b ? 1 : 0;
    i += in_a <= in_b ? 1 : 0, j += in_b <= in_a ? 1 : 0;
  }
  const std::size_t less = std::min(a.size(), b.size());
  return less == 0 ? 0 : static_cast<double>(both) / static_cast<double>(less);
}

/// One function: its positions on both sides, and how much says of each two that they are the same.
class Alignment {
 public:
  using Lines = std::vector<std::uint32_t>;

  Alignment(const Positions& a, const Lines& in_a, const Positions& b, const Lines& in_b)
      : a_(a), b_(b), in_a_(in_a), in_b_(in_b), n_(in_a.size()), m_(in_b.size()), calls_(n_ * m_), like_(n_ * m_) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        const Position &x = a.all[in_a[i]], &y = b.all[in_b[j]];
        const Weight calls = calls_[i * m_ + j] = static_cast<Weight>(weight_of_calls(x, y));
        if (calls == kNever) {
          like_[i * m_ + j] = kNever;
          continue;
        }
        const double objects = weight_of_uses(x.uses, y.uses) + weight_of_sizes(x.sizes, y.sizes);
        like_[i * m_ + j] = calls + static_cast<Weight>(objects);
      }
    }
  }

  /// Lines that are left over on both sides may have changed their order.
  void run(std::vector<AlignedPair>& aligned) {
    while (align(aligned)) {
    }
  }

 private:
  /// The weight of the numbers of objects, by runs.
  static double weight_of_uses(std::span<const Use> x, std::span<const Use> y) {
    double sum = 0;
    for (auto i = x.begin(), j = y.begin(); i != x.end() || j != y.end();) {
      const std::uint64_t run = i == x.end() ? j->run : j == y.end() ? i->run : std::min(i->run, j->run);
      const double in_x = i != x.end() && i->run == run ? (i++)->objects : 0;
      const double in_y = j != y.end() && j->run == run ? (j++)->objects : 0;
      sum += weight_of_number(in_x, in_y);
    }
    return std::clamp(sum, -kEnough, kEnough);
  }

  /// The weight of the functions that are called: half of it for one in common, half of it for what these call.
  static double weight_of_calls(const Position& x, const Position& y) {
    const double next = overlap(x.next, y.next), deep = overlap(x.deep, y.deep);
    if (next == 0 && deep == 0) return kNever;
    return kSameCall / 2 * (deep + (next == 0 ? 0 : 1));
  }

  /// The weight of two pairs, by their indices in like_, if both moved by the same number of lines.
  Weight beside(std::size_t k, std::size_t l) const {
    const auto between = [](const Positions& positions, std::uint32_t x, std::uint32_t y) {
      return positions.all[y].line - positions.all[x].line;
    };
    return between(a_, in_a_[k / m_], in_a_[l / m_]) == between(b_, in_b_[k % m_], in_b_[l % m_]) ? kBeside : 0;
  }

  /// Weights of best alignments from the first lines on, or `back` from the last ones on.
  struct Sums {
    Weights ending;  ///< with each pair, by its place in like_
    Weights of;      ///< so many lines of each side: i * (m_ + 1) + j
  };
  Sums sums(bool back) const {
    Sums out{Weights(n_ * m_, kNever), Weights((n_ + 1) * (m_ + 1), 0)};
    const auto at = [&](std::size_t i, std::size_t j) { return back ? n_ * m_ - 1 - i * m_ - j : i * m_ + j; };
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        const Weight* const before = &out.of[i * (m_ + 1) + j];
        Weight& own = out.ending[at(i, j)];
        own = like_[at(i, j)] + *before;
        Weight most = std::max(before[1], before[m_ + 1]);
        if (i > 0 && j > 0) {
          const std::size_t last = at(i - 1, j - 1);
          own = std::max(own, like_[at(i, j)] + out.ending[last] + beside(last, at(i, j)));
          most = std::max(most, out.of[(i - 1) * (m_ + 1) + j - 1] + swapped(at(i - 1, j), at(i, j - 1)));
        }
        out.of[(i + 1) * (m_ + 1) + j + 1] = std::max(own, most);
      }
    }
    return out;
  }
  /// The weight of two neighbouring lines that changed places: two pairs, by their places in like_. Not of two that
  /// call the same: by objects alone they are one row rather.
  Weight swapped(std::size_t k, std::size_t l) const {
    const Weight in_order = calls_[k / m_ * m_ + l % m_] + calls_[l / m_ * m_ + k % m_];
    return calls_[k] + calls_[l] > in_order + kAboutAsGood ? like_[k] + like_[l] - kBeside : kNever;
  }

  /// Adds the best alignment, and leaves what it does not hold to the next one. Whether that may find any.
  bool align(std::vector<AlignedPair>& aligned) {
    const Sums front = sums(false), back = sums(true);
    Weights through(like_.size());
    for (std::size_t k = 0; k < through.size(); ++k) through[k] = front.ending[k] + back.ending[k] - like_[k];
    for (std::size_t i = 0; i + 1 < n_; ++i) {
      for (std::size_t j = 0; j + 1 < m_; ++j) {
        const std::size_t k = i * m_ + j + 1, l = k + m_ - 1;
        const Weight swap = front.of[i * (m_ + 1) + j] + swapped(k, l) + back.of[(n_ - 2 - i) * (m_ + 1) + m_ - 2 - j];
        through[k] = std::max(through[k], swap);
        through[l] = std::max(through[l], swap);
      }
    }
    const Weight most = through.empty() ? 0 : *std::max_element(through.begin(), through.end());
    if (most <= 0) return false;
    std::vector<std::uint8_t> used_a(n_, 0), used_b(m_, 0);
    for (std::size_t k = 0; k < through.size(); ++k) {
      if (through[k] < most - kAboutAsGood) continue;
      aligned.emplace_back(in_a_[k / m_], in_b_[k % m_]);
      used_a[k / m_] = used_b[k % m_] = 1;
    }
    for (std::size_t k = 0; k < like_.size(); ++k)
      like_[k] = used_a[k / m_] != 0 || used_b[k % m_] != 0 ? kNever : like_[k] - kOutOfOrder;
    const auto any_left = [](const std::vector<std::uint8_t>& used) {
      return std::find(used.begin(), used.end(), 0) != used.end();
    };
    return any_left(used_a) && any_left(used_b);
  }

  const Positions& a_;
  const Positions& b_;
  const Lines &in_a_, &in_b_;
  std::size_t n_, m_;
  Weights calls_, like_;  ///< per pair the weight of what they call, and of all
};

/// The positions of each function that stacks go through, in order of their lines; last those of other functions in its
/// place, whose numbers say nothing beside its own.
std::vector<Alignment::Lines> by_function(const Positions& positions, std::size_t functions) {
  std::vector<Alignment::Lines> out(functions);
  for (std::uint32_t p = 0; p < positions.all.size(); ++p) {
    if (!positions.all[p].next.empty()) out[positions.all[p].function].push_back(p);
  }
  for (Alignment::Lines& lines : out) {
    std::sort(lines.begin(), lines.end(), [&](std::uint32_t x, std::uint32_t y) {
      const Position &a = positions.all[x], &b = positions.all[y];
      const std::vector<Hash128>& frames = positions.code().dictionary().frames.hash;
      return std::tie(a.stands_in, a.line, a.below, frames[index_of(a.frame)]) <
             std::tie(b.stands_in, b.line, b.below, frames[index_of(b.frame)]);
    });
  }
  return out;
}

std::vector<AlignedPair> align_all(const Positions& before, const Positions& after, std::size_t functions) {
  const std::vector<Alignment::Lines> in_a = by_function(before, functions), in_b = by_function(after, functions);
  constexpr std::size_t kShares = 16;
  std::array<std::vector<AlignedPair>, kShares> found;
  for_each_parallel(kShares, before.all.size() + after.all.size(), [&](std::size_t share) {
    for (std::size_t f = functions * share / kShares; f < functions * (share + 1) / kShares; ++f) {
      if (in_a[f].size() == 1 && in_b[f].size() == 1) {
        found[share].emplace_back(in_a[f].front(), in_b[f].front());
      } else if (in_a[f].size() * in_b[f].size() <= kMostCells) {
        Alignment(before, in_a[f], after, in_b[f]).run(found[share]);
      }
    }
  });
  std::vector<AlignedPair> out;
  for (const std::vector<AlignedPair>& of_share : found) out.insert(out.end(), of_share.begin(), of_share.end());
  return out;
}

}  // namespace

LineMap map_lines(const Positions& before, const Positions& after, std::size_t functions) {
  const std::size_t count = before.all.size();
  DisjointSets classes(count + after.all.size());
  std::vector<std::uint8_t> aligned(count + after.all.size(), 0);
  for (const auto& [a, b] : align_all(before, after, functions)) {
    classes.join(a, static_cast<std::uint32_t>(count + b));
    aligned[a] = aligned[count + b] = 1;
  }
  LineMap map;
  map.paired.assign(aligned.size(), 0);
  map.ambiguous.assign(aligned.size(), 0);
  std::array<std::vector<std::uint8_t>, 2> seen{map.paired, map.paired};  // per class, of a side
  for (std::uint32_t p = 0; p < aligned.size(); ++p) {
    const std::uint32_t of_line = classes.find(p);
    (p < count ? map.before : map.after).push_back(of_line);
    if (aligned[p] == 0) continue;
    std::uint8_t& own = seen[p < count ? 0 : 1][of_line];
    if (own != 0) map.ambiguous[of_line] = 1;
    own = map.paired[of_line] = 1;
  }
  return map;
}

}  // namespace snapdiff::diff::rebuild
