#include "analyzer/diff/rebuild/alignment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "analyzer/diff/rebuild/most_of_others.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kAmbiguous = 0.3;      // an answer that is this near to the best is as good
constexpr double kSameSizes = 0.5;      // of the sizes of the site that has fewer
constexpr double kMostGrownSite = 0.1;  // of the size: a site whose objects grew by more has other objects
constexpr double kOneGrown = 0.4;       // as like as sites that have this share of their sizes in common
constexpr double kAllGrown = 0.9;       // the same, where several sizes grew by as much
constexpr double kShifted = 1;          // a line that moved as the functions above and below it did
constexpr double kShiftChanges = 0.5;   // a line that moved as one of them did
constexpr double kSameUse = 0.25;       // of the logarithm of the number of objects, in the mean of the runs
constexpr double kOtherUse = 0.35;      // by which those of any other line are further off: of few runs, of more less
constexpr double kFarUse = 1.5;         // of one run: more says no more, it may be a leak
constexpr std::size_t kFewRuns = 3;     // fewer may be the same by chance
constexpr std::size_t kReach = 4;       // lines that may be new or gone between two that are not
constexpr std::size_t kMostCells = 4'000'000;
constexpr double kNever = -1e9;

/// How many of these ascending values are in both, those of `a` with `more` added.
template <class T>
std::size_t common(std::span<const T> a, std::span<const T> b, T more = 0) {
  std::size_t n = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const T in_a = a[i] + more, in_b = b[j];  // without a branch, which nothing could foresee
    n += in_a == in_b ? 1 : 0;
    i += in_a <= in_b ? 1 : 0, j += in_b <= in_a ? 1 : 0;
  }
  return n;
}

template <class T>
double overlap(std::span<const T> a, std::span<const T> b, T more = 0) {
  const std::size_t less = std::min(a.size(), b.size());
  return less == 0 ? 0 : static_cast<double>(common(a, b, more)) / static_cast<double>(less);
}

/// How far the numbers of objects are off that the runs of functions through two places hold, of each the logarithm.
struct OffUses {
  double mean = kFarUse;     ///< kFarUse where few runs are known
  double without = kFarUse;  ///< the mean without the runs that are furthest off: they may leak, or have changed places
  double runs = 0;
};

/// Of two numbers, of their logarithms; kFarUse at most.
double distance(double a, double b) {
  static const double kFar = std::exp(kFarUse);
  const double times = a > b ? a / b : b / a;
  return times >= kFar ? kFarUse : std::log(times);
}

OffUses off_uses(std::span<const Use> a, std::span<const Use> b) {
  // Of many, only those up to the last one that both could list.
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const auto* uses : {&a, &b}) {
    if (uses->size() == Positions::kMostUses) last = std::min(last, uses->back().run);
  }
  std::array<double, 2 * Positions::kMostUses> off{};
  std::size_t runs = 0, near = 0;  // most runs are of one place alone, and far off
  for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end(); ++runs) {
    const std::uint64_t run = i == a.end() ? j->run : j == b.end() ? i->run : std::min(i->run, j->run);
    if (run > last) break;
    const double in_a = i != a.end() && i->run == run ? (i++)->objects : 0;
    const double in_b = j != b.end() && j->run == run ? (j++)->objects : 0;
    const double far = distance(in_a + 1, in_b + 1);
    if (far < kFarUse) off[near++] = far;
  }
  if (runs < kFewRuns) return {};
  if (near == 0) return {kFarUse, kFarUse, static_cast<double>(runs)};
  std::sort(off.begin(), off.begin() + static_cast<std::ptrdiff_t>(near));
  std::fill(off.begin() + static_cast<std::ptrdiff_t>(near), off.begin() + static_cast<std::ptrdiff_t>(runs), kFarUse);
  const auto mean = [&off](std::size_t count) {
    return std::accumulate(off.begin(), off.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
           static_cast<double>(count);
  };
  const std::size_t kept = runs == kFewRuns ? runs : runs - (runs + kFewRuns - 1) / 4;
  return {mean(runs), mean(kept), static_cast<double>(runs)};
}

/// How alike the sizes of objects of two sites are, 0 to 1: equal, or all grown by as much (a type has a new member).
double alike_sizes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  const double equal = overlap(a, b);
  if (equal > 0 || a.empty() || b.empty()) return equal;
  const std::int64_t grown = b.front() - a.front();
  if (static_cast<double>(std::abs(grown)) > kMostGrownSite * static_cast<double>(std::min(a.front(), b.front())))
    return 0;
  return (a.size() == 1 || b.size() == 1 ? kOneGrown : kAllGrown) * overlap(a, b, grown);
}

bool allocates(const Position& p) { return !p.next.empty() && p.next.back() == kAllocation; }

/// One function: its positions on both sides, and how alike each two are.
class Alignment {
 public:
  Alignment(const Positions& a, std::span<const std::uint32_t> in_a, const Positions& b,
            std::span<const std::uint32_t> in_b, const Shift& shift, AroundInCommon& around)
      : a_(a), b_(b), in_a_(in_a), in_b_(in_b), n_(in_a.size()), m_(in_b.size()), like_(n_ * m_) {
    for (const std::uint32_t p : in_a) line_a_.push_back(a.own_line(p));
    for (const std::uint32_t p : in_b) line_b_.push_back(b.own_line(p));
    for (std::size_t i = 0; i < n_; ++i) {
      around.choose(a.all[in_a[i]]);
      for (std::size_t j = 0; j < m_; ++j) like_[i * m_ + j] = likeness(i, j, shift, around);
    }
    tell_swapped();
    tell_by_uses();
    prefer_equal_callees();
  }

  void run(std::vector<AlignedPair>& aligned) {
    forward();
    backward();
    const double best = n_ == 0 ? 0 : *std::max_element(through_.begin(), through_.end());
    if (best <= 0) return;
    std::vector<std::uint8_t> used_a(n_, 0), used_b(m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (through_[i * m_ + j] < best - kAmbiguous) continue;
        used_a[i] = used_b[j] = 1;
        aligned.emplace_back(in_a_[i], in_b_[j]);
      }
    }
    cross(used_a, used_b, aligned);
  }

 private:
  /// Sites that alone have most of their sizes in common are each other's; with those of other sizes they have nothing
  /// to do, whatever their lines say: they changed places, or a new site is before an old one.
  void tell_swapped() {
    const auto alike = [&](std::size_t i, std::size_t j) {
      return alike_sizes(a_.all[in_a_[i]].sizes, b_.all[in_b_[j]].sizes);
    };
    take_apart([&](std::size_t i, std::size_t j) { return alike(i, j) >= kSameSizes; },
               [&](std::size_t i, std::size_t j) {
                 return !a_.all[in_a_[i]].sizes.empty() && !b_.all[in_b_[j]].sizes.empty() && alike(i, j) == 0;
               });
  }

  /// Two that do not fit are not each other's where one of them has exactly one that fits, and that one no other.
  template <class Fits, class Unlike>
  void take_apart(Fits fits, Unlike unlike) {
    std::vector<std::size_t> partner_a(n_, m_), partner_b(m_, n_), count_a(n_, 0), count_b(m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (like_[i * m_ + j] < kNever / 2 || !fits(i, j)) continue;
        partner_a[i] = j;
        partner_b[j] = i;
        ++count_a[i];
        ++count_b[j];
      }
    }
    const auto has_other = [&](std::size_t i, std::size_t j) {
      return count_a[i] == 1 && partner_a[i] != j && count_b[partner_a[i]] == 1;
    };
    const auto is_others = [&](std::size_t i, std::size_t j) {
      return count_b[j] == 1 && partner_b[j] != i && count_a[partner_b[j]] == 1;
    };
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (unlike(i, j) && (has_other(i, j) || is_others(i, j))) like_[i * m_ + j] = kNever;
      }
    }
  }

  /// Places whose stacks run through the same functions for about as many objects each, while no other's do.
  void tell_by_uses() {
    if (n_ < 2 && m_ < 2) return;
    std::vector<OffUses> off(n_ * m_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (like_[i * m_ + j] > kNever / 2) off[i * m_ + j] = off_uses(a_.all[in_a_[i]].uses, b_.all[in_b_[j]].uses);
      }
    }
    const MostOfOthers nearest(n_, m_, -kFarUse, [&](std::size_t cell) { return -off[cell].mean; });
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        const OffUses& own = off[i * m_ + j];
        if (own.without > kSameUse) continue;
        if (-nearest.beside(i, j) >= own.mean + kOtherUse * std::sqrt(kFewRuns / own.runs)) keep_pair(i, j);
      }
    }
  }

  /// They are each other's.
  void keep_pair(std::size_t i, std::size_t j) {
    for (std::size_t k = 0; k < m_; ++k) like_[i * m_ + k] = k == j ? like_[i * m_ + k] : kNever;
    for (std::size_t k = 0; k < n_; ++k) like_[k * m_ + j] = k == i ? like_[k * m_ + j] : kNever;
  }

  /// A line whose callee has a line on the other side is no line that calls something else.
  void prefer_equal_callees() {
    std::vector<std::uint8_t> direct_a(n_, 0), direct_b(m_, 0), direct(n_ * m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (like_[i * m_ + j] < kNever / 2 || common(a_.all[in_a_[i]].next, b_.all[in_b_[j]].next) == 0) continue;
        direct[i * m_ + j] = direct_a[i] = direct_b[j] = 1;
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (direct[i * m_ + j] == 0 && (direct_a[i] != 0 || direct_b[j] != 0)) like_[i * m_ + j] = kNever;
      }
    }
  }

  double likeness(std::size_t i, std::size_t j, const Shift& shift, const AroundInCommon& around) const {
    const Position& x = a_.all[in_a_[i]];
    const Position& y = b_.all[in_b_[j]];
    const double next = around.next.share(y.next);
    const double deep = around.deep.share(y.deep);
    if (next == 0 && deep == 0) return kNever;
    double s = next > 0 ? 1 + 0.6 * next + 0.3 * deep : 0.4 + 0.4 * deep;
    if (allocates(x) && allocates(y)) {
      s += 0.2 * overlap(x.ways, y.ways);
      if (!x.sizes.empty() && !y.sizes.empty()) {
        const double sizes = alike_sizes(x.sizes, y.sizes);
        s += sizes > 0 ? 0.5 * sizes : x.sizes.size() == 1 && y.sizes.size() == 1 ? -0.4 : -0.1;
      }
    }
    if (next > 0) s += expected(i, j, shift);
    return s;
  }

  bool same_parts(std::size_t i, std::size_t j) const {
    const std::uint32_t x = in_a_[i], y = in_b_[j];
    if (a_.all[x].above == kNone || b_.all[y].above == kNone) return a_.all[x].above == b_.all[y].above;
    const std::vector<std::int32_t> path_a = a_.path(x), path_b = b_.path(y);
    return std::equal(path_a.begin() + 1, path_a.end(), path_b.begin() + 1, path_b.end());
  }

  /// How well the line lies where the shift says.
  double expected(std::size_t i, std::size_t j, const Shift& shift) const {
    const std::int32_t moved = line_b_[j] - line_a_[i];
    if (!shift.known) return moved == 0 && same_parts(i, j) ? shift.stays : 0;
    const double fits = shift.above == shift.below ? kShifted : kShiftChanges;
    return moved != shift.above && moved != shift.below ? 0 : same_parts(i, j) ? fits : 0.5 * fits;
  }
  double continuity(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
    return line_a_[k] - line_a_[i] == line_b_[l] - line_b_[j] ? 0.4 : 0;
  }

  void forward() {
    best_.assign(n_ * m_, kNever);
    prefix_.assign((n_ + 1) * (m_ + 1), 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        double& cell = best_[i * m_ + j];
        const double own = like_[i * m_ + j];
        if (own > kNever / 2) {
          cell = own + prefix_[i * (m_ + 1) + j];
          for (std::size_t k = i - std::min(i, kReach); k < i; ++k) {
            for (std::size_t l = j - std::min(j, kReach); l < j; ++l) {
              cell = std::max(cell, own + best_[k * m_ + l] + continuity(k, l, i, j));
            }
          }
        }
        prefix_[(i + 1) * (m_ + 1) + j + 1] =
            std::max({cell, prefix_[i * (m_ + 1) + j + 1], prefix_[(i + 1) * (m_ + 1) + j]});
      }
    }
  }

  void backward() {
    std::vector<double> rest(n_ * m_, kNever), suffix((n_ + 2) * (m_ + 2), 0);
    through_.assign(n_ * m_, kNever);
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t j = m_; j-- > 0;) {
        const double own = like_[i * m_ + j];
        double& cell = rest[i * m_ + j];
        if (own > kNever / 2) {
          cell = own + suffix[(i + 1) * (m_ + 2) + j + 1];
          for (std::size_t k = i + 1; k < std::min(n_, i + 1 + kReach); ++k) {
            for (std::size_t l = j + 1; l < std::min(m_, j + 1 + kReach); ++l) {
              cell = std::max(cell, own + rest[k * m_ + l] + continuity(i, j, k, l));
            }
          }
          through_[i * m_ + j] = best_[i * m_ + j] + cell - own;
        }
        suffix[i * (m_ + 2) + j] = std::max({cell, suffix[(i + 1) * (m_ + 2) + j], suffix[i * (m_ + 2) + j + 1]});
      }
    }
  }

  /// Lines that are out of order: what is left on both sides and is alike as nothing else there is.
  void cross(const std::vector<std::uint8_t>& used_a, const std::vector<std::uint8_t>& used_b,
             std::vector<AlignedPair>& aligned) const {
    const auto clear_best = [&](std::size_t fixed, bool row) {
      double first = 0, second = 0;
      std::size_t at = row ? m_ : n_;
      for (std::size_t k = 0; k < (row ? m_ : n_); ++k) {
        if ((row ? used_b[k] : used_a[k]) != 0) continue;
        const double s = row ? like_[fixed * m_ + k] : like_[k * m_ + fixed];
        if (s > first) {
          second = first;
          first = s;
          at = k;
        } else {
          second = std::max(second, s);
        }
      }
      return first > 1.2 && first - second >= kAmbiguous ? at : (row ? m_ : n_);
    };
    for (std::size_t i = 0; i < n_; ++i) {
      if (used_a[i] != 0) continue;
      const std::size_t j = clear_best(i, true);
      if (j < m_ && clear_best(j, false) == i) aligned.emplace_back(in_a_[i], in_b_[j]);
    }
  }

  const Positions& a_;
  const Positions& b_;
  std::span<const std::uint32_t> in_a_, in_b_;
  std::size_t n_, m_;
  std::vector<double> like_, best_, prefix_, through_;
  std::vector<std::int32_t> line_a_, line_b_;
};

}  // namespace

void align(const Positions& before, std::span<const std::uint32_t> in_before, const Positions& after,
           std::span<const std::uint32_t> in_after, const Shift& shift, AroundInCommon& around,
           std::vector<AlignedPair>& aligned) {
  if (in_before.size() * in_after.size() > kMostCells) return;
  if (in_before.size() == 1 && in_after.size() == 1) {
    aligned.emplace_back(in_before.front(), in_after.front());
    return;
  }
  Alignment(before, in_before, after, in_after, shift, around).run(aligned);
}

}  // namespace snapdiff::diff::rebuild
