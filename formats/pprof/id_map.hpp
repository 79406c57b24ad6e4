#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace snapdiff::formats::pprof {

/// From the ids of a profile, arbitrary non-zero 64-bit numbers, to row numbers. Ids that count
/// up from 1, which nearly all writers give, are a plain array.
class IdMap {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  explicit IdMap(std::size_t expected);

  /// False when `id` is in already.
  bool insert(std::uint64_t id, std::uint32_t row);

  std::uint32_t find(std::uint64_t id) const {
    if (id < dense_.size()) return dense_[static_cast<std::size_t>(id)];
    return slots_.empty() ? kAbsent : find_sparse(id);
  }

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::uint32_t row = kAbsent;
  };
  std::uint32_t find_sparse(std::uint64_t id) const;
  std::size_t slot_of(std::uint64_t id) const;
  void grow();

  std::vector<std::uint32_t> dense_;  // by id
  std::vector<Slot> slots_;           // open addressing, for ids beyond dense_
  std::size_t used_ = 0;
  std::uint64_t seed_;
};

}  // namespace snapdiff::formats::pprof
