#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace snapdiff::formats::hprof {

/// From the address of an object to its row. The rows are sorted by address once; a table of where each
/// stretch of addresses begins makes most searches a few looks. 5 bytes a row, and references, which mostly stay near,
/// find their ends in the cache.
class AddressIndex {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  /// `addresses` is read by every find() and must stay as it is. Less than 2^32 - 1 rows.
  explicit AddressIndex(std::span<const std::uint64_t> addresses) : addresses_(addresses) {
    if (addresses.empty()) return;
    order_.resize(addresses.size());
    std::iota(order_.begin(), order_.end(), 0U);
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
      return addresses[a] != addresses[b] ? addresses[a] < addresses[b] : a < b;
    };
    // Virtual machines walk the heap upwards, space by space: a few sorted runs.
    if (!std::is_sorted(order_.begin(), order_.end(), less)) std::sort(order_.begin(), order_.end(), less);
    low_ = addresses[order_.front()];
    high_ = addresses[order_.back()];
    // A few objects a stretch: twice the steps, and a table that stays in the cache.
    const std::size_t most = std::max<std::size_t>(2, addresses.size() / 4);
    while (((high_ - low_) >> shift_) >= most) ++shift_;
    begin_.assign(static_cast<std::size_t>((high_ - low_) >> shift_) + 2, 0);
    std::size_t next = 0;
    for (std::size_t stretch = 0; stretch + 1 < begin_.size(); ++stretch) {
      begin_[stretch] = static_cast<std::uint32_t>(next);
      while (next < order_.size() && (addresses[order_[next]] - low_) >> shift_ == stretch) ++next;
    }
    begin_.back() = static_cast<std::uint32_t>(next);
  }

  /// The first row with this address, or kAbsent.
  std::uint32_t find(std::uint64_t address) const {
    if (address - low_ > high_ - low_ || order_.empty()) return kAbsent;
    const std::uint64_t stretch = (address - low_) >> shift_;
    std::uint32_t begin = begin_[stretch];
    std::uint32_t end = begin_[stretch + 1];
    while (end - begin > 8) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (addresses_[order_[middle]] < address) {
        begin = middle + 1;
      } else {
        end = middle + 1;
      }
    }
    for (; begin != end; ++begin) {
      if (addresses_[order_[begin]] == address) return order_[begin];
    }
    return kAbsent;
  }

  /// Rows by address, those of one address by row.
  std::span<const std::uint32_t> order() const { return order_; }

 private:
  std::span<const std::uint64_t> addresses_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> begin_;  // by stretch: its first place in order_
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  unsigned shift_ = 0;
};

}  // namespace snapdiff::formats::hprof
