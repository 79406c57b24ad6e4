#include "analyzer/diff/row_order.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"

namespace snapdiff::diff {
namespace {

/// Keeps the order of signed numbers when compared as unsigned.
std::uint64_t ordered(std::int64_t x) { return static_cast<std::uint64_t>(x) ^ (std::uint64_t{1} << 63); }

}  // namespace

void sort_items(std::vector<SortItem>& items) {
  constexpr std::size_t kFew = 2048;
  if (items.size() < kFew) {
    std::stable_sort(items.begin(), items.end(), [](const SortItem& a, const SortItem& b) { return a.key < b.key; });
    return;
  }
  constexpr int kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  const std::size_t blocks = blocks_of(items.size());
  std::vector<SortItem> other;
  resize_on_all_cores(other, items.size());
  std::vector<std::uint32_t> at(blocks * kBuckets);  // of each block in each bucket
  for (int shift = 0; shift < 64; shift += kBits) {
    const auto bucket_of = [&](const SortItem& item) { return (item.key >> shift) & (kBuckets - 1); };
    std::fill(at.begin(), at.end(), 0U);
    for_each_block(items.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++at[block * kBuckets + bucket_of(items[i])];
    });
    std::uint32_t next = 0;
    bool one_bucket = false;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      const std::uint32_t first = next;
      for (std::size_t block = 0; block < blocks; ++block) next += std::exchange(at[block * kBuckets + bucket], next);
      one_bucket = one_bucket || next - first == items.size();
    }
    if (one_bucket) continue;
    for_each_block(items.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) other[at[block * kBuckets + bucket_of(items[i])]++] = items[i];
    });
    items.swap(other);
  }
}

std::uint64_t sort_key(SortKey by, const Change& value, const Change& objects) {
  switch (by) {
    case SortKey::change: return ~magnitude(value.growth());
    case SortKey::growth: return ~ordered(value.growth());
    case SortKey::after: return ~ordered(value.current);
    case SortKey::objects: return ~magnitude(objects.growth());
    case SortKey::name: break;
  }
  return 0;
}

std::vector<std::uint32_t> order_rows(std::span<const std::uint64_t> keys,
                                      const std::function<void(std::span<std::uint32_t>)>& sort_ties) {
  std::vector<SortItem> items;
  resize_on_all_cores(items, keys.size());
  for_each_block(keys.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) items[i] = {keys[i], static_cast<std::uint32_t>(i)};
  });
  sort_items(items);
  std::vector<std::uint32_t> order;
  resize_on_all_cores(order, keys.size());
  struct Run {
    std::size_t begin, end;
  };
  std::vector<Run> runs;
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin;
    for (; end < items.size() && items[end].key == items[begin].key; ++end) order[end] = items[end].row;
    if (end - begin > 1) runs.push_back({begin, end});
    begin = end;
  }
  // Few large runs or many small ones: shares of about equal size for each thread.
  std::vector<std::size_t> shares{0};
  std::size_t in_share = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    in_share += runs[i].end - runs[i].begin;
    if (in_share < 8192 && i + 1 < runs.size()) continue;
    shares.push_back(i + 1);
    in_share = 0;
  }
  for_each_parallel(shares.size() - 1, keys.size(), [&](std::size_t share) {
    for (std::size_t i = shares[share]; i < shares[share + 1]; ++i) {
      sort_ties(std::span(order).subspan(runs[i].begin, runs[i].end - runs[i].begin));
    }
  });
  return order;
}

}  // namespace snapdiff::diff
