#include "formats/hprof/address_index.hpp"

#include <algorithm>
#include <numeric>

namespace snapdiff::formats::hprof {

AddressIndex::AddressIndex(std::span<const std::uint64_t> addresses) : addresses_(addresses) {
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

}  // namespace snapdiff::formats::hprof
