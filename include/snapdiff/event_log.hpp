#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "snapdiff/checked.hpp"
#include "snapdiff/ids.hpp"

namespace snapdiff {

/// What an allocator did. The first seven change the state, the rest are remarks.
enum class TraceAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
  snapshot,
  unknown,
};

inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

/// One event of an allocator's trace.
///   address  of the block or range; for oom: the bytes that the device reported free
///   size     bytes: as requested for alloc and the frees, as reserved for the others
///   time_us  microseconds since 1970, kNoTime where not recorded; else below 2^62 in size
///   stack    stack 0 where none was recorded
///   stream   row of AllocatorState::streams;  pool  row of AllocatorState::pools
struct TraceEvent {
  TraceAction action = TraceAction::unknown;
  std::uint32_t stream = 0;
  std::uint32_t pool = 0;
  StackId stack{};
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::int64_t time_us = kNoTime;
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};

/// Events in their order, each coded against the one before it: a trace of ten million entries is
/// some 12 bytes an entry here and 48 as structs. Read front to back, or from any event on.
///
/// Code of an event: a byte (action, and which fields repeat), then as LEB128 what does not:
/// stream, pool, stack, address difference (in units of 512 bytes, which is what the allocator
/// rounds to; 1 = a plain difference follows), size difference, and 0 or 1 + time difference.
class EventLog {
 public:
  void append(const TraceEvent& event) {
    if (chunks_.empty() || chunks_.back().size() + kLongestCode > kChunkBytes) chunks_.emplace_back();
    // Grows with what is in it: a file may have a trace for each of thousands of devices.
    std::vector<std::uint8_t>& chunk = chunks_.back();
    if (chunk.size() + kLongestCode > chunk.capacity())
      chunk.reserve(std::min(std::max(kFirstBytes, 2 * chunk.capacity()), kChunkBytes));
    if (size_ % kStride == 0) marks_.push_back({chunks_.size() - 1, chunks_.back().size(), last_});
    std::uint8_t code[kLongestCode];
    std::uint8_t* out = code + 1;
    unsigned head = static_cast<unsigned>(event.action);
    if (event.stream != last_.stream || event.pool != last_.pool) {
      head |= kOtherStream;
      out = put(out, event.stream);
      out = put(out, event.pool);
    }
    if (event.stack != last_.stack) {
      head |= kOtherStack;
      out = put(out, index_of(event.stack));
    }
    if (event.address != last_.address) {
      head |= kOtherAddress;
      const auto difference = static_cast<std::int64_t>(event.address - last_.address);
      if ((difference & 511) == 0) {
        out = put(out, zigzag(difference / 512) << 1);
      } else {
        *out++ = 1;
        out = put(out, zigzag(difference));
      }
    }
    if (event.size != last_.size) {
      head |= kOtherSize;
      out = put(out, zigzag(wrapping_difference(event.size, last_.size)));
    }
    out = put(out, event.time_us == kNoTime ? 0 : 1 + zigzag(wrapping_difference(event.time_us, last_time(last_))));
    code[0] = static_cast<std::uint8_t>(head);
    chunks_.back().insert(chunks_.back().end(), code, out);
    step(event, last_);
    ++size_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Gives one event after the other. The log must outlive it and not grow.
  class Reader {
   public:
    /// False at the end.
    bool next(TraceEvent& event) {
      if (index_ == log_->size_) return false;
      if (at_ == log_->chunks_[chunk_].size()) {
        ++chunk_;
        at_ = 0;
      }
      const std::uint8_t* p = log_->chunks_[chunk_].data() + at_;
      const std::uint8_t* const start = p;
      const unsigned head = *p++;
      event = last_;
      event.action = static_cast<TraceAction>(head & 15U);
      if ((head & kOtherStream) != 0) {
        event.stream = static_cast<std::uint32_t>(take(p));
        event.pool = static_cast<std::uint32_t>(take(p));
      }
      if ((head & kOtherStack) != 0) event.stack = StackId{static_cast<std::uint32_t>(take(p))};
      if ((head & kOtherAddress) != 0) {
        const std::uint64_t coded = take(p);
        event.address += coded == 1 ? unzigzag(take(p)) : unzigzag(coded >> 1) * 512;
      }
      if ((head & kOtherSize) != 0) event.size = wrapping_sum(event.size, static_cast<std::int64_t>(unzigzag(take(p))));
      const std::uint64_t time = take(p);
      event.time_us =
          time == 0 ? kNoTime : wrapping_sum(last_time(last_), static_cast<std::int64_t>(unzigzag(time - 1)));
      at_ += static_cast<std::size_t>(p - start);
      step(event, last_);
      ++index_;
      return true;
    }
    /// Number of the event that next() gives next.
    std::size_t index() const { return index_; }

   private:
    friend class EventLog;
    const EventLog* log_ = nullptr;
    std::size_t chunk_ = 0;
    std::size_t at_ = 0;
    std::size_t index_ = 0;
    TraceEvent last_;
  };

  Reader read() const {
    Reader reader;
    reader.log_ = this;
    return reader;
  }

  /// A reader whose first event is number `index` <= size(); passes over 4095 events at most.
  Reader read_from(std::size_t index) const {
    Reader reader = read();
    if (index / kStride < marks_.size()) {
      const Mark& mark = marks_[index / kStride];
      reader.chunk_ = mark.chunk;
      reader.at_ = mark.at;
      reader.last_ = mark.last;
      reader.index_ = index / kStride * kStride;
    } else if (!marks_.empty()) {
      reader = read_from((marks_.size() - 1) * kStride);
    }
    TraceEvent skipped;
    while (reader.index_ < index && reader.next(skipped)) {
    }
    return reader;
  }

  /// Bytes in memory, for statistics.
  std::size_t memory_bytes() const {
    std::size_t bytes = marks_.size() * sizeof(Mark);
    for (const std::vector<std::uint8_t>& chunk : chunks_) bytes += chunk.capacity();
    return bytes;
  }

  friend bool operator==(const EventLog& a, const EventLog& b) { return a.size_ == b.size_ && a.chunks_ == b.chunks_; }

 private:
  static constexpr std::size_t kStride = 4096;
  static constexpr std::size_t kFirstBytes = 128;
  static constexpr std::size_t kChunkBytes = 256 * 1024;
  static constexpr std::size_t kLongestCode = 1 + 5 + 5 + 5 + 11 + 10 + 10;
  static constexpr unsigned kOtherStream = 16;
  static constexpr unsigned kOtherStack = 32;
  static constexpr unsigned kOtherAddress = 64;
  static constexpr unsigned kOtherSize = 128;

  struct Mark {
    std::size_t chunk = 0;
    std::size_t at = 0;
    TraceEvent last;
  };

  /// What the next event is coded against: `event`, with the last known time where it has none.
  static void step(const TraceEvent& event, TraceEvent& last) {
    const std::int64_t time = event.time_us == kNoTime ? last.time_us : event.time_us;
    last = event;
    last.time_us = time;
  }
  static std::int64_t last_time(const TraceEvent& last) { return last.time_us == kNoTime ? 0 : last.time_us; }
  static std::uint64_t zigzag(std::int64_t v) {
    return (static_cast<std::uint64_t>(v) << 1) ^ (v < 0 ? ~std::uint64_t{0} : 0);
  }
  static std::uint64_t unzigzag(std::uint64_t v) { return (v >> 1) ^ (0 - (v & 1)); }
  static std::uint8_t* put(std::uint8_t* out, std::uint64_t v) {
    for (; v >= 128; v >>= 7) *out++ = static_cast<std::uint8_t>(v | 128);
    *out++ = static_cast<std::uint8_t>(v);
    return out;
  }
  static std::uint64_t take(const std::uint8_t*& p) {
    std::uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint64_t byte = *p++;
      v |= (byte & 127) << shift;
      if (byte < 128) return v;
    }
  }

  std::vector<std::vector<std::uint8_t>> chunks_;
  std::vector<Mark> marks_;
  TraceEvent last_;
  std::size_t size_ = 0;
};

}  // namespace snapdiff
