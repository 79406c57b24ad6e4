#pragma once

#include <cstdint>

#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff::rebuild {

/// Rows that stand for several units, while matching goes on. Fills Comparison::row_of_unit and coarse_tier.
class RowUnion {
 public:
  explicit RowUnion(Comparison& c) : c_(c) {}

  std::uint32_t find(std::uint32_t unit) const;
  /// False: they were one row before, and nothing changes.
  bool join(std::uint32_t a, std::uint32_t b, MatchTier tier);

  /// Lets each row be stood for by its newest unit, of these the largest, whatever came first.
  void flatten();

 private:
  bool shows_better(std::size_t a, std::size_t b) const;

  Comparison& c_;
};

}  // namespace snapdiff::diff::rebuild
