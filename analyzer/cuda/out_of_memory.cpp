#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/base/contains.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/pinning.hpp"
#include "analyzer/base/validate.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/stack_phase.hpp"
#include "analyzer/cuda/trace.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::int64_t kBytesPerMiB = 1024 * 1024;
constexpr std::size_t kMostHolders = 3;
constexpr std::int64_t kSmallRequest = kBytesPerMiB;  // c10/cuda/CUDACachingAllocator.h: kSmallSize

std::int64_t round_up(std::int64_t size, std::int64_t unit) {
  if (size > std::numeric_limits<std::int64_t>::max() - unit) return size;
  return (size + unit - 1) / unit * unit;
}

bool is_expandable(const AllocatorState& state) {
  return std::any_of(state.settings.begin(), state.settings.end(), [](const auto& setting) {
    const std::string& value = setting.second;
    return setting.first == "expandable_segments" && (value == "True" || value == "true" || value == "1");
  });
}

/// The size that the allocator asks of the driver if no cached block fits (get_allocation_size there).
std::int64_t new_segment(std::int64_t asked, bool expandable) {
  if (asked <= kSmallRequest) return 2 * kBytesPerMiB;
  if (expandable) return round_up(asked, 20 * kBytesPerMiB);
  return asked < 10 * kBytesPerMiB ? 20 * kBytesPerMiB : round_up(asked, 2 * kBytesPerMiB);
}

/// Sums that stay at the end of 64 bits: sizes of events were not summed at import.
void add_up(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

void measure_free(const AllocatorState& layout, const Failure& failure, OutOfMemory& out) {
  const SegmentTable& segments = layout.segments;
  const bool small = out.asked <= kSmallRequest;
  for (std::size_t s = 0; s < segments.size_rows(); ++s) {
    const bool same_pool = segments.pool[s] == failure.event.pool;
    const bool same_stream = segments.stream[s] == failure.event.stream;
    const bool same_class = ((segments.flags[s] & kSegmentSmall) != 0) == small;
    FreeBytes& free = !same_pool     ? out.other_pools
                      : !same_stream ? out.other_streams
                      : !same_class  ? out.other_size
                                     : out.usable;
    for (std::size_t b = segments.block_begin[s]; b < segments.block_begin[s + 1]; ++b) {
      if (layout.blocks.state[b] == BlockState::inactive) free.add(layout.blocks.size[b]);
    }
  }
}

/// Who keeps free memory from the driver (snapdiff/pinning.hpp), by line.
class Holders {
 public:
  explicit Holders(const Dictionary& dictionary) : dictionary_(dictionary), phases_(dictionary) {}

  /// Of one layout; by segment.
  void add(const SegmentHolder& part) {
    if (part.pinned == 0) return;
    Sum& sum = holders_[key_of(part.stack)];
    add_up(sum.holder.live, part.bytes);
    add_up(sum.holder.free, part.pinned);
    if (sum.holder.segments == 0 || sum.last != part.segment) ++sum.holder.segments;
    sum.last = part.segment;
  }

  std::vector<CacheHolder> most() {
    std::vector<CacheHolder> out;
    for (auto& [key, sum] : holders_) {
      CacheHolder& holder = sum.holder;
      if (key) {
        holder.function = dictionary_.strings[dictionary_.functions.name[key->first]];
        holder.line = {std::string(dictionary_.strings[dictionary_.functions.file[key->first]]), key->second};
      }
      out.push_back(std::move(holder));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const CacheHolder& a, const CacheHolder& b) { return a.free > b.free; });
    if (out.size() > kMostHolders) out.resize(kMostHolders);
    return out;
  }

 private:
  using Key = std::optional<std::pair<std::size_t, std::int32_t>>;  // function and line
  struct Sum {
    CacheHolder holder;
    std::size_t last = 0;  // segment
  };

  const Key& key_of(StackId stack) {
    const auto [at, is_new] = keys_.try_emplace(stack);
    if (is_new) at->second = look_at(stack);
    return at->second;
  }

  Key look_at(StackId stack) {
    for (const FrameId frame : dictionary_.stacks.frames(stack)) {
      const StackPhases::Mark mark = phases_.mark_of(frame);
      if (mark != StackPhases::Mark::python && mark != StackPhases::Mark::forward) continue;
      const std::size_t function = index_of(dictionary_.frames.function[index_of(frame)]);
      const auto [at, is_new] = of_torch_nn_.try_emplace(function);
      if (is_new) {
        const std::string_view file = dictionary_.strings[dictionary_.functions.file[function]];
        at->second = contains(file, "torch/nn/") || contains(file, "torch\\nn\\");
      }
      if (!at->second) return std::pair(function, dictionary_.frames.line[index_of(frame)]);
    }
    return {};
  }

  const Dictionary& dictionary_;
  StackPhases phases_;
  std::map<StackId, Key> keys_;
  std::map<std::size_t, bool> of_torch_nn_;  // by function: a long name is read once
  std::map<Key, Sum> holders_;
};

void measure_cached(const AllocatorState& layout, const Dictionary& dictionary, OutOfMemory& out) {
  out.cached = cached_of(layout);
  Holders holders(dictionary);
  for (const SegmentHolder& part : segment_holders(layout)) holders.add(part);
  out.holders = holders.most();
}

/// Sizes as numbers that cannot overflow when a few are added: they only decide and are printed.
__extension__ using Wide = __int128;

class Judge {
 public:
  explicit Judge(const OutOfMemory& o) : o_(o), room_(Wide{*o.reserved} + o.device_free) {}

  std::pair<OutOfMemoryReason, std::string> verdict() const {
    using R = OutOfMemoryReason;
    const std::string room = bytes(room_) + " reserved or free on the device";
    const Wide asked = o_.asked;
    if (Wide{o_.requested} + asked > room_)
      return {R::exhausted, "real exhaustion: " + bytes(asked) + " requested and " + bytes(o_.requested) +
                                " in use are " + bytes(o_.requested + asked - room_) + " more than the " + room +
                                ": too large even without fragmentation"};
    if (Wide{o_.allocated} + asked > room_)
      return {R::rounding, "rounding: what is in use was asked for as " + bytes(o_.requested) + " and takes " +
                               bytes(o_.allocated) + "; with the " + bytes(o_.rounding()) +
                               " between, the request would fit into the " + room};
    if (Wide{o_.allocated} + o_.pending + asked > room_)
      return {R::other_streams, "other streams: " + bytes(o_.pending) +
                                    " were freed but wait for another stream; with them the request would fit"};
    if (o_.usable.largest >= o_.asked)
      return {R::unknown, "not explained: a free block of " + bytes(o_.usable.largest) + " was there for it; " +
                              not_exact("the figures do not explain the failure")};
    if (o_.device_free >= o_.segment)
      return {R::unknown, "not explained: the device reported " + bytes(o_.device_free) +
                              " free and a new segment takes " + bytes(o_.segment) +
                              "; a limit set for the process would explain it"};
    return where_enough_is_free();
  }

 private:
  /// Enough is free in all. One place that has enough names the reason, the one with most first.
  std::pair<OutOfMemoryReason, std::string> where_enough_is_free() const {
    using R = OutOfMemoryReason;
    struct Place {
      R reason;
      std::int64_t bytes;
    };
    std::array<Place, 3> places = {{{R::fragmentation, o_.usable.bytes},
                                    {R::private_pools, o_.other_pools.bytes},
                                    {R::other_streams, o_.other_streams.bytes}}};
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.bytes > b.bytes; });
    const std::string segment =
        "; a new segment takes " + bytes(o_.segment) + " and the device had " + bytes(o_.device_free);
    if (places[0].bytes >= o_.asked) {
      if (places[0].reason == R::fragmentation)
        return {R::fragmentation, "fragmentation: " + free_text(o_.usable) + ", the largest " +
                                      bytes(o_.usable.largest) + ", none of " + bytes(o_.asked) + segment};
      if (places[0].reason == R::private_pools)
        return {R::private_pools, "private pools: " + free_text(o_.other_pools) +
                                      " in other memory pools, which cannot serve it" + segment};
      return {R::other_streams,
              "other streams: " + free_text(o_.other_streams) + " in segments of other streams" + segment};
    }
    if (o_.device_free >= o_.asked)
      return {R::rounding, "rounding: the device had " + bytes(o_.device_free) +
                               ", enough for the request, but a new segment for it takes " + bytes(o_.segment)};
    std::string text = "several: no one place has enough. Free for it " + bytes(o_.usable.bytes) + ", on the device " +
                       bytes(o_.device_free);
    if (o_.other_streams.bytes > 0) text += ", of other streams " + bytes(o_.other_streams.bytes);
    if (o_.other_pools.bytes > 0) text += ", in other pools " + bytes(o_.other_pools.bytes);
    if (o_.other_size.bytes > 0)
      text += std::string(", in segments for ") + (o_.asked <= kSmallRequest ? "large" : "small") + " blocks " +
              bytes(o_.other_size.bytes);
    return {R::several, text};
  }

  std::string not_exact(const std::string& otherwise) const {
    return o_.exact ? otherwise : "its size is worked out from later events and may be too large";
  }
  static std::string bytes(Wide value) {
    constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
    return bytes_text(static_cast<std::int64_t>(std::min(value, kMost)));
  }
  static std::string free_text(const FreeBytes& free) {
    return bytes(free.bytes) + " are free in " + count_text(free.blocks) + (free.blocks == 1 ? " block" : " blocks");
  }

  const OutOfMemory& o_;
  Wide room_;
};

}  // namespace

Result<std::optional<OutOfMemory>> out_of_memory(const Snapshot& snapshot, TraceRef ref) {
  const DeviceTrace* const trace = find_trace(snapshot, ref);
  if (trace == nullptr) return std::optional<OutOfMemory>{};
  const std::optional<Failure> failure = last_failure(trace->events);
  if (!failure) return std::optional<OutOfMemory>{};
  const AllocatorState& state = *snapshot.allocator;
  if (!validate_event(failure->event, state, *snapshot.dictionary))
    return Error{ErrorCode::malformed, "event names a stack, stream or pool that does not exist"};
  OutOfMemory out;
  out.device = ref.device;
  out.event = failure->before;
  out.events = trace->events.size();
  out.failures = failure->count;
  out.time_us = failure->event.time_us;
  if (out.time_us != kNoTime && failure->start_us != kNoTime) out.after_us = out.time_us - failure->start_us;
  out.asked = failure->event.size;
  out.segment = new_segment(out.asked, is_expandable(state));
  out.stream = state.streams[failure->event.stream];
  out.pool = state.pools[failure->event.pool];
  out.device_free = static_cast<std::int64_t>(
      std::min<std::uint64_t>(failure->event.address, std::numeric_limits<std::int64_t>::max()));

  const auto take = [&out](const LiveSet& live) {
    out.blocks = live.blocks;
    out.allocated = live.bytes;
    out.requested = live.requested;
    for (const LiveRow& row : live.rows) add_up(out.pending, row.pending ? row.bytes : 0);
  };
  if (!state.has_segments) {
    Result<LiveSet> live = live_set(snapshot, ref, failure->before);
    if (!live) return std::move(live).error();
    take(*live);
    out.sentence = "not explained: the snapshot holds no segments, so what the allocator had reserved is not recorded";
    return std::optional(out);
  }
  Result<Layout> layout = layout_at(snapshot, ref, failure->before);
  if (!layout) return std::move(layout).error();
  take(layout->live);
  out.reserved = layout->live.reserved;
  out.exact = layout->exact;
  measure_free(layout->state, *failure, out);
  measure_cached(layout->state, *snapshot.dictionary, out);
  std::tie(out.reason, out.sentence) = Judge(out).verdict();
  return std::optional(out);
}

}  // namespace snapdiff::cuda
