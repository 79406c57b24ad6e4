#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "analyzer/base/parallel.hpp"

namespace snapdiff {

/// Sorts rows into buckets on all cores; rows of one bucket stay in their order. Fewer than 2^32 rows.
class Buckets {
 public:
  Buckets(std::size_t rows, std::size_t buckets)
      : rows_(rows), buckets_(buckets), at_(blocks_of(rows) * buckets), begin_(buckets + 1) {}

  /// Counts; bucket_of(row) is below the number of buckets. Several threads call it.
  template <class BucketOf>
  void count(BucketOf bucket_of) {
    at_.assign(at_.size(), 0);
    for_each_block(rows_, [&](std::size_t block, std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) ++at_[block * buckets_ + bucket_of(row)];
    });
    std::vector<std::uint32_t> next(buckets_ + 1, 0);
    for (std::size_t block = 0; block < at_.size(); block += buckets_) {
      for (std::size_t bucket = 0; bucket < buckets_; ++bucket) next[bucket + 1] += at_[block + bucket];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    begin_ = next;
    for (std::size_t block = 0; block < at_.size(); block += buckets_) {
      for (std::size_t bucket = 0; bucket < buckets_; ++bucket)
        next[bucket] += std::exchange(at_[block + bucket], next[bucket]);
    }
  }

  /// Rows of a bucket are at begin(bucket) .. begin(bucket + 1) - 1.
  std::uint32_t begin(std::size_t bucket) const { return begin_[bucket]; }
  bool all_in(std::size_t bucket) const { return begin_[bucket + 1] - begin_[bucket] == rows_; }

  /// Calls put(row, place) for each row, once after each count(), from several threads.
  template <class BucketOf, class Put>
  void distribute(BucketOf bucket_of, Put put) {
    for_each_block(rows_, [&](std::size_t block, std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) put(row, at_[block * buckets_ + bucket_of(row)]++);
    });
  }

 private:
  std::size_t rows_, buckets_;
  std::vector<std::uint32_t> at_;  // of each block in each bucket: rows, then the place of the next
  std::vector<std::uint32_t> begin_;
};

}  // namespace snapdiff
