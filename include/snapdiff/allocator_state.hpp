#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "snapdiff/event_log.hpp"
#include "snapdiff/ids.hpp"

/// What a caching allocator (PyTorch's for CUDA and its kin) records beyond its live blocks: the
/// segments it holds, every block in them, and the events that led there. Flat columns; stack and
/// string ids are of the snapshot's dictionary.
namespace snapdiff {

/// Memory pool: (0, 0) is the default one, others are private (CUDA graphs, MemPool).
struct PoolId {
  std::int64_t first = 0;
  std::int64_t second = 0;
  friend auto operator<=>(const PoolId&, const PoolId&) = default;
};

inline constexpr std::uint8_t kSegmentSmall = 1;       ///< of the small pool: requests up to 1 MiB
inline constexpr std::uint8_t kSegmentExpandable = 2;  ///< one contiguous mapped run
inline constexpr std::uint8_t kSegmentHost = 4;        ///< pinned memory of the host, not of a device

/// Segments, in the order of the input. Blocks of segment s are rows block_begin[s] ..
/// block_begin[s + 1) of the block table. Sizes in bytes; the three besides `size` are what the
/// input states of the segment, -1 where it does not.
struct SegmentTable {
  std::vector<std::uint32_t> device;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> stated_allocated;
  std::vector<std::int64_t> stated_active;
  std::vector<std::int64_t> stated_requested;
  std::vector<std::uint32_t> stream;  ///< row of AllocatorState::streams
  std::vector<std::uint32_t> pool;    ///< row of AllocatorState::pools
  std::vector<std::uint8_t> flags;
  std::vector<StackId> stack;  ///< of the call that reserved it; 0 where unknown
  std::vector<std::uint64_t> block_begin{0};
  std::size_t size_rows() const { return address.size(); }
};

enum class BlockState : std::uint8_t {
  allocated,  ///< in use
  pending,    ///< freed by the program, held for another stream
  inactive,   ///< cached: free for the allocator's next request
};

/// Blocks, in the order of the input. `requested` is the bytes that were asked for; 0 for inactive
/// blocks, whatever the input says.
struct BlockTable {
  std::vector<std::uint32_t> segment;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> requested;
  std::vector<BlockState> state;
  std::vector<StackId> stack;  ///< of the allocation; 0 where none was recorded
  /// What each is for, as role_names.hpp numbers it; empty where that was not worked out.
  std::vector<std::uint8_t> role;
  std::size_t size_rows() const { return address.size(); }
};

/// The trace of one device, oldest event first. It may begin late: the recorder keeps the newest.
struct DeviceTrace {
  std::uint32_t device = 0;
  bool host = false;
  EventLog events;
  friend bool operator==(const DeviceTrace&, const DeviceTrace&) = default;
};

enum class AnnotationStage : std::uint8_t { start, end, other };

/// A mark on the time axis, e.g. `ProfilerStep#3`.
struct Annotation {
  StringId name{};
  AnnotationStage stage = AnnotationStage::other;
  std::uint32_t device = 0;
  std::int64_t time_us = kNoTime;
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

struct AllocatorState {
  SegmentTable segments;
  BlockTable blocks;
  std::vector<DeviceTrace> traces;     ///< by device, those of the host after
  std::vector<std::uint64_t> streams;  ///< raw stream handles, 0 is the default one; row 0 is 0
  std::vector<PoolId> pools;           ///< row 0 is (0, 0)
  std::vector<Annotation> annotations;
  std::vector<std::pair<std::string, std::string>> settings;  ///< as the input has them, values as text
  bool has_segments = false;                                  ///< false: only traces were written

  /// The trace of `device`, or null.
  const DeviceTrace* trace(std::uint32_t device, bool host = false) const {
    // A recorder lists its devices from 0 on: a question for each device need not search.
    if (!host && device < traces.size() && traces[device].device == device && !traces[device].host)
      return &traces[device];
    for (const DeviceTrace& trace : traces) {
      if (trace.device == device && trace.host == host) return &trace;
    }
    return nullptr;
  }
};

}  // namespace snapdiff
