#include <cmath>

#include "trend/laws.hpp"

/// Heap profiles take one allocation in many, and keep it while it lives: between two snapshots only what was allocated
/// or freed since carries an error of sampling.
namespace snapdiff::bench {

namespace {

constexpr double kSample = 512;  // bytes that one sample stands for

unsigned survivors(Source& source, unsigned count, double share) {
  unsigned kept = 0;
  for (unsigned i = 0; i < count; ++i) kept += source.uniform() < share ? 1U : 0U;
  return kept;
}

/// A population of `mean` samples, of which `share` live on to the next snapshot, and `leak` samples a step that stay.
Known population(Source& source, Values& values, double mean, double share, double leak) {
  unsigned alive = source.poisson(mean);
  unsigned leaked = 0;
  for (double& value : values) {
    value = kSample * (alive + leaked);
    alive = survivors(source, alive, share) + source.poisson(mean * (1 - share));
    leaked += source.poisson(leak);
  }
  return {0, kSample};
}

/// A cache that fills with `most` samples; of what it holds, `share` lives on and the rest is replaced.
Known warm_up(Source& source, Values& values, double most, double tau, double share) {
  unsigned alive = 0;
  double before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double mean = most * (1 - std::exp(-static_cast<double>(i + 1) / tau));
    alive = survivors(source, alive, share) + source.poisson(mean - share * before);
    before = mean;
    values[i] = kSample * alive;
  }
  return {0, kSample};
}

}  // namespace

void add_sampled_laws(std::vector<Law>& laws) {
  const auto add = [&](bool leaks, std::string name, std::function<Known(Source&, Values&)> fill) {
    laws.push_back({std::move(name), leaks, std::move(fill)});
  };
  add(false, "sampled plateau, half replaced a step",
      [](Source& s, Values& v) { return population(s, v, s.uniform(5, 80), .5, 0); });
  add(false, "sampled plateau, slow turnover",
      [](Source& s, Values& v) { return population(s, v, s.uniform(5, 80), s.uniform(.85, .98), 0); });
  add(false, "sampled warm-up, nothing freed", [](Source& s, Values& v) {
    return warm_up(s, v, s.uniform(30, 80), s.uniform(.1, .3) * static_cast<double>(v.size()), 1);
  });
  add(false, "sampled warm-up under turnover", [](Source& s, Values& v) {
    return warm_up(s, v, s.uniform(30, 80), s.uniform(.1, .3) * static_cast<double>(v.size()), .8);
  });
  add(true, "sampled leak, 1 a step", [](Source& s, Values& v) { return population(s, v, 0, 1, 1); });
  add(true, "sampled leak, 1 a step beside 10 that stay", [](Source& s, Values& v) {
    population(s, v, 0, 1, 1);
    for (double& value : v) value += 10 * kSample;
    return Known{0, kSample};
  });
  add(true, "sampled leak, 3 a step under turnover", [](Source& s, Values& v) { return population(s, v, 30, .7, 3); });
  add(true, "sampled leak, 3 a step under slow turnover",
      [](Source& s, Values& v) { return population(s, v, 30, .9, 3); });
}

}  // namespace snapdiff::bench
