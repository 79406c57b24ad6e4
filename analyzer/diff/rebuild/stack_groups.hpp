#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "snapdiff/hash.hpp"
#include "snapdiff/parallel.hpp"

namespace snapdiff::diff::rebuild {

/// A stack of one side by a key.
struct Keyed {
  Hash128 key;
  std::uint32_t index;
  bool after;
  friend bool operator<(const Keyed& x, const Keyed& y) {
    if (x.key != y.key) return x.key < y.key;
    return x.after != y.after ? y.after : x.index < y.index;
  }
};

/// Leaves out those that are used, each 0 or 1.
template <class Stacks>
void drop(Stacks& stacks, const std::vector<std::uint8_t>& used) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (used[i] == 0) {
      if (kept != i) stacks[kept] = std::move(stacks[i]);
      ++kept;
    }
  }
  stacks.resize(kept);
}

/// In shares by their keys, which are hashes: several threads sort them, and put together they are sorted.
inline void sort(std::vector<Keyed>& keyed) {
  constexpr std::size_t kShares = 4;
  std::array<std::size_t, kShares + 1> end{};
  end[kShares] = keyed.size();
  auto begin = keyed.begin();
  for (std::size_t share = 1; share < kShares; ++share) {
    const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / kShares * share;
    begin = std::partition(begin, keyed.end(), [&](const Keyed& one) { return one.key.high < limit; });
    end[share] = static_cast<std::size_t>(begin - keyed.begin());
  }
  for_each_parallel(kShares, keyed.size(), [&](std::size_t share) {
    std::sort(keyed.begin() + static_cast<std::ptrdiff_t>(end[share]),
              keyed.begin() + static_cast<std::ptrdiff_t>(end[share + 1]));
  });
}

/// Calls body(group of before, group of after) for stacks of equal key that both sides have.
template <class Stacks, class Key, class Body>
void each_group(const Stacks& before, const Stacks& after, Key key, Body body) {
  std::vector<Keyed> keyed;
  keyed.reserve(before.size() + after.size());
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    if (before[i].key != Hash128{}) keyed.push_back({key(before[i]), i, false});
  }
  for (std::uint32_t i = 0; i < after.size(); ++i) {
    if (after[i].key != Hash128{}) keyed.push_back({key(after[i]), i, true});
  }
  sort(keyed);
  for (std::size_t begin = 0; begin < keyed.size();) {
    std::size_t middle = begin, end = begin;
    while (end < keyed.size() && keyed[end].key == keyed[begin].key) {
      if (!keyed[end].after) ++middle;
      ++end;
    }
    if (middle > begin && end > middle)
      body(std::span(keyed).subspan(begin, middle - begin), std::span(keyed).subspan(middle, end - middle));
    begin = end;
  }
}

}  // namespace snapdiff::diff::rebuild
