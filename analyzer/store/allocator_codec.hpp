#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/bytes.hpp"
#include "analyzer/store/column_chunk.hpp"
#include "snapdiff/allocator_state.hpp"

/// Chunks of what a caching allocator tells: segments, blocks, events (README.md, "Allocator chunks").
/// Arithmetic is modulo 2^64, so whatever a table holds comes back.
namespace snapdiff::store {

constexpr std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
constexpr std::uint64_t bits(StackId stack) { return static_cast<std::uint64_t>(stack); }
constexpr std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Segments and blocks of one snapshot. Stack ids are the store's; BlockTable::segment follows from
/// SegmentTable::block_begin.
struct AllocatorTables {
  SegmentTable segments;
  BlockTable blocks;
};

struct EncodedTables {
  std::vector<std::string> segments;  ///< kChunkRows rows each
  std::vector<std::string> blocks;    ///< the same
  bool is_delta = false;              ///< some rows are told as rows of `before`
};

/// `before` may be null. Rows that are in it too, in all they say, cost next to nothing.
EncodedTables encode_tables(const AllocatorTables* before, const AllocatorTables& after);

/// Undoes encode_tables() chunk by chunk: all of the segments, then all of the blocks.
class TablesDecoder {
 public:
  /// `before` is null or what was given to encode_tables(), and must outlive the decoder.
  explicit TablesDecoder(const AllocatorTables* before);
  /// Throw malformed.
  void add_segments(std::string_view blob);
  void add_blocks(std::string_view blob);
  AllocatorTables finish();

 private:
  void add_role(std::uint8_t role);

  AllocatorTables nothing_;
  const AllocatorTables& before_;
  AllocatorTables after_;
};

/// Events of one trace, kChunkRows a chunk; a chunk can be read alone. TraceEvent::stack is whatever
/// 32-bit number the caller uses for it.
class EventChunkWriter {
 public:
  void add(const TraceEvent& event);
  std::size_t events() const { return events_; }
  bool is_full() const { return events_ == kChunkRows; }
  /// The blob; ready for the next chunk afterwards.
  std::string finish(int level);

 private:
  std::string columns_[6];  // heads, places, stacks, addresses, sizes, times
  TraceEvent last_;
  std::int64_t last_time_ = 0;
  std::size_t events_ = 0;
};

class EventChunkReader {
 public:
  /// Throws malformed.
  explicit EventChunkReader(std::string_view blob);
  std::size_t events() const { return events_; }
  /// False at the end. Throws malformed.
  bool next(TraceEvent& event);

 private:
  std::string buffer_;
  ByteReader heads_{{}}, places_{{}}, stacks_{{}}, addresses_{{}}, sizes_{{}}, times_{{}};
  TraceEvent last_;
  std::int64_t last_time_ = 0;
  std::size_t events_ = 0;
};

}  // namespace snapdiff::store
