#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace snapdiff::diff::rebuild {

/// Some values of each position, one position after the other, in one memory.
template <class T>
class PerPosition {
 public:
  /// Of the next position.
  void add(std::span<const T> values) {
    values_.insert(values_.end(), values.begin(), values.end());
    end_.push_back(static_cast<std::uint32_t>(values_.size()));
  }
  /// Holds until something is added.
  std::span<const T> operator[](std::size_t position) const {
    const std::size_t begin = position == 0 ? 0 : end_[position - 1];
    return std::span<const T>(values_).subspan(begin, end_[position] - begin);
  }

 private:
  std::vector<T> values_;
  std::vector<std::uint32_t> end_;
};

/// What was seen at positions, those of one in the order in which they were added. `counts`: how many there will be of
/// each.
template <class Seen>
class ByPosition {
 public:
  explicit ByPosition(const std::vector<std::uint32_t>& counts) : end_(counts.size()) {
    std::size_t all = 0;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      end_[p] = all;  // until the first of the position is added
      all += counts[p];
    }
    seen_ = std::make_unique_for_overwrite<Seen[]>(all);
  }
  void add(std::uint32_t position, const Seen& one) { seen_[end_[position]++] = one; }
  /// Only where all were added.
  std::span<const Seen> operator[](std::size_t position) const {
    const std::size_t begin = position == 0 ? 0 : end_[position - 1];
    return {seen_.get() + begin, end_[position] - begin};
  }

 private:
  std::unique_ptr<Seen[]> seen_;  // NOLINT(modernize-avoid-c-arrays): not filled twice
  std::vector<std::size_t> end_;
};

}  // namespace snapdiff::diff::rebuild
