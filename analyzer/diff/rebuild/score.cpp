#include "analyzer/diff/rebuild/score.hpp"

#include <algorithm>
#include <cmath>

namespace snapdiff::diff::rebuild {
namespace {

// By tests/builds/fit.py, of the programs of tests/builds/program.py; each with its standard error.
constexpr double kEqualSize = 1.35;      // 0.03
constexpr double kGrownSize = 0.03;      // 0.02: a type has new members
constexpr double kOtherSize = -2.90;     // 0.04
constexpr double kAsMany = 2.40;         // 0.02
constexpr double kNearlyAsMany = -1.12;  // 0.04
constexpr double kOtherNumber = -2.80;   // 0.03

constexpr double kMostGrown = 0.25;  // of the smaller size
constexpr double kFew = 2;           // objects: as many more or less say little
constexpr double kSame = 1.13;       // times as many objects: two runs of one program
constexpr double kNearly = 1.28;     // the same

}  // namespace

double weight_of_number(double before, double after) {
  const double times = (std::max(before, after) + kFew) / (std::min(before, after) + kFew);
  return times <= kSame ? kAsMany : times <= kNearly ? kNearlyAsMany : kOtherNumber;
}

double weight_of_objects(const Held& before, const Held& after, bool of_sites) {
  if (!before.any() || !after.any()) return 0;
  const double old_size = std::floor(before.bytes / before.objects), size = std::floor(after.bytes / after.objects);
  const bool grown = std::abs(size - old_size) <= kMostGrown * std::min(size, old_size);
  const double of_size = size == old_size ? kEqualSize : of_sites ? 0 : grown ? kGrownSize : kOtherSize;
  return of_size + weight_of_number(before.objects, after.objects);
}

double weight_of_sizes(std::span<const std::int64_t> before, std::span<const std::int64_t> after) {
  if (before.empty() || after.empty()) return 0;
  const auto any_common = [&](std::int64_t more) {
    return std::any_of(before.begin(), before.end(),
                       [&](std::int64_t size) { return std::binary_search(after.begin(), after.end(), size + more); });
  };
  if (any_common(0)) return kEqualSize;
  const std::int64_t more = after.front() - before.front();
  const auto smaller = static_cast<double>(std::min(before.front(), after.front()));
  return static_cast<double>(std::abs(more)) <= kMostGrown * smaller ? kGrownSize : kOtherSize;
}

}  // namespace snapdiff::diff::rebuild
