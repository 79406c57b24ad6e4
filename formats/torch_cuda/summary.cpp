#include <tuple>

#include "analyzer/base/contains.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/pinning.hpp"
#include "formats/input/type_row.hpp"
#include "formats/torch_cuda/records.hpp"

// Makes rows, counters and checks of the state that was read.
namespace snapdiff::formats::torch_cuda {
namespace {

/// The numbers that README.md defines, for one device or all. Bytes and counts.
struct Numbers {
  std::int64_t reserved = 0;
  std::int64_t allocated = 0;
  std::int64_t active = 0;
  std::int64_t requested = 0;
  std::int64_t inactive_split = 0;
  std::int64_t releasable = 0;
  std::int64_t private_inactive = 0;
  std::int64_t largest_inactive = 0;
  std::int64_t segments = 0;
  std::int64_t blocks = 0;
  std::int64_t live_blocks = 0;
};

void add(std::int64_t& sum, std::int64_t value) { add_to(sum, value, "sum of sizes is"); }

/// Sums over the blocks of one segment.
struct SegmentSums {
  std::int64_t all = 0;
  std::int64_t allocated = 0;
  std::int64_t active = 0;
  std::int64_t requested = 0;         // of allocated blocks
  std::int64_t active_requested = 0;  // what the input calls requested_size of a segment
  std::int64_t inactive = 0;
  std::int64_t largest_inactive = 0;
  std::int64_t live = 0;
};

SegmentSums sums_of(const AllocatorState& state, std::size_t segment) {
  SegmentSums sums;
  const BlockTable& blocks = state.blocks;
  for (std::size_t b = state.segments.block_begin[segment]; b < state.segments.block_begin[segment + 1]; ++b) {
    add(sums.all, blocks.size[b]);
    if (blocks.state[b] == BlockState::inactive) {
      add(sums.inactive, blocks.size[b]);
      sums.largest_inactive = std::max(sums.largest_inactive, blocks.size[b]);
      continue;
    }
    add(sums.active, blocks.size[b]);
    add(sums.active_requested, blocks.requested[b]);
    if (blocks.state[b] != BlockState::allocated) continue;
    add(sums.allocated, blocks.size[b]);
    add(sums.requested, blocks.requested[b]);
    ++sums.live;
  }
  return sums;
}

void check_segment(const AllocatorState& state, std::size_t segment, const SegmentSums& sums, Notes& notes) {
  const SegmentTable& segments = state.segments;
  const auto warn = [&notes](std::string_view text) { notes.add(Severity::warning, text); };
  if (sums.all != segments.size[segment]) warn("segment whose blocks do not add up to its total_size");
  const auto differs = [segment](const std::vector<std::int64_t>& stated, std::int64_t sum) {
    return stated[segment] >= 0 && stated[segment] != sum;
  };
  if (differs(segments.stated_allocated, sums.allocated))
    warn("segment whose allocated_size is not the sum of its allocated blocks");
  if (differs(segments.stated_active, sums.active))
    warn("segment whose active_size is not the sum of its active blocks");
  if (differs(segments.stated_requested, sums.active_requested))
    warn("segment whose requested_size is not the sum of its active blocks");
  if (segments.stated_active[segment] > segments.size[segment]) warn("segment with active_size beyond its total_size");
}

void check_overlaps(const AllocatorState& state, Notes& notes) {
  const SegmentTable& segments = state.segments;
  std::vector<std::uint32_t> order(segments.size_rows());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t s) {
    return std::tuple(segments.flags[s] & kSegmentHost, segments.device[s], segments.address[s], s);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::uint64_t limit = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t s = order[i];
    const bool same_space = i > 0 && segments.device[order[i - 1]] == segments.device[s] &&
                            ((segments.flags[order[i - 1]] ^ segments.flags[s]) & kSegmentHost) == 0;
    if (!same_space) limit = 0;
    if (same_space && segments.address[s] < limit)
      notes.add(Severity::warning, "segment that overlaps the one before it in address space");
    const std::uint64_t end = segments.address[s] + static_cast<std::uint64_t>(segments.size[s]);
    limit = std::max(limit, end < segments.address[s] ? ~std::uint64_t{0} : end);
  }
}

/// The label sets of rows: device, stream, pool, and state where it is not "allocated".
class RowLabels {
 public:
  RowLabels(const AllocatorState& state, SnapshotBuilder& builder) : state_(state), builder_(builder) {}

  LabelSetId of(std::size_t segment, bool pending) {
    const SegmentTable& s = state_.segments;
    const bool host = (s.flags[segment] & kSegmentHost) != 0;
    const Key key{host, s.device[segment], s.stream[segment], s.pool[segment], pending};
    const auto found = made_.find(key);
    if (found != made_.end()) return found->second;
    const std::uint64_t stream = state_.streams[s.stream[segment]];
    const PoolId pool = state_.pools[s.pool[segment]];
    std::vector<Label> set;
    set.push_back(label("device", host ? "host" : std::to_string(s.device[segment])));
    set.push_back(label("stream", stream == 0 ? "0" : hex_text(stream)));
    set.push_back(label("pool", "(" + std::to_string(pool.first) + ", " + std::to_string(pool.second) + ")"));
    if (pending) set.push_back(label("state", "pending"));
    return made_[key] = builder_.labels(std::move(set));
  }

 private:
  using Key = std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t, bool>;
  Label label(std::string_view key, std::string_view text) { return text_label(builder_, key, text); }
  const AllocatorState& state_;
  SnapshotBuilder& builder_;
  std::map<Key, LabelSetId> made_;
};

void add_rows(const AllocatorState& state, bool host, SnapshotBuilder& builder) {
  constexpr std::size_t kDeviceColumns = 7;
  constexpr std::size_t kHostColumns = 2;
  builder.add_heap_columns();
  for (const char* name : {"requested_space", "active_space", "pending_space", "pinned_space", "sole_space"})
    builder.add_column({name, "bytes"});
  if (host) {
    builder.add_column({"host_inuse_objects", "count"});
    builder.add_column({"host_inuse_space", "bytes"});
  }
  RowLabels labels(state, builder);
  const BlockTable& blocks = state.blocks;
  for (std::size_t b = 0; b < blocks.size_rows(); ++b) {
    if (blocks.state[b] == BlockState::inactive) continue;
    const std::size_t segment = blocks.segment[b];
    const bool pending = blocks.state[b] == BlockState::pending;
    const StackId stack = blocks.stack[b] == StackId{} ? builder.pseudo_stack(kNoStackRecorded) : blocks.stack[b];
    std::array<std::int64_t, kDeviceColumns + kHostColumns> values{};
    if ((state.segments.flags[segment] & kSegmentHost) != 0) {
      if (!pending) {
        values[kDeviceColumns] = 1;
        values[kDeviceColumns + 1] = blocks.size[b];
      }
    } else {
      values[3] = blocks.size[b];
      if (pending) {
        values[4] = blocks.size[b];
      } else {
        values[0] = 1;
        values[1] = blocks.size[b];
        values[2] = blocks.requested[b];
      }
    }
    builder.add_row(stack, labels.of(segment, pending),
                    std::span(values.data(), kDeviceColumns + (host ? kHostColumns : 0)));
  }
  for (const SegmentHolder& holder : segment_holders(state)) {
    if (holder.pinned == 0 && !holder.sole) continue;
    const StackId stack = holder.stack == StackId{} ? builder.pseudo_stack(kNoStackRecorded) : holder.stack;
    std::array<std::int64_t, kDeviceColumns + kHostColumns> values{};
    values[kDeviceColumns - 2] = holder.pinned;
    if (holder.sole) values[kDeviceColumns - 1] = state.segments.size[holder.segment];
    builder.add_row(stack, labels.of(holder.segment, holder.pending),
                    std::span(values.data(), kDeviceColumns + (host ? kHostColumns : 0)));
  }
}

void add_counters(const std::string& prefix, const Numbers& n, std::vector<Counter>& counters) {
  const auto add = [&](std::string_view name, std::int64_t value, const char* unit = "bytes") {
    counters.push_back({prefix + std::string(name), value, unit, false});
  };
  add("reserved", n.reserved);
  add("allocated", n.allocated);
  add("active", n.active);
  add("requested", n.requested);
  add("rounding", n.allocated - n.requested);
  add("cached", n.reserved - n.active);
  add("inactive_split", n.inactive_split);
  add("releasable", n.releasable);
  add("private_pool_inactive", n.private_inactive);
  add("largest_inactive", n.largest_inactive);
  add("segments", n.segments, "count");
  add("blocks", n.blocks, "count");
  add("live_blocks", n.live_blocks, "count");
}

void add_segment(const AllocatorState& state, std::size_t segment, const SegmentSums& sums, Numbers& n) {
  const SegmentTable& segments = state.segments;
  const std::uint64_t blocks = segments.block_begin[segment + 1] - segments.block_begin[segment];
  add(n.reserved, segments.size[segment]);
  add(n.allocated, sums.allocated);
  add(n.active, sums.active);
  add(n.requested, sums.requested);
  if (blocks > 1 && (segments.flags[segment] & kSegmentExpandable) == 0) add(n.inactive_split, sums.inactive);
  if (blocks == 1) add(n.releasable, sums.inactive);
  if (state.pools[segments.pool[segment]] != PoolId{}) add(n.private_inactive, sums.inactive);
  n.largest_inactive = std::max(n.largest_inactive, sums.largest_inactive);
  ++n.segments;
  n.blocks += static_cast<std::int64_t>(blocks);
  n.live_blocks += sums.live;
}

/// A sign of a kind of device. Python's torch/cuda serves ROCm as well, so it is a sign of neither.
struct Sign {
  std::string_view kind;
  std::string_view function;  ///< a part of its name
  std::string_view file;      ///< a part of a Python file's path
  std::string_view setting;   ///< a whole name
};

constexpr Sign kSigns[] = {
    {"xpu", "c10::xpu::", "torch/xpu/", ""},
    {"mtia", "at::mtia::", "torch/mtia/", ""},
    {"rocm", "c10::hip::", "", "PYTORCH_HIP_ALLOC_CONF"},
    {"rocm", "HIPCachingAllocator", "", ""},
    {"rocm", "rocblas", "", ""},
    {"rocm", "hipblas", "", ""},
    {"cuda", "c10::cuda::", "", "PYTORCH_CUDA_ALLOC_CONF"},
};
constexpr std::array<std::string_view, 4> kKinds = {"xpu", "mtia", "rocm", "cuda"};

/// What kind of device a snapshot is of, as functions and files of its stacks and the names of its settings say: "xpu",
/// "mtia", "rocm" or "cuda"; "" where nothing says so. The pickle is the same for all of them and names none.
std::string_view device_kind(const Dictionary& dictionary, const AllocatorState& state) {
  std::array<bool, kKinds.size()> found{};
  const auto meet = [&](const auto& says) {
    for (const Sign& sign : kSigns) {
      const auto at = std::find(kKinds.begin(), kKinds.end(), sign.kind);
      bool& known = found[static_cast<std::size_t>(at - kKinds.begin())];
      known = known || says(sign);
    }
  };
  for (std::size_t f = 1; f < dictionary.functions.size(); ++f) {
    const std::string_view name = dictionary.strings[dictionary.functions.name[f]];
    const std::string_view file = dictionary.strings[dictionary.functions.file[f]];
    meet([&](const Sign& sign) {
      return contains(name, sign.function) || (!sign.file.empty() && contains(file, sign.file));
    });
  }
  for (const auto& [key, value] : state.settings)
    meet([&key = key](const Sign& sign) { return !sign.setting.empty() && key == sign.setting; });
  const auto at = std::find(found.begin(), found.end(), true);
  return at == found.end() ? std::string_view() : kKinds[static_cast<std::size_t>(at - found.begin())];
}

void add_time(const AllocatorState& state, SnapshotFacts& facts) {
  std::int64_t newest = kNoTime;
  for (const DeviceTrace& trace : state.traces) {
    if (trace.events.empty()) continue;
    EventLog::Reader last = trace.events.read_from(trace.events.size() - 1);
    TraceEvent event;
    if (last.next(event)) newest = std::max(newest, event.time_us);
  }
  std::int64_t ns = 0;
  if (newest > 0 && !__builtin_mul_overflow(newest, std::int64_t{1000}, &ns)) facts.taken_at_ns = ns;
}

void add_trace_notes(const AllocatorState& state, SnapshotFacts& facts) {
  std::uint64_t events = 0;
  for (const DeviceTrace& trace : state.traces) {
    events += trace.events.size();
    facts.counters.push_back(
        {(trace.host ? "host.trace_events" : "device" + std::to_string(trace.device) + ".trace_events"),
         static_cast<std::int64_t>(trace.events.size()), "count", false});
    if (!trace.host && trace.events.size() == 1)
      facts.notes.add(Severity::info, "trace of a single entry: the recorder kept the state only, not the history");
  }
  facts.counters.push_back({"trace_events", static_cast<std::int64_t>(events), "count", false});
}

}  // namespace

std::string_view layout_letter(const SeenKeys& seen) {
  if (seen.bare_list) return "A";
  if (seen.history) return "B";
  if (seen.pool_id || seen.host) return "G";
  if (seen.compile_context) return "F";
  if (seen.settings || seen.annotations) return "E";
  if (seen.time) return "D";
  return "C";
}

void summarize(const AllocatorState& state, const SeenKeys& seen, std::string_view detail, SnapshotBuilder& builder) {
  SnapshotFacts& facts = builder.facts();
  Numbers total;
  std::map<std::pair<bool, std::uint32_t>, Numbers> devices;
  for (std::size_t s = 0; s < state.segments.size_rows(); ++s) {
    const SegmentSums sums = sums_of(state, s);
    check_segment(state, s, sums, facts.notes);
    const bool host = (state.segments.flags[s] & kSegmentHost) != 0;
    add_segment(state, s, sums, devices[{host, host ? 0 : state.segments.device[s]}]);
    if (!host) add_segment(state, s, sums, total);
  }
  check_overlaps(state, facts.notes);
  add_rows(state, seen.host, builder);
  add_counters("", total, facts.counters);
  for (const auto& [device, numbers] : devices)
    add_counters(device.first ? "host." : "device" + std::to_string(device.second) + ".", numbers, facts.counters);
  add_trace_notes(state, facts);
  add_time(state, facts);
  exact_facts(builder, "pytorch", "layout " + std::string(layout_letter(seen)) + ", " + std::string(detail));
  if (const std::string_view kind = device_kind(builder.dictionary(), state); !kind.empty() && kind != "cuda") {
    facts.format_detail += ", of a device of " + std::string(kind == "rocm" ? "ROCm" : kind == "xpu" ? "XPU" : "MTIA");
    facts.labels["device_type"] = kind;
  }
  for (const auto& [key, value] : state.settings) {
    if (!value.empty()) facts.comments.push_back(key + " = " + value);
  }
  if (!state.has_segments)
    facts.notes.add(Severity::warning,
                    "no segments in this snapshot, only traces: what is live is known at events only");
}

}  // namespace snapdiff::formats::torch_cuda
