#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/snapshot.hpp"

/// Sample chunks: the rows of one snapshot, whole (a key) or as changes against the snapshot
/// imported before it into its series (README.md, "Sample chunks"). Ids in these tables are the
/// store's. Arithmetic is modulo 2^64, so every int64 comes back.
namespace snapdiff::store {

/// For each column the earlier count column whose objects its bytes belong to, or -1: inuse_space
/// belongs to inuse_objects; else a "bytes" column to a "count" column right before it.
std::vector<int> count_column_of(const std::vector<Column>& columns);

/// A row of `before` that became a row of `after`; kNoRow on one side where it is new or gone.
struct ChangedRow {
  static constexpr std::uint32_t kNoRow = 0xffffffffU;
  std::uint32_t before = kNoRow;
  std::uint32_t after = kNoRow;
};

/// Rows that differ, in row order. Both tables have columns of equal types.
std::vector<ChangedRow> changed_rows(const SampleTable& before, const SampleTable& after);

/// All rows of `after`, as changes against nothing.
std::vector<ChangedRow> all_rows(const SampleTable& after);

/// The blobs of the chunks, kChunkRows changed rows each.
std::vector<std::string> encode_samples(const SampleTable& before, const SampleTable& after,
                                        const std::vector<ChangedRow>& rows);

/// Undoes encode_samples() chunk by chunk, in order.
class SampleDecoder {
 public:
  /// `before` has to outlive it; an empty table with the right columns for a key. `rows`: how many there will be, as
  /// far as is known.
  explicit SampleDecoder(const SampleTable& before, std::size_t rows = 0);
  /// Throws malformed.
  void add_chunk(std::string_view blob);
  SampleTable finish();

 private:
  void copy_until(std::uint64_t key);

  const SampleTable& before_;
  SampleTable after_;
  std::size_t next_ = 0;  // first row of before_ not yet copied or replaced
  std::uint64_t last_key_ = 0;
  bool any_ = false;
};

/// The (stack, labels) keys that a chunk of `columns` columns speaks of, as stack << 32 | labels.
std::vector<std::uint64_t> chunk_keys(std::string_view blob, std::size_t columns);

}  // namespace snapdiff::store
