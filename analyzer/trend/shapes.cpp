#include "analyzer/trend/shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace snapdiff::trend {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// No fit is believed beyond 0.3 % of the range: exact series need no special case.
constexpr double kNoiseShare = 9e-6;

/// A warm-up of half a window or more is near a line: without a handicap it takes from every leak what
/// it takes from warm-ups (README.md, "Slow warm-ups").
constexpr double kSlowHandicap = 1.5;

/// Of a warm-up whose content is replaced: it takes from leaks of a few samples a step as well (README.md, "Sampling").
constexpr double kReplacedHandicap = .7;

/// Four sums at once: one alone waits for its last addition at every step.
double fast_dot(const std::vector<double>& a, const std::vector<double>& b) {
  std::array<double, 4> sums{};
  const std::size_t whole = a.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (std::size_t i = whole; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The best of several regressors of one shape.
struct Best {
  double log_odds = kNone;
  double coefficient = 0;

  /// Whether it is better than those before.
  bool offer(double its_log_odds, double its_coefficient) {
    if (!(its_log_odds > log_odds)) return false;
    *this = {its_log_odds, its_coefficient};
    return true;
  }
};

class Fitter {
 public:
  Fitter(std::span<const double> values, const Tables& tables, double noise_variance, Fit& fit)
      : fit_(fit), n_(values.size()), tables_(tables), size_(static_cast<double>(n_)), ln_(std::log(size_)) {
    prepare(values, noise_variance);
  }

  void run(bool replaced) {
    add(Shape::constant, Group::level, 0);
    autoregressive(.5, Shape::autoregressive_5, Shape::line_autoregressive_5);
    autoregressive(.8, Shape::autoregressive_8, Shape::line_autoregressive_8);
    // Periodic shapes only speak up against a line, so they are tried where there is one.
    if (fit_.slope > 0 && fit_.slope * fit_.slope * tables_.t_spread >= .2 * rc_) {
      cycles();
      if (n_ >= 8) waves();
    }
    walks();
    steps();
    bends();
    tabled(tables_.exponentials, Shape::exponential, 0);
    tabled(tables_.slow_exponentials, Shape::slow_exponential, kSlowHandicap);
    tabled(tables_.logarithms, Shape::logarithm, 0);
    if (replaced) {
      replaced_warm_up(.5);
      replaced_warm_up(.8);
    }
    rising(Shape::line, evidence(fit_.line_rss, 2) - ln_ / 2 + std::log(3.0), fit_.slope);
  }

 private:
  void prepare(std::span<const double> values, double noise_variance) {
    fit_.tables = &tables_;
    fit_.shapes.clear();
    fit_.cuts.clear();
    fit_.cycle_period = fit_.knee = 0;
    fit_.mean = mean_of(values);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    fit_.range = *most - *least;
    fit_.noise_floor = std::max(noise_variance, kNoiseShare * fit_.range * fit_.range);
    fit_.y.resize(n_);
    fit_.sum.assign(n_ + 1, 0);
    fit_.weighted_sum.assign(n_ + 1, 0);
    double ty = 0;
    rc_ = 0;
    fit_.step_squares = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double y = values[i] - fit_.mean;
      fit_.y[i] = y;
      fit_.sum[i + 1] = fit_.sum[i] + y;
      fit_.weighted_sum[i + 1] = fit_.weighted_sum[i] + tables_.place[i] * y;
      rc_ += y * y;
      ty += t(i) * y;
      if (i > 0) fit_.step_squares += (values[i] - values[i - 1]) * (values[i] - values[i - 1]) / tables_.gap[i];
    }
    fit_.slope = ty / tables_.t_spread;
    fit_.line_rss = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double residual = fit_.y[i] - fit_.slope * t(i);
      fit_.line_rss += residual * residual;
    }
    fit_.mean_step = (values.back() - values.front()) / (size_ - 1);
  }

  double t(std::size_t i) const { return tables_.t[i]; }

  /// E(RSS, k): a Schwarz-type evidence with the residual degrees of freedom as exponent.
  double evidence(double rss, std::size_t k) const {
    if (k >= n_) return kNone;
    const double freedom = static_cast<double>(n_ - k);
    const double w = fit_.noise_floor;
    return -freedom / 2 * std::log(std::max(rss, freedom * w) / std::max(rc_, (size_ - 1) * w));
  }

  void add(Shape shape, Group group, double log_odds, double coefficient = 0) {
    if (log_odds > kNone) fit_.shapes.push_back({shape, group, log_odds, coefficient});
  }
  void rising(Shape shape, double log_odds, double coefficient) {
    add(shape, coefficient > 0 ? Group::climbing : Group::falling, log_odds, coefficient);
  }

  /// Residuals of AR(1) around a constant, and around a constant and a multiple of a regressor.
  struct Correlated {
    double level_rss = 0, rss = 0;
    double s11 = 0;          ///< of the constant alone
    double determinant = 0;  ///< of both
    double slope = 0;        ///< of the regressor
    double prior = 0;        ///< half the logarithm of the determinant of V^-1
  };

  /// Generalised least squares: quadratic forms of V^-1 are sums over y_i - r y_{i-1}, with r = rho to the power of the
  /// distance and the factor (1 - rho^2) / (1 - r^2), which is 1 - rho^2 on the first point.
  Correlated correlated(double rho, const std::vector<double>& x) const {
    const double first = 1 - rho * rho;
    double s11 = first, s1x = first * x[0], sxx = first * x[0] * x[0];
    double s1y = first * fit_.y[0], sxy = first * x[0] * fit_.y[0], syy = first * fit_.y[0] * fit_.y[0];
    double prior = std::log(first) / 2;
    double r = rho, weight = 1;
    for (std::size_t i = 1; i < n_; ++i) {
      if (!tables_.even) {
        r = std::pow(rho, tables_.gap[i]);
        weight = first / (1 - r * r);
        prior += std::log(weight) / 2;
      }
      const double one = 1 - r;
      const double dx = x[i] - r * x[i - 1];
      const double dy = fit_.y[i] - r * fit_.y[i - 1];
      s11 += weight * one * one;
      s1x += weight * one * dx;
      sxx += weight * dx * dx;
      s1y += weight * one * dy;
      sxy += weight * dx * dy;
      syy += weight * dy * dy;
    }
    const double determinant = s11 * sxx - s1x * s1x;
    const double slope = (s11 * sxy - s1x * s1y) / determinant;
    const double constant = (s1y - slope * s1x) / s11;
    return {syy - s1y * s1y / s11, syy - constant * s1y - slope * sxy, s11, determinant, slope, prior};
  }

  void autoregressive(double rho, Shape level, Shape line) {
    const Correlated fit = correlated(rho, tables_.t);
    add(level, Group::level, evidence(fit.level_rss, 1) + fit.prior - std::log(fit.s11 / size_) / 2);
    rising(line,
           evidence(fit.rss, 2) + fit.prior - std::log(fit.determinant / (size_ * tables_.t_spread)) / 2 - ln_ / 2 +
               std::log(.5),
           fit.slope);
  }

  /// A cache that fills while what it holds is replaced: a warm-up whose errors live as long as the samples do. Without
  /// it a line with such errors stands for one.
  void replaced_warm_up(double rho) {
    Best best;
    for (const std::vector<double>& unit : tables_.exponentials) {
      const Correlated fit = correlated(rho, unit);
      best.offer(evidence(fit.rss, 2) + fit.prior - std::log(fit.determinant / size_) / 2 - ln_, fit.slope);
    }
    if (best.coefficient <= 0) return;
    add(Shape::exponential_autoregressive, Group::warm_up, best.log_odds - kReplacedHandicap, best.coefficient);
  }

  void cycles() {
    double best = kNone;
    Best best_line;
    for (const Tables::Cycle& cycle : tables_.cycles) {
      std::array<double, kLongestCycle> phase_y{};
      for (std::size_t i = 0; i < n_; ++i) phase_y[cycle.phase[i]] += fit_.y[i];
      const std::size_t period = cycle.period();
      double rss = rc_, ty = fit_.slope * tables_.t_spread;
      for (std::size_t phase = 0; phase < period; ++phase) {
        rss -= phase_y[phase] * phase_y[phase] * cycle.inverse[phase];
        ty -= cycle.t_sum[phase] * phase_y[phase] * cycle.inverse[phase];
      }
      const auto p = static_cast<double>(period);
      best = std::max(best, evidence(rss, period) - p / 2 * ln_);
      if (n_ < 2 * period + 2) continue;
      const double vt = cycle.t_spread;
      const double slope = ty / vt;
      const double line =
          evidence(rss - slope * ty, period + 1) - (p + 1) / 2 * ln_ - std::log(vt / tables_.t_spread) / 2;
      if (best_line.offer(line, slope)) fit_.cycle_period = period;
    }
    add(Shape::cycle, Group::level, best);
    rising(Shape::line_cycle, best_line.log_odds, best_line.coefficient);
  }

  void waves() {
    double best = kNone;
    Best best_line;
    for (const Tables::Wave& wave : tables_.waves) {
      const double first = fast_dot(wave.first, fit_.y);
      const double second = fast_dot(wave.second, fit_.y);
      const double rss = rc_ - first * first - second * second;
      best = std::max(best, evidence(rss, 3) - 1.5 * ln_);
      const double slope = fast_dot(wave.line, fit_.y) / wave.line_squares;
      if (best_line.offer(evidence(rss - slope * slope * wave.line_squares, 4) - 2 * ln_, slope))
        fit_.wave = static_cast<std::size_t>(&wave - tables_.waves.data());
    }
    add(Shape::wave, Group::level, best);
    rising(Shape::line_wave, best_line.log_odds, best_line.coefficient);
  }

  void walks() {
    const double prior = (ln_ - tables_.log_gaps) / 2;
    const double walk = evidence(fit_.step_squares, 1) + prior;
    add(Shape::walk, Group::walk, walk);
    const double d = fit_.mean_step;
    rising(Shape::drifting_walk,
           evidence(fit_.step_squares - (size_ - 1) * d * d, 2) + prior + std::log(size_ / 12) / 2 + std::log(.7), d);
    std::size_t rises = 0;
    for (std::size_t i = 1; i < n_; ++i) {
      if (fit_.y[i] < fit_.y[i - 1]) return;
      rises += fit_.y[i] > fit_.y[i - 1] ? 1U : 0U;
    }
    rising(Shape::never_back, walk + static_cast<double>(rises) * std::log(2.0), d);
  }

  /// Squares that a level of its own explains of the points [from, to).
  double explained(std::size_t from, std::size_t to) const {
    const double sum = fit_.sum[to] - fit_.sum[from];
    return sum * sum * tables_.inverse[to - from];
  }

  /// The best cut inside (from, to), and what it explains beyond one level; 0 when there is no room.
  std::pair<std::size_t, double> best_cut(std::size_t from, std::size_t to) const {
    std::size_t cut = 0;
    double most = kNone;
    for (std::size_t c = from + 1; c < to; ++c) {
      const double gain = explained(from, c) + explained(c, to);
      if (gain > most) {
        most = gain;
        cut = c;
      }
    }
    return {cut, cut == 0 ? kNone : most - explained(from, to)};
  }

  double steps_rss(std::span<const std::size_t> cuts) const {
    double rss = rc_;
    std::size_t from = 0;
    for (const std::size_t cut : cuts) {
      rss -= explained(from, cut);
      from = cut;
    }
    return rss - explained(from, n_);
  }

  /// Every position for one step; then the best split of a level, and two rounds in which each cut
  /// moves to the best place between its neighbours.
  void steps() {
    constexpr std::array<Shape, 3> kKinds{Shape::one_step, Shape::two_steps, Shape::three_steps};
    constexpr std::array<std::size_t, 3> kFrom{2, 5, 8};
    std::array<std::size_t, 3> cuts{};
    double best = kNone;
    for (std::size_t count = 1; count <= 3 && n_ >= kFrom[count - 1]; ++count) {
      std::size_t added = 0;
      double most = kNone;
      for (std::size_t i = 0; i < count; ++i) {
        const auto [cut, gain] = best_cut(i == 0 ? 0 : cuts[i - 1], i + 1 == count ? n_ : cuts[i]);
        if (gain > most) {
          most = gain;
          added = cut;
        }
      }
      if (added == 0) return;
      cuts[count - 1] = added;
      std::sort(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(count));
      for (int round = 0; round < 2 && count > 1; ++round) {
        for (std::size_t i = 0; i < count; ++i) {
          cuts[i] = best_cut(i == 0 ? 0 : cuts[i - 1], i + 1 == count ? n_ : cuts[i + 1]).first;
        }
      }
      const std::span<const std::size_t> used(cuts.data(), count);
      const double log_odds = evidence(steps_rss(used), count + 1) - static_cast<double>(count) * ln_;
      add(kKinds[count - 1], Group::steps, log_odds);
      if (log_odds > best) {
        best = log_odds;
        fit_.cuts.assign(used.begin(), used.end());
      }
    }
  }

  /// ramp then flat: regressor min(t, c); flat then line: max(0, t - c) = t - min(t, c). Sums over
  /// both come from the prefix sums.
  void bends() {
    const double all_squares = tables_.place_squares[n_];
    const double all_sum = tables_.place_sum[n_];
    const double iy = fit_.weighted_sum[n_];
    Best ramp, late;
    for (std::size_t c = 1; c + 1 < n_; ++c) {
      const double bend = tables_.place[c];
      const auto after = static_cast<double>(n_ - 1 - c);  // points beyond c
      const double sum = tables_.place_sum[c + 1] + bend * after;
      const double squares = tables_.place_squares[c + 1] + bend * bend * after;
      // The values' sum is 0 but for rounding.
      const double ry = fit_.weighted_sum[c + 1] + bend * (fit_.sum[n_] - fit_.sum[c + 1]);
      if (n_ >= 4 && c <= std::min(n_ - 3, 3 * n_ / 4)) {
        const double spread = squares - sum * sum / size_;
        if (ramp.offer(evidence(rc_ - ry * ry / spread, 2) - ln_, ry / spread)) fit_.knee = c;
      }
      if (n_ >= 6 && c <= n_ - 5) {
        // Products of t with min(t, c): t^2 up to c, c t beyond.
        const double cross = tables_.place_squares[c + 1] + bend * (all_sum - tables_.place_sum[c + 1]);
        const double late_sum = all_sum - sum;
        const double late_squares = all_squares - 2 * cross + squares;
        const double spread = late_squares - late_sum * late_sum / size_;
        const double late_y = iy - ry;
        const double log_odds = evidence(rc_ - late_y * late_y / spread, 2) - ln_ + std::log(.7);
        if (late.offer(log_odds, late_y / spread)) fit_.bend = c;
      }
    }
    add(Shape::ramp_then_flat, Group::warm_up, ramp.log_odds, ramp.coefficient);
    rising(Shape::flat_then_line, late.log_odds, late.coefficient);
  }

  void tabled(const std::vector<std::vector<double>>& units, Shape shape, double handicap) {
    Best best;
    for (const std::vector<double>& unit : units) {
      const double share = fast_dot(unit, fit_.y);
      best.offer(evidence(rc_ - share * share, 2) - ln_, share);
    }
    add(shape, Group::warm_up, best.log_odds - handicap, best.coefficient);
  }

  Fit& fit_;
  std::size_t n_;
  const Tables& tables_;
  double size_;
  double ln_;
  double rc_ = 0;
};

}  // namespace

void fit_shapes(std::span<const double> values, const Tables& tables, double noise_variance, bool replaced, Fit& fit) {
  Fitter(values, tables, noise_variance, fit).run(replaced);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> means_of(std::span<const double> values, std::size_t stretches) {
  std::vector<double> means;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = i * values.size() / stretches, end = (i + 1) * values.size() / stretches;
    means.push_back(mean_of(values.subspan(begin, end - begin)));
  }
  return means;
}

double slope_of(std::span<const double> values, std::span<const double> places) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values), middle = mean_of(places);
  double sum = 0, spread = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double t = places[i] - middle;
    sum += t * (values[i] - mean);
    spread += t * t;
  }
  return sum / spread;
}

}  // namespace snapdiff::trend
