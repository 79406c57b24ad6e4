#include "trend/laws.hpp"

#include <algorithm>
#include <cmath>

namespace snapdiff::bench {

double Source::normal() {
  return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());  // Box-Muller
}

unsigned Source::poisson(double mean) {
  const double end = std::exp(-mean);
  unsigned count = 0;
  for (double product = uniform(); product > end; product *= uniform()) ++count;
  return count;
}

namespace {

constexpr double kLevel = 1000;
constexpr double kNoise = 30;

/// kLevel + shape(i) + noise
template <class Shape>
Known noisy(Source& source, Values& values, double noise, Shape shape) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = kLevel + shape(static_cast<double>(i)) + noise * source.normal();
  }
  return {};
}

Known autoregressive(Source& source, Values& values, double rho, double step) {
  double state = source.normal() / std::sqrt(1 - rho * rho);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = kLevel + kNoise * (state + step * static_cast<double>(i));
    state = rho * state + source.normal();
  }
  return {};
}

Known walk(Source& source, Values& values, double drift) {
  double level = kLevel;
  for (double& value : values) value = level += kNoise * (drift + source.normal());
  return {};
}

/// 0 rising to 1 and back to 0 in `period` steps.
double tooth(double i, double period, double phase) { return std::fmod(i / period + phase, 1.0); }

Known sawtooth(Source& source, Values& values, double period, double height, double step) {
  const double phase = source.uniform();
  return noisy(source, values, 10, [&](double i) { return height * tooth(i, period, phase) + step * i; });
}

/// Garbage piles up at an uneven pace until a collection takes it all; `step` stays each time.
Known irregular_collector(Source& source, Values& values, double step) {
  double garbage = source.uniform(0, 300);
  double floor = kLevel;
  for (double& value : values) {
    garbage += source.uniform(20, 120);
    if (garbage > 300 * source.uniform(.6, 1.4)) garbage = 0;
    value = floor + garbage + 5 * source.normal();
    floor += step;
  }
  return {};
}

Known steps(Source& source, Values& values, int count, double noise, double slope) {
  std::vector<double> at, height;
  for (int k = 0; k < count; ++k) {
    at.push_back(source.uniform(1, static_cast<double>(values.size()) - 1));
    height.push_back(source.uniform(150, 450));
  }
  return noisy(source, values, noise, [&](double i) {
    double sum = slope * i;
    for (std::size_t k = 0; k < at.size(); ++k) sum += i >= at[k] ? height[k] : 0;
    return sum;
  });
}

void add_outliers(Source& source, Values& values) {
  const std::size_t count = std::max<std::size_t>(1, values.size() / 10);
  for (std::size_t k = 0; k < count; ++k) values[source.below(values.size())] += 500;
}

std::vector<Law> harmless_laws() {
  std::vector<Law> laws;
  const auto add = [&](std::string name, std::function<Known(Source&, Values&)> fill) {
    laws.push_back({std::move(name), false, std::move(fill)});
  };
  add("white noise", [](Source& s, Values& v) { return noisy(s, v, kNoise, [](double) { return 0.0; }); });
  add("AR(.8)", [](Source& s, Values& v) { return autoregressive(s, v, .8, 0); });
  add("random walk", [](Source& s, Values& v) { return walk(s, v, 0); });
  add("queue (walk reflected at 0)", [](Source& s, Values& v) {
    double level = 100 * s.uniform();
    for (double& value : v) value = level = std::abs(level + kNoise * s.normal());
    return Known{};
  });
  const auto warm_up = [](double low, double high, double noise) {
    return [=](Source& s, Values& v) {
      const double tau = s.uniform(low, high) * static_cast<double>(v.size());
      return noisy(s, v, noise, [&](double i) { return 500 * (1 - std::exp(-i / tau)); });
    };
  };
  add("warm-up, tau .1-.25 n", warm_up(.1, .25, 10));
  add("warm-up, tau .25-.5 n", warm_up(.25, .5, 10));
  add("warm-up, tau .25-.5 n, exact", warm_up(.25, .5, 0));
  add("warm-up, tau .25-.5 n, loud", warm_up(.25, .5, kNoise));
  add("ramp then flat", [](Source& s, Values& v) {
    const double end = s.uniform(.2, .7) * static_cast<double>(v.size());
    return noisy(s, v, 10, [&](double i) { return 500 * std::min(i, end) / end; });
  });
  add("logarithm", [](Source& s, Values& v) {
    const double scale = s.uniform(.02, .14) * static_cast<double>(v.size());
    return noisy(s, v, 10, [&](double i) { return 150 * std::log1p(i / scale); });
  });
  add("cache that fills with distinct keys", [](Source& s, Values& v) {
    const double pace = s.uniform(5, 15) / static_cast<double>(v.size());
    double filled = 0;
    for (double& value : v) {
      for (int k = 0; k < 100; ++k) filled += s.uniform() < pace * (1 - filled / 100) ? 1 : 0;
      filled = std::min(filled, 100.0);
      value = kLevel + 5 * filled;
    }
    return Known{};
  });
  add("one step", [](Source& s, Values& v) { return steps(s, v, 1, 20, 0); });
  add("two steps", [](Source& s, Values& v) { return steps(s, v, 2, 20, 0); });
  add("table that doubles", [](Source& s, Values& v) {
    const double pace = s.uniform(.3, 3);
    const double start = s.uniform(1, 16);
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = 16 * std::exp2(std::ceil(std::log2(start + pace * static_cast<double>(i))));
    }
    return Known{};
  });
  add("sawtooth, period up to n/2",
      [](Source& s, Values& v) { return sawtooth(s, v, s.uniform(2, static_cast<double>(v.size()) / 2), 300, 0); });
  add("sawtooth, period n/2 to n",
      [](Source& s, Values& v) { return sawtooth(s, v, s.uniform(.5, 1) * static_cast<double>(v.size()), 300, 0); });
  add("collections at no rhythm", [](Source& s, Values& v) { return irregular_collector(s, v, 0); });
  add("season, period up to n", [](Source& s, Values& v) {
    const double period = s.uniform(3, static_cast<double>(v.size()));
    const double phase = s.uniform(0, 6.283185307179586);
    return noisy(s, v, 10, [&](double i) { return 150 * std::sin(6.283185307179586 * i / period + phase); });
  });
  add("restart and refill", [](Source& s, Values& v) {
    const double at = s.uniform(.3, .7) * static_cast<double>(v.size());
    return noisy(s, v, 10, [&](double i) { return i < at ? 500 : 500 * (1 - std::exp(-(i - at) / 1.5)); });
  });
  add("outliers", [](Source& s, Values& v) {
    noisy(s, v, 10, [](double) { return 0.0; });
    add_outliers(s, v);
    return Known{};
  });
  add("log-normal noise", [](Source& s, Values& v) {
    for (double& value : v) value = kLevel * std::exp(.5 * s.normal());
    return Known{};
  });
  return laws;
}

std::vector<Law> leaking_laws() {
  std::vector<Law> laws;
  const auto add = [&](std::string name, std::function<Known(Source&, Values&)> fill) {
    laws.push_back({std::move(name), true, std::move(fill)});
  };
  for (const auto& [name, step] :
       {std::pair{"leak, step = sd", 1.0}, {"leak, step = sd/2", .5}, {"leak, step = 2 sd", 2.0}}) {
    add(name, [step = step](Source& s, Values& v) {
      return noisy(s, v, kNoise, [&](double i) { return kNoise * step * i; });
    });
  }
  add("leak under a sawtooth, period 4", [](Source& s, Values& v) { return sawtooth(s, v, 4, 120, 20); });
  add("slow leak under many teeth", [](Source& s, Values& v) {
    const auto n = static_cast<double>(v.size());
    return sawtooth(s, v, s.uniform(2, n / 3), 300, 250 / n);
  });
  add("leak from midway", [](Source& s, Values& v) {
    const double from = static_cast<double>(v.size()) / 2;
    return noisy(s, v, kNoise, [&](double i) { return kNoise * 2 * std::max(0.0, i - from); });
  });
  add("leak at every k-th", [](Source& s, Values& v) {
    const auto k = static_cast<double>(2 + s.below(3));
    return noisy(s, v, 5, [&](double i) { return 100 * std::floor(i / k); });
  });
  add("leak, errors of each value apart", [](Source& s, Values& v) {
    double variance = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double mean = 30 + 4 * static_cast<double>(i);
      v[i] = 16 * s.poisson(mean);
      variance += 16 * 16 * mean / static_cast<double>(v.size());
    }
    return Known{variance, 0};
  });
  add("leak, sampled once, survivors kept", [](Source& s, Values& v) {
    double count = 30;
    for (double& value : v) {
      value = 16 * count;
      count += s.poisson(2);
    }
    return Known{0, 16};
  });
  add("one object at odds of a half", [](Source& s, Values& v) {
    double count = 3;
    for (double& value : v) {
      value = 64 * count;
      count += s.uniform() < .5 ? 1 : 0;
    }
    return Known{};
  });
  add("exact line", [](Source& s, Values& v) {
    const double step = s.uniform(60, 100);
    return noisy(s, v, 0, [&](double i) { return step * i; });
  });
  add("accelerating leak", [](Source& s, Values& v) {
    return noisy(s, v, 10, [&](double i) { return 20 * i + 400 * i * i / static_cast<double>(v.size() * v.size()); });
  });
  add("drifting walk, drift = sd", [](Source& s, Values& v) { return walk(s, v, 1); });
  add("leak in AR(.5) noise, step = sd", [](Source& s, Values& v) { return autoregressive(s, v, .5, 1); });
  add("leak with season", [](Source& s, Values& v) {
    const auto n = static_cast<double>(v.size());
    const double period = s.uniform(3, n);
    const double phase = s.uniform(0, 6.283185307179586);
    return noisy(s, v, 10,
                 [&](double i) { return 100 * std::sin(6.283185307179586 * i / period + phase) + 400 * i / n; });
  });
  add("leak with one step", [](Source& s, Values& v) { return steps(s, v, 1, 20, 20); });
  add("leak with outliers", [](Source& s, Values& v) {
    noisy(s, v, 10, [](double i) { return 30 * i; });
    add_outliers(s, v);
    return Known{};
  });
  add("collections at no rhythm, rising floor", [](Source& s, Values& v) { return irregular_collector(s, v, 40); });
  return laws;
}

}  // namespace

std::vector<Law> all_laws() {
  std::vector<Law> laws = harmless_laws();
  for (Law& law : leaking_laws()) laws.push_back(std::move(law));
  add_sampled_laws(laws);
  std::stable_partition(laws.begin(), laws.end(), [](const Law& law) { return !law.leaks; });
  return laws;
}

}  // namespace snapdiff::bench
