#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace snapdiff::formats::v8 {

/// Rows of the string table that nodes and edges name. The table comes last, and most of it is the contents
/// of strings that nobody asks for: only what is in this set is kept. Pages come as rows do, so that a
/// damaged index costs 4 KiB and no more.
class UsedStrings {
 public:
  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 30;

  /// `row` < kMostRows; `offset` is where the input names it.
  void add(std::uint64_t row, std::uint64_t offset) {
    const std::size_t page = static_cast<std::size_t>(row / kPageRows);
    if (page >= pages_.size() || pages_[page] == nullptr) add_page(page);
    (*pages_[page])[row % kPageRows / 64] |= std::uint64_t{1} << (row % 64);
    if (row >= end_) {
      end_ = row + 1;
      last_offset_ = offset;
    }
  }
  bool has(std::uint64_t row) const {
    const std::size_t page = static_cast<std::size_t>(row / kPageRows);
    return page < pages_.size() && pages_[page] != nullptr &&
           ((*pages_[page])[row % kPageRows / 64] >> (row % 64) & 1U) != 0;
  }
  /// One more than the largest row, and where that was first named.
  std::uint64_t end() const { return end_; }
  std::uint64_t last_offset() const { return last_offset_; }

 private:
  static constexpr std::uint64_t kPageRows = 32768;
  using Page = std::array<std::uint64_t, kPageRows / 64>;

  void add_page(std::size_t page) {
    if (page >= pages_.size()) pages_.resize(page + 1);
    pages_[page] = std::make_unique<Page>();
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::uint64_t end_ = 0;
  std::uint64_t last_offset_ = 0;
};

}  // namespace snapdiff::formats::v8
