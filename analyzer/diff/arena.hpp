#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace snapdiff::diff {

/// Keeps copies of many short runs of values, in few pieces of memory that never move.
template <class T>
class Arena {
 public:
  std::span<const T> keep(std::span<const T> values) {
    if (capacity_ - used_ < values.size()) {
      capacity_ = std::max(kChunk, values.size());
      chunks_.push_back(std::make_unique<T[]>(capacity_));
      used_ = 0;
    }
    T* const copy = chunks_.back().get() + used_;
    std::copy(values.begin(), values.end(), copy);
    used_ += values.size();
    return {copy, values.size()};
  }

 private:
  static constexpr std::size_t kChunk = 64 * 1024;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace snapdiff::diff
