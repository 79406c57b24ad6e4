#include "analyzer/diff/rebuild/sites.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "analyzer/diff/rebuild/score.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kAboutAsGood = 1.2;  // nats: an answer that is this near to the best
constexpr double kDecisive = 6;       // nats: by which objects beat those of any other line, whatever the order
constexpr std::size_t kReach = 4;     // lines that may be new or gone between two that are not
constexpr std::size_t kMostCells = 4'000'000;
constexpr double kNever = -1e9;

/// Of the smaller set, 0 to 1, how much of it the other one has as well. Both ascend.
template <class T>
double overlap(std::span<const T> a, std::span<const T> b, T more = 0) {
  std::size_t both = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const T in_a = a[i] + more, in_b = b[j];  // without a branch, which nothing could foresee
    both += in_a == in_b ? 1 : 0;
    i += in_a <= in_b ? 1 : 0, j += in_b <= in_a ? 1 : 0;
  }
  const std::size_t less = std::min(a.size(), b.size());
  return less == 0 ? 0 : static_cast<double>(both) / static_cast<double>(less);
}

/// The best and the second of a row or a column of a table.
struct Two {
  double best = kNever, second = kNever;
  std::size_t at = std::numeric_limits<std::size_t>::max();

  void add(double value, std::size_t index) {
    second = std::max(second, std::min(value, best));
    if (value <= best) return;
    best = value;
    at = index;
  }
  double but(std::size_t index) const { return index == at ? second : best; }
};

/// Runs of functions through the lines of one function that both builds have: one that a frame came into or left says
/// nothing of lines.
std::vector<std::uint64_t> runs_of_both(const Positions& a, std::span<const std::uint32_t> in_a, const Positions& b,
                                        std::span<const std::uint32_t> in_b) {
  const auto runs_of = [](const Positions& positions, std::span<const std::uint32_t> in) {
    std::vector<std::uint64_t> out;
    for (const std::uint32_t p : in) {
      for (const Use& use : positions.all[p].uses) out.push_back(use.run);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  };
  const std::vector<std::uint64_t> of_a = runs_of(a, in_a), of_b = runs_of(b, in_b);
  std::vector<std::uint64_t> out;
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(out));
  return out;
}

/// The uses of the positions of one function, as far as they belong to `runs`, which ascend.
class Uses {
 public:
  Uses(const Positions& positions, std::span<const std::uint32_t> in, const std::vector<std::uint64_t>& runs) {
    for (const std::uint32_t p : in) {
      for (const Use& use : positions.all[p].uses) {
        if (std::binary_search(runs.begin(), runs.end(), use.run)) uses_.push_back(use);
      }
      end_.push_back(uses_.size());
    }
  }
  std::span<const Use> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : end_[i - 1];
    return std::span(uses_).subspan(begin, end_[i] - begin);
  }

 private:
  std::vector<Use> uses_;
  std::vector<std::size_t> end_;
};

/// One function: its positions on both sides, and how much says of each two that they are the same.
class Alignment {
 public:
  Alignment(const Positions& a, std::span<const std::uint32_t> in_a, const Positions& b,
            std::span<const std::uint32_t> in_b, const Shift& shift)
      : a_(a), b_(b), in_a_(in_a), in_b_(in_b), n_(in_a.size()), m_(in_b.size()), like_(n_ * m_) {
    for (const std::uint32_t p : in_a) line_a_.push_back(a.own_line(p));
    for (const std::uint32_t p : in_b) line_b_.push_back(b.own_line(p));
    const std::vector<std::uint64_t> runs = runs_of_both(a, in_a, b, in_b);
    const Uses uses_a(a, in_a, runs), uses_b(b, in_b, runs);
    std::vector<double> objects(n_ * m_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        objects[i * m_ + j] = weight_of_uses(uses_a[i], uses_b[j]) + weight_of_sites(a.all[in_a[i]], b.all[in_b[j]]);
        like_[i * m_ + j] = objects[i * m_ + j] + around(i, j, shift);
      }
    }
    keep_decisive(objects);
  }

  void run(std::vector<AlignedPair>& aligned) {
    forward();
    backward();
    const double best = n_ == 0 ? 0 : *std::max_element(through_.begin(), through_.end());
    if (best <= 0) return;
    std::vector<std::uint8_t> used_a(n_, 0), used_b(m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (through_[i * m_ + j] < best - kAboutAsGood) continue;
        used_a[i] = used_b[j] = 1;
        aligned.emplace_back(in_a_[i], in_b_[j]);
      }
    }
    cross(used_a, used_b, aligned);
  }

 private:
  /// The weight of the numbers of objects. Both ascend.
  static double weight_of_uses(std::span<const Use> x, std::span<const Use> y) {
    double sum = 0;
    for (auto i = x.begin(), j = y.begin(); i != x.end() || j != y.end();) {
      const std::uint64_t run = i == x.end() ? j->run : j == y.end() ? i->run : std::min(i->run, j->run);
      const double in_x = i != x.end() && i->run == run ? (i++)->objects : 0;
      const double in_y = j != y.end() && j->run == run ? (j++)->objects : 0;
      sum += weight_of_number(in_x, in_y);
    }
    return std::clamp(sum, -kMostOfRuns, kMostOfRuns);
  }
  /// The weight of the sizes of objects.
  static double weight_of_sites(const Position& x, const Position& y) {
    return x.sizes.empty() || y.sizes.empty() ? 0 : weight_of_sizes(x.sizes, y.sizes);
  }

  /// The weight of the functions around and of the lines.
  double around(std::size_t i, std::size_t j, const Shift& shift) const {
    const Position& x = a_.all[in_a_[i]];
    const Position& y = b_.all[in_b_[j]];
    const double next = overlap(x.next, y.next), deep = overlap(x.deep, y.deep);
    if (next == 0 && deep == 0) return kNever;
    if (next == 0) return kSites.none + kSites.deep * deep;
    const bool allocate = x.next.back() == kAllocation && y.next.back() == kAllocation;
    return kSites.none + kSites.calls + kSites.next * next + kSites.deep * deep +
           (allocate ? kSites.way * overlap(x.ways, y.ways) : 0) + kSites.moved * expected(i, j, shift);
  }

  /// Whether the line lies where the shift says, 0 to 1.
  double expected(std::size_t i, std::size_t j, const Shift& shift) const {
    const std::int32_t moved = line_b_[j] - line_a_[i];
    if (!shift.known) return moved == 0 && same_parts(i, j) ? shift.stays : 0;
    if (moved != shift.above && moved != shift.below) return 0;
    return (shift.above == shift.below ? 1 : 0.5) * (same_parts(i, j) ? 1 : 0.5);
  }
  bool same_parts(std::size_t i, std::size_t j) const {
    if (a_.all[in_a_[i]].above == kNone && b_.all[in_b_[j]].above == kNone) return true;
    const std::vector<std::int32_t> x = a_.path(in_a_[i]), y = b_.path(in_b_[j]);
    return std::equal(x.begin() + 1, x.end(), y.begin() + 1, y.end());
  }

  /// Pairs two sites if no other site of either side has objects that are as much alike.
  void keep_decisive(const std::vector<double>& objects) {
    std::vector<Two> of_row(n_), of_column(m_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        const double value = like_[i * m_ + j] > kNever / 2 ? objects[i * m_ + j] : 0;
        of_row[i].add(value, j);
        of_column[j].add(value, i);
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t j = of_row[i].at;
      if (of_column[j].at != i || of_row[i].best < kDecisive / 2) continue;
      if (of_row[i].best - std::max(of_row[i].second, of_column[j].second) < kDecisive) continue;
      for (std::size_t k = 0; k < m_; ++k) like_[i * m_ + k] = k == j ? like_[i * m_ + k] : kNever;
      for (std::size_t k = 0; k < n_; ++k) like_[k * m_ + j] = k == i ? like_[k * m_ + j] : kNever;
    }
  }

  double continuity(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
    return line_a_[k] - line_a_[i] == line_b_[l] - line_b_[j] ? kSites.beside : 0;
  }

  /// The best alignment that ends with each pair.
  void forward() {
    best_.assign(n_ * m_, kNever);
    std::vector<double> prefix((n_ + 1) * (m_ + 1), 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        double& cell = best_[i * m_ + j];
        const double own = like_[i * m_ + j];
        if (own > kNever / 2) {
          cell = own + prefix[i * (m_ + 1) + j];
          for (std::size_t k = i - std::min(i, kReach); k < i; ++k) {
            for (std::size_t l = j - std::min(j, kReach); l < j; ++l)
              cell = std::max(cell, own + best_[k * m_ + l] + continuity(k, l, i, j));
          }
        }
        prefix[(i + 1) * (m_ + 1) + j + 1] =
            std::max({cell, prefix[i * (m_ + 1) + j + 1], prefix[(i + 1) * (m_ + 1) + j]});
      }
    }
  }

  /// The best one that begins with each pair, and through it.
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
            for (std::size_t l = j + 1; l < std::min(m_, j + 1 + kReach); ++l)
              cell = std::max(cell, own + rest[k * m_ + l] + continuity(i, j, k, l));
          }
          through_[i * m_ + j] = best_[i * m_ + j] + cell - own;
        }
        suffix[i * (m_ + 2) + j] = std::max({cell, suffix[(i + 1) * (m_ + 2) + j], suffix[i * (m_ + 2) + j + 1]});
      }
    }
  }

  /// Lines that are out of order: what is left on both sides and is clearly each other's.
  void cross(const std::vector<std::uint8_t>& used_a, const std::vector<std::uint8_t>& used_b,
             std::vector<AlignedPair>& aligned) const {
    std::vector<Two> of_row(n_), of_column(m_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (used_a[i] != 0 || used_b[j] != 0) continue;
        of_row[i].add(like_[i * m_ + j], j);
        of_column[j].add(like_[i * m_ + j], i);
      }
    }
    const auto clear = [](const Two& two) {
      return two.best >= kOutOfOrder && two.best - std::max(0.0, two.second) >= kAboutAsGood;
    };
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t j = of_row[i].at;
      if (clear(of_row[i]) && of_column[j].at == i && clear(of_column[j])) aligned.emplace_back(in_a_[i], in_b_[j]);
    }
  }

  const Positions& a_;
  const Positions& b_;
  std::span<const std::uint32_t> in_a_, in_b_;
  std::size_t n_, m_;
  std::vector<double> like_, best_, through_;
  std::vector<std::int32_t> line_a_, line_b_;
};

}  // namespace

void align_sites(const Positions& before, std::span<const std::uint32_t> in_before, const Positions& after,
                 std::span<const std::uint32_t> in_after, const Shift& shift, std::vector<AlignedPair>& aligned) {
  if (in_before.size() * in_after.size() > kMostCells) return;
  if (in_before.size() == 1 && in_after.size() == 1) {
    aligned.emplace_back(in_before.front(), in_after.front());
    return;
  }
  Alignment(before, in_before, after, in_after, shift).run(aligned);
}

}  // namespace snapdiff::diff::rebuild
