#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace snapdiff::diff::rebuild {

/// Numbers that are joined to sets; the smallest number of a set stands for it.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count = 0) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  /// A set of its own.
  std::uint32_t add() {
    parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    return parent_.back();
  }
  std::uint32_t find(std::uint32_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace snapdiff::diff::rebuild
