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

/// What is known of the error of a series.
///   variance   of each value, independent of the others (rounding); 0 when exact
///   sample     what one sample stands for, in the values' unit, where survivors keep their samples; 0 when not sampled
struct Known {
  double variance = 0;
  double sample = 0;
};

/// `fill` writes values.size() values; returns what an analyzer would know of their error.
struct Law {
  std::string name;
  bool leaks = false;
  std::function<Known(Source&, Values&)> fill;
};

std::vector<Law> all_laws();

/// Those of sampled profiles (sampled_laws.cpp).
void add_sampled_laws(std::vector<Law>& laws);

}  // namespace snapdiff::bench
