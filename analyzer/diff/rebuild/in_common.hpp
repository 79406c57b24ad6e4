#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/diff/rebuild/positions.hpp"

namespace snapdiff::diff::rebuild {

/// How many functions one set has in common with others: cheaper than to go through both sets for each of these.
class InCommon {
 public:
  /// `functions`: of the current side.
  explicit InCommon(std::size_t functions) : chosen_(functions + 1, 0) {}

  void choose(std::span<const std::uint32_t> set) {
    ++now_;
    size_ = set.size();
    for (const std::uint32_t function : set) chosen_[place_of(function)] = now_;
  }
  std::size_t count(std::span<const std::uint32_t> set) const {
    std::size_t n = 0;
    for (const std::uint32_t function : set) n += static_cast<std::size_t>(chosen_[place_of(function)] == now_);
    return n;
  }
  /// Of the smaller set, 0 to 1.
  double share(std::span<const std::uint32_t> set) const {
    const std::size_t less = std::min(size_, set.size());
    return less == 0 ? 0 : static_cast<double>(count(set)) / static_cast<double>(less);
  }

 private:
  /// kAllocation is behind all functions.
  std::size_t place_of(std::uint32_t function) const { return std::min<std::size_t>(function, chosen_.size() - 1); }

  std::vector<std::uint32_t> chosen_;  ///< per function, when it was chosen last
  std::uint32_t now_ = 0;
  std::size_t size_ = 0;
};

/// What one position has in common with others.
struct AroundInCommon {
  InCommon next, deep;

  explicit AroundInCommon(std::size_t functions) : next(functions), deep(functions) {}
  void choose(const Position& position) {
    next.choose(position.next);
    deep.choose(position.deep);
  }
};

}  // namespace snapdiff::diff::rebuild
