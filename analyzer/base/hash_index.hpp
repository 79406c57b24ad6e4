#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff {

/// Open-addressing index from a hash to a row number; the rows live elsewhere. Holds no keys: the
/// caller says whether a candidate row is the one that it means.
class HashIndex {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  /// The row for which `is_same(row)` holds among those inserted under `hash`, or kAbsent.
  template <class IsSame>
  std::uint32_t find(std::uint64_t hash, IsSame is_same) const {
    if (slots_.empty()) return kAbsent;
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t i = tag & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.row == kAbsent) return kAbsent;
      if (slot.tag == tag && is_same(slot.row)) return slot.row;
    }
  }

  /// Fetches what find() will look at: a large table costs a cache miss for each look.
  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[tag_of(hash) & mask()]);
  }

  /// Adds a row that find() did not return.
  void insert(std::uint64_t hash, std::uint32_t row) {
    if ((used_ + 1) * 2 > slots_.size()) grow_to(std::max<std::size_t>(16, slots_.size() * 2));
    place({row, tag_of(hash)});
    ++used_;
  }

  void reserve(std::size_t rows) {
    if (rows * 2 > slots_.size()) grow_to(std::bit_ceil(std::max<std::size_t>(16, rows * 2)));
  }

 private:
  // The tag is all that is kept of a hash: it finds the slot, and finds it again in a larger table.
  struct Slot {
    std::uint32_t row = kAbsent;
    std::uint32_t tag = 0;
  };
  using Slots = std::vector<Slot, LargePages<Slot>>;
  // Keyed, since numbers can be chosen so that any fixed mix of them agrees in these bits.
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(keyed_hash(hash)); }
  std::size_t mask() const { return slots_.size() - 1; }
  void place(const Slot& slot) {
    std::size_t i = slot.tag & mask();
    while (slots_[i].row != kAbsent) i = (i + 1) & mask();
    slots_[i] = slot;
  }
  void grow_to(std::size_t size) {
    const Slots old = std::exchange(slots_, Slots(size));
    for (const Slot& slot : old) {
      if (slot.row != kAbsent) place(slot);
    }
  }

  Slots slots_;
  std::size_t used_ = 0;
};

}  // namespace snapdiff
