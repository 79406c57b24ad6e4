#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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

/// What was seen at positions, each with its `position`, in the order of these; of one position in the given order.
template <class Seen>
class ByPosition {
 public:
  ByPosition(std::vector<Seen> seen, std::size_t positions)
      : seen_(std::move(seen)), begin_(positions + 1, 0), order_(seen_.size()) {
    for (const Seen& one : seen_) ++begin_[one.position + 1];
    for (std::size_t p = 0; p < positions; ++p) begin_[p + 1] += begin_[p];
    std::vector<std::uint32_t> next(begin_);
    for (std::uint32_t i = 0; i < order_.size(); ++i) order_[next[seen_[i].position]++] = i;
  }
  template <class Visit>
  void each(std::size_t position, Visit visit) const {
    for (std::uint32_t i = begin_[position]; i < begin_[position + 1]; ++i) visit(seen_[order_[i]]);
  }

 private:
  std::vector<Seen> seen_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> order_;
};

}  // namespace snapdiff::diff::rebuild
