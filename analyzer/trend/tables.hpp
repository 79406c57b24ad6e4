#pragma once

#include <cstddef>
#include <vector>

namespace snapdiff::trend {

/// Regressors that depend on the number of values alone, centred and of length 1, one after another.
class Tables {
 public:
  explicit Tables(std::size_t n);

  /// Tables for n, kept per thread.
  static const Tables& of(std::size_t n);

  struct Wave {
    std::vector<double> first, second;  ///< orthonormal base of sin and cos; a zero vector where it vanishes
    std::vector<double> line;           ///< t without its part in the base; not of length 1
    double line_squares = 0;
  };

  std::size_t n = 0;
  std::vector<double> inverse;  ///< inverse[k] = 1 / k, up to n; inverse[0] is 0
  std::vector<std::vector<double>> exponentials;
  std::vector<std::vector<double>> logarithms;
  std::vector<Wave> waves;  ///< from n = 8
};

}  // namespace snapdiff::trend
