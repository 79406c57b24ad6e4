#pragma once

#include <cstddef>
#include <vector>

#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::diff {

/// Hashes that are already well mixed, in one flat table; several times quicker than
/// std::unordered_set on the few hundred thousand frames of a large profile.
class HashSet {
 public:
  explicit HashSet(std::size_t expected = 0) {
    std::size_t size = 16;
    while (size < expected * 2) size *= 2;
    slots_.assign(size, Hash128{});
  }

  void insert(const Hash128& hash) {
    if ((used_ + 1) * 2 > slots_.size()) {
      std::vector<Hash128> old(slots_.size() * 2);
      old.swap(slots_);
      for (const Hash128& kept : old) {
        if (kept != Hash128{}) slots_[find(kept)] = kept;
      }
    }
    if (hash == Hash128{}) {
      has_zero_ = true;
      return;
    }
    Hash128& slot = slots_[find(hash)];
    if (slot == hash) return;
    slot = hash;
    ++used_;
  }

  bool contains(const Hash128& hash) const { return hash == Hash128{} ? has_zero_ : slots_[find(hash)] == hash; }

 private:
  std::size_t find(const Hash128& hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = keyed_hash(hash) & mask;
    while (slots_[i] != Hash128{} && slots_[i] != hash) i = (i + 1) & mask;
    return i;
  }

  std::vector<Hash128> slots_;
  std::size_t used_ = 0;
  bool has_zero_ = false;
};

}  // namespace snapdiff::diff
