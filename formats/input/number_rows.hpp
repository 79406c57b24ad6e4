#pragma once

#include "analyzer/base/hash_index.hpp"

namespace snapdiff::formats {

/// Numbers distinct numbers of 64 bits, addresses or ids of a file, 0, 1, 2, … in order of first appearance. Ids that
/// count up from 1, which nearly all writers give, are found without a look at the index.
class NumberRows {
 public:
  static constexpr std::uint32_t kAbsent = HashIndex::kAbsent;

  std::uint32_t find(std::uint64_t number) const {
    const std::uint64_t place = number - 1;
    if (place < numbers_.size() && numbers_[place] == number) return static_cast<std::uint32_t>(place);
    return index_.find(number, [&](std::uint32_t row) { return numbers_[row] == number; });
  }
  /// The row of this number, the next one where it is new.
  std::uint32_t intern(std::uint64_t number) {
    std::uint32_t row = find(number);
    if (row != kAbsent) return row;
    row = static_cast<std::uint32_t>(numbers_.size());
    numbers_.push_back(number);
    if (number - 1 != row) index_.insert(number, row);
    return row;
  }
  /// Hint: intern(number) follows soon.
  void prefetch(std::uint64_t number) const { index_.prefetch(number); }
  std::size_t size() const { return numbers_.size(); }
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }

 private:
  std::vector<std::uint64_t> numbers_;
  HashIndex index_;
};

}  // namespace snapdiff::formats
