#include "analyzer/diff/rebuild/alignment.hpp"

#include <algorithm>
#include <cstdlib>

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kAmbiguous = 0.3;       // an answer that is this near to the best is as good
constexpr double kSameSizes = 0.5;       // of the sizes of the site that has fewer
constexpr double kMostGrownSite = 0.1;   // of the size: a site whose objects grew by more has other objects
constexpr double kOneGrown = 0.4;        // as like as sites that have this share of their sizes in common
constexpr double kAllGrown = 0.9;        // the same, where several sizes grew by as much
constexpr double kShifted = 1;           // a line that moved as the functions above and below it did
constexpr double kShiftChanges = 0.5;    // a line that moved as one of them did
constexpr double kSameContexts = 0.5;    // of the stacks through two places
constexpr double kOtherContexts = 0.6;   // of what the place has in common with its counterpart
constexpr std::size_t kFewContexts = 3;  // on both sides, in the mean: fewer may be the same by chance
constexpr std::size_t kReach = 4;        // lines that may be new or gone between two that are not
constexpr std::size_t kMostCells = 4'000'000;
constexpr double kNever = -1e9;

template <class Set>
std::size_t common(const Set& a, const Set& b) {
  std::size_t n = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++n, ++i, ++j;
    } else {
      a[i] < b[j] ? ++i : ++j;
    }
  }
  return n;
}

template <class Set>
double overlap(const Set& a, const Set& b) {
  const std::size_t less = std::min(a.size(), b.size());
  return less == 0 ? 0 : static_cast<double>(common(a, b)) / static_cast<double>(less);
}

/// Of the least values of two sets, as many as fit, how many are in both: of all that one of them has.
double share_of_both(const FewSorted<std::uint64_t>& a, const FewSorted<std::uint64_t>& b) {
  if (a.size() + b.size() < 2 * kFewContexts) return 0;
  const std::size_t most = std::max(a.size(), b.size());
  std::size_t either = 0, both = 0;
  for (std::size_t i = 0, j = 0; (i < a.size() || j < b.size()) && either < most; ++either) {
    if (j == b.size() || (i < a.size() && a[i] < b[j])) {
      ++i;
    } else if (i == a.size() || b[j] < a[i]) {
      ++j;
    } else {
      ++i, ++j, ++both;
    }
  }
  return either == 0 ? 0 : static_cast<double>(both) / static_cast<double>(either);
}

/// How alike the sizes of objects of two sites are, 0 to 1: equal, or all grown by as much (a type has a new member).
double alike_sizes(const FewSorted<std::int64_t>& a, const FewSorted<std::int64_t>& b) {
  const double equal = overlap(a, b);
  if (equal > 0 || a.empty() || b.empty()) return equal;
  const std::int64_t grown = b.front() - a.front();
  if (static_cast<double>(std::abs(grown)) > kMostGrownSite * static_cast<double>(std::min(a.front(), b.front())))
    return 0;
  FewSorted<std::int64_t> moved;
  for (const std::int64_t size : a) moved.add(size + grown, a.size());
  return (a.size() == 1 || b.size() == 1 ? kOneGrown : kAllGrown) * overlap(moved, b);
}

/// How alike two positions are used, 0 to 3: by whom, in how many stacks, for how much.
double likely_same_use(const Position& x, const Position& y) {
  const std::size_t both = common(x.from, y.from);
  const std::size_t any = x.from.size() + y.from.size() - both;
  const double callers = any == 0 ? 1 : static_cast<double>(both) / static_cast<double>(any);
  const double stacks = static_cast<double>(std::min(x.stacks, y.stacks)) / std::max({x.stacks, y.stacks, 1U});
  const double bytes = std::min(x.bytes, y.bytes) / std::max({x.bytes, y.bytes, 1.0});
  return callers + stacks + 0.5 * bytes;
}

bool allocates(const Position& p) { return !p.next.empty() && p.next.back() == kAllocation; }

/// One function: its positions on both sides, and how alike each two are.
class Alignment {
 public:
  Alignment(const Positions& a, const std::vector<std::uint32_t>& in_a, const Positions& b,
            const std::vector<std::uint32_t>& in_b, const Shift& shift)
      : a_(a), b_(b), in_a_(in_a), in_b_(in_b), n_(in_a.size()), m_(in_b.size()), like_(n_ * m_) {
    for (const std::uint32_t p : in_a) line_a_.push_back(a.path(p));
    for (const std::uint32_t p : in_b) line_b_.push_back(b.path(p));
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) like_[i * m_ + j] = likeness(i, j, shift);
    }
    tell_swapped();
    tell_by_contexts();
    prefer_equal_callees();
  }

  void run(const Pair& pair) {
    forward();
    backward();
    const double best = n_ == 0 ? 0 : *std::max_element(through_.begin(), through_.end());
    if (best <= 0) return;
    std::vector<std::uint8_t> used_a(n_, 0), used_b(m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (through_[i * m_ + j] < best - kAmbiguous) continue;
        used_a[i] = used_b[j] = 1;
        pair(in_a_[i], in_b_[j]);
      }
    }
    cross(used_a, used_b, pair);
  }

 private:
  /// Sites that alone have most of their sizes in common are each other's; with those of other sizes they have nothing
  /// to do, whatever their lines say: they changed places, or a new site stands before an old one.
  void tell_swapped() {
    const auto alike = [&](std::size_t i, std::size_t j) {
      return alike_sizes(a_.all[in_a_[i]].sizes, b_.all[in_b_[j]].sizes);
    };
    std::vector<std::size_t> partner_a(n_, m_), partner_b(m_, n_), count_a(n_, 0), count_b(m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (alike(i, j) < kSameSizes) continue;
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
        const bool known = !a_.all[in_a_[i]].sizes.empty() && !b_.all[in_b_[j]].sizes.empty();
        if (known && alike(i, j) == 0 && (has_other(i, j) || is_others(i, j))) like_[i * m_ + j] = kNever;
      }
    }
  }

  /// Places whose stacks run through the same functions, for objects of the same size where they are calls, while no
  /// other one has as many of these: they are each other's. Of lines that changed places that is all there is.
  void tell_by_contexts() {
    std::vector<double> in_common(n_ * m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (like_[i * m_ + j] > kNever / 2)
          in_common[i * m_ + j] = share_of_both(a_.contexts(in_a_[i]), b_.contexts(in_b_[j]));
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        const double own = in_common[i * m_ + j];
        if (own < kSameContexts) continue;
        double others = 0;
        for (std::size_t k = 0; k < m_; ++k) others = k == j ? others : std::max(others, in_common[i * m_ + k]);
        for (std::size_t k = 0; k < n_; ++k) others = k == i ? others : std::max(others, in_common[k * m_ + j]);
        if (others > kOtherContexts * own) continue;
        for (std::size_t k = 0; k < m_; ++k) like_[i * m_ + k] = k == j ? like_[i * m_ + k] : kNever;
        for (std::size_t k = 0; k < n_; ++k) like_[k * m_ + j] = k == i ? like_[k * m_ + j] : kNever;
      }
    }
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

  double likeness(std::size_t i, std::size_t j, const Shift& shift) const {
    const Position& x = a_.all[in_a_[i]];
    const Position& y = b_.all[in_b_[j]];
    const double next = overlap(x.next, y.next);
    const double deep = overlap(x.deep, y.deep);
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
    return s + 0.3 * likely_same_use(x, y);
  }

  /// How well the line lies where the shift says.
  double expected(std::size_t i, std::size_t j, const Shift& shift) const {
    if (!shift.known) return line_a_[i] == line_b_[j] ? shift.stays : 0;
    const std::int32_t moved = line_b_[j].front() - line_a_[i].front();
    const bool parts = std::equal(line_a_[i].begin() + 1, line_a_[i].end(), line_b_[j].begin() + 1, line_b_[j].end());
    const double fits = shift.above == shift.below ? kShifted : kShiftChanges;
    return moved != shift.above && moved != shift.below ? 0 : parts ? fits : 0.5 * fits;
  }

  std::int32_t step(const std::vector<std::vector<std::int32_t>>& lines, std::size_t from, std::size_t to) const {
    return lines[to].front() - lines[from].front();
  }
  double continuity(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
    return step(line_a_, i, k) == step(line_b_, j, l) ? 0.4 : 0;
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
  void cross(const std::vector<std::uint8_t>& used_a, const std::vector<std::uint8_t>& used_b, const Pair& pair) const {
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
      if (j < m_ && clear_best(j, false) == i) pair(in_a_[i], in_b_[j]);
    }
  }

  const Positions& a_;
  const Positions& b_;
  const std::vector<std::uint32_t>& in_a_;
  const std::vector<std::uint32_t>& in_b_;
  std::size_t n_, m_;
  std::vector<double> like_, best_, prefix_, through_;
  std::vector<std::vector<std::int32_t>> line_a_, line_b_;
};

}  // namespace

void align(const Positions& before, const std::vector<std::uint32_t>& in_before, const Positions& after,
           const std::vector<std::uint32_t>& in_after, const Shift& shift, const Pair& pair) {
  if (in_before.size() * in_after.size() > kMostCells) return;
  if (in_before.size() == 1 && in_after.size() == 1) {
    pair(in_before.front(), in_after.front());
    return;
  }
  Alignment(before, in_before, after, in_after, shift).run(pair);
}

}  // namespace snapdiff::diff::rebuild
