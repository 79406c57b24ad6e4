#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/base/parallel.hpp"
#include "snapdiff/hash.hpp"

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

/// The stacks of both sides that have a key, sorted: in shares by their keys, which are hashes, so that several threads
/// sort them and put together they are sorted.
template <class Stacks, class Key>
std::vector<Keyed> sorted_by_key(const Stacks& before, const Stacks& after, Key key) {
  constexpr unsigned kShareBits = 4;
  std::array<std::size_t, (1U << kShareBits) + 1> end{};
  const auto share_of = [](const Hash128& hash) { return static_cast<std::size_t>(hash.high >> (64U - kShareBits)); };
  const auto each = [&](auto body) {
    for (const Stacks* side : {&before, &after}) {
      for (std::uint32_t i = 0; i < side->size(); ++i) {
        if ((*side)[i].key != Hash128{}) body(Keyed{key((*side)[i]), i, side == &after});
      }
    }
  };
  each([&](const Keyed& one) { ++end[share_of(one.key) + 1]; });
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<Keyed> keyed(end.back());
  each([&](const Keyed& one) { keyed[end[share_of(one.key)]++] = one; });  // from its begin on
  for_each_parallel(end.size() - 1, keyed.size(), [&](std::size_t share) {
    const std::size_t begin = share == 0 ? 0 : end[share - 1];
    std::sort(keyed.begin() + static_cast<std::ptrdiff_t>(begin),
              keyed.begin() + static_cast<std::ptrdiff_t>(end[share]));
  });
  return keyed;
}

/// Calls body(group of before, group of after) for stacks of equal key that both sides have.
template <class Stacks, class Key, class Body>
void each_group(const Stacks& before, const Stacks& after, Key key, Body body) {
  const std::vector<Keyed> keyed = sorted_by_key(before, after, key);
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
