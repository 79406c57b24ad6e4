#pragma once

#include <algorithm>

namespace snapdiff::diff::rebuild {

/// What a site or a stack holds. Sizes in bytes.
struct Objects {
  double least = 0, most = 0;  ///< size of one
  double number = 0;           ///< 0: unknown
};

inline bool differ_by(double factor, double x, double y) { return std::max(x, y) > factor * std::min(x, y); }

/// Objects of quite another size, and quite another number of them, are another site's.
inline bool contradict(const Objects& a, const Objects& b) {
  constexpr double kOther = 2;  // times the size, and times as many
  if (a.number <= 0 || b.number <= 0) return false;
  return (a.least > kOther * b.most || b.least > kOther * a.most) && differ_by(kOther, a.number, b.number);
}

}  // namespace snapdiff::diff::rebuild
