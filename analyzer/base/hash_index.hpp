#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analyzer/base/buckets.hpp"
#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
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

  /// find(); where it finds none, row `next` is inserted. The row, and whether it is `next`.
  template <class IsSame>
  std::pair<std::uint32_t, bool> intern(std::uint64_t hash, std::size_t next, IsSame is_same) {
    const std::uint32_t row = find(hash, is_same);
    if (row != kAbsent) return {row, false};
    insert(hash, static_cast<std::uint32_t>(next));
    return {static_cast<std::uint32_t>(next), true};
  }

  /// Adds rows 0 .. rows - 1 to an index that is empty, on all cores. Several threads call hash_of(row) and
  /// is_same(row, earlier_row).
  /// Returns the first row that is the same, for each row: the row itself where none is. Only first rows are found.
  template <class HashOf, class IsSame>
  LargeColumn<std::uint32_t> add_all(std::size_t rows, HashOf hash_of, IsSame is_same);

  /// Calls rename(row) for each row, on all cores: the number under which the row is found from now on.
  template <class Rename>
  void renumber(Rename rename) {
    for_each_block(slots_.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (slots_[i].row != kAbsent) slots_[i].row = rename(slots_[i].row);
      }
    });
  }

  void reserve(std::size_t rows) {
    if (rows * 2 > slots_.size()) grow_to(std::bit_ceil(std::max<std::size_t>(16, rows * 2)));
  }

 private:
  // The tag is all that is kept of a hash: it finds the slot, and finds it again in a larger table.
  struct Slot {
    std::uint32_t row;
    std::uint32_t tag;
  };
  // Keyed, since numbers can be chosen so that any fixed mix of them agrees in these bits.
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(keyed_hash(hash)); }
  std::size_t mask() const { return slots_.size() - 1; }
  void place(const Slot& slot) {
    std::size_t i = slot.tag & mask();
    while (slots_[i].row != kAbsent) i = (i + 1) & mask();
    slots_[i] = slot;
  }
  void grow_to(std::size_t size) {
    LargeColumn<Slot> grown;
    resize_on_all_cores(grown, size, {kAbsent, 0});
    const LargeColumn<Slot> old = std::exchange(slots_, std::move(grown));
    for (const Slot& slot : old) {
      if (slot.row != kAbsent) place(slot);
    }
  }

  LargeColumn<Slot> slots_;
  std::size_t used_ = 0;
};

// Each thread has a share of the slots, and places the rows whose hashes fall into it, ascending: no two threads write
// to one place, and a share fits into the cache. A row that finds its share full up to the end is placed afterwards;
// so is any later row that is the same, because it finds the same slots full.
template <class HashOf, class IsSame>
LargeColumn<std::uint32_t> HashIndex::add_all(std::size_t rows, HashOf hash_of, IsSame is_same) {
  reserve(rows);
  LargeColumn<std::uint32_t> first, tag, order;
  for (LargeColumn<std::uint32_t>* column : {&first, &tag, &order}) column->resize(rows);  // written below
  if (rows == 0) return first;
  constexpr int kMostShareBits = 7;
  const int slot_bits = std::countr_zero(slots_.size());
  const int share_bits = std::min(kMostShareBits, slot_bits - 1);
  const std::size_t shares = std::size_t{1} << share_bits;
  const std::size_t share_size = slots_.size() / shares;
  for_each_block(rows, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) tag[row] = tag_of(hash_of(static_cast<std::uint32_t>(row)));
  });
  const auto share_of = [&](std::size_t row) { return (tag[row] & mask()) / share_size; };
  Buckets in_share(rows, shares);
  in_share.count(share_of);
  in_share.distribute(share_of,
                      [&](std::size_t row, std::uint32_t place) { order[place] = static_cast<std::uint32_t>(row); });

  std::vector<std::vector<std::uint32_t>> left(shares);
  std::vector<std::size_t> placed(shares, 0);
  for_each_parallel(shares, rows, [&](std::size_t share) {
    const std::size_t end = (share + 1) * share_size;
    for (std::size_t k = in_share.begin(share); k < in_share.begin(share + 1); ++k) {
      const std::uint32_t row = order[k];
      std::size_t i = tag[row] & mask();
      while (i < end && slots_[i].row != kAbsent && !(slots_[i].tag == tag[row] && is_same(row, slots_[i].row))) ++i;
      if (i == end) {
        left[share].push_back(row);
        continue;
      }
      if (slots_[i].row == kAbsent) {
        slots_[i] = {row, tag[row]};
        ++placed[share];
      }
      first[row] = slots_[i].row;
    }
  });
  for (const std::size_t count : placed) used_ += count;
  for (const std::vector<std::uint32_t>& some : left) {
    for (const std::uint32_t row : some) {
      const std::uint64_t hash = hash_of(row);
      const std::uint32_t known = find(hash, [&](std::uint32_t other) { return is_same(row, other); });
      if (known == kAbsent) insert(hash, row);
      first[row] = known == kAbsent ? row : known;
    }
  }
  return first;
}

}  // namespace snapdiff
