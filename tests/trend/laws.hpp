#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

/// Series of known law, to measure how often the verdict is right. Levels and noise are chosen so
/// that only their ratios matter; every law draws its free parameters anew for each series.
namespace snapdiff::bench {

using Values = std::vector<double>;

/// The same numbers with every standard library.
class Source {
 public:
  explicit Source(unsigned seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_()) + .5) / 4294967296.0; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal();
  /// Knuth's method: for small means.
  unsigned poisson(double mean);
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(uniform() * static_cast<double>(end)); }

 private:
  std::mt19937 engine_;
};

/// `fill` writes values.size() values; returns the noise variance that is known of each (mostly 0).
struct Law {
  std::string name;
  bool leaks = false;
  std::function<double(Source&, Values&)> fill;
};

std::vector<Law> all_laws();

}  // namespace snapdiff::bench
