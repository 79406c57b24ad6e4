#include "analyzer/diff/row_order.hpp"

#include <algorithm>

#include "analyzer/base/buckets.hpp"
#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"

namespace snapdiff::diff {
namespace {

/// Keeps the order of signed numbers when compared as unsigned.
std::uint64_t ordered(std::int64_t x) { return static_cast<std::uint64_t>(x) ^ (std::uint64_t{1} << 63); }

struct Run {
  std::size_t begin, end;
};

/// Runs of several items with one key; the first item is number `first`.
std::vector<Run> equal_runs(const std::vector<SortItem>& items, std::size_t first) {
  return listed_in_blocks<Run>(items.size(), [&](std::size_t begin, std::size_t last, std::vector<Run>& runs) {
    for (std::size_t i = begin; i < last; ++i) {
      if (i > 0 && items[i].key == items[i - 1].key) continue;
      std::size_t end = i + 1;
      while (end < items.size() && items[end].key == items[i].key) ++end;
      if (end - i > 1) runs.push_back({first + i, first + end});
    }
  });
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

}  // namespace

void sort_items(std::vector<SortItem>& items) {
  constexpr std::size_t kFew = 2048;
  if (items.size() < kFew) {
    std::stable_sort(items.begin(), items.end(), [](const SortItem& a, const SortItem& b) { return a.key < b.key; });
    return;
  }
  constexpr int kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::vector<SortItem> other;
  resize_on_all_cores(other, items.size());
  Buckets buckets(items.size(), kBuckets);
  for (int shift = 0; shift < 64; shift += kBits) {
    const auto bucket_of = [&](std::size_t i) { return (items[i].key >> shift) & (kBuckets - 1); };
    buckets.count(bucket_of);
    if (buckets.all_in(bucket_of(0))) continue;
    buckets.distribute(bucket_of, [&](std::size_t i, std::uint32_t place) { other[place] = items[i]; });
    items.swap(other);
  }
}

void RowKeys::resize(SortKey by, std::size_t rows) {
  resize_on_all_cores(key, rows);
  if (by != SortKey::name) resize_on_all_cores(size, rows);
}

void RowKeys::set(SortKey by, std::size_t row, const Change& value, const Change& objects) {
  key[row] = sort_key(by, value, objects);
  if (by != SortKey::name) size[row] = ~ordered(std::max(value.baseline, value.current));
}

std::vector<std::uint32_t> order_rows(const RowKeys& keys,
                                      const std::function<void(std::span<std::uint32_t>)>& sort_ties) {
  std::vector<SortItem> items;
  resize_on_all_cores(items, keys.key.size());
  for_each_block(items.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) items[i] = {keys.key[i], static_cast<std::uint32_t>(i)};
  });
  sort_items(items);
  std::vector<std::uint32_t> order;
  resize_on_all_cores(order, items.size());
  for_each_block(items.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) order[i] = items[i].row;
  });
  std::vector<Run> runs = equal_runs(items, 0);
  if (!keys.size.empty()) {
    std::vector<Run> left;
    std::vector<SortItem> tied;
    for (const Run& run : runs) {
      tied.clear();
      for (std::size_t i = run.begin; i < run.end; ++i) tied.push_back({keys.size[order[i]], order[i]});
      sort_items(tied);
      for (std::size_t i = run.begin; i < run.end; ++i) order[i] = tied[i - run.begin].row;
      const std::vector<Run> equal = equal_runs(tied, run.begin);
      left.insert(left.end(), equal.begin(), equal.end());
    }
    runs = std::move(left);
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
  for_each_parallel(shares.size() - 1, items.size(), [&](std::size_t share) {
    for (std::size_t i = shares[share]; i < shares[share + 1]; ++i) {
      sort_ties(std::span(order).subspan(runs[i].begin, runs[i].end - runs[i].begin));
    }
  });
  return order;
}

}  // namespace snapdiff::diff
