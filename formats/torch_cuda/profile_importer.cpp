#include "analyzer/base/concat.hpp"
#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/type_row.hpp"
#include "formats/torch_cuda/thinner.hpp"

namespace snapdiff::formats {
namespace {

using namespace torch_cuda;

constexpr std::string_view kMemory = "[memory]";
constexpr std::string_view kOutOfMemory = "[OutOfMemory]";
constexpr std::size_t kMostProfiled = 256;
/// Of all moments that are shown together. One takes some 130 bytes, and a hostile file of 300 KB may name two for each
/// of 256 devices.
constexpr std::size_t kMostCounters = 1 << 18;
__extension__ using Wide = __int128;
constexpr std::int64_t kLatestUs = 9'000'000'000'000'000;

/// c10/core/DeviceType.h, the numbers of types that have an allocator.
std::string device_name(std::int64_t type, std::int64_t index) {
  constexpr std::pair<std::int64_t, std::string_view> kTypes[] = {
      {0, "cpu"}, {1, "cuda"}, {6, "hip"}, {12, "xpu"}, {13, "mps"}, {15, "hpu"}, {19, "mtia"}, {20, "privateuseone"}};
  std::string name = "type " + std::to_string(type);
  for (const auto& [number, known] : kTypes) {
    if (number == type) name = known;
  }
  return index < 0 ? name : name + ":" + std::to_string(index);
}

/// One memory event. Bytes are negative where they are not in it.
struct MemoryEvent {
  std::int64_t time_us = 0;
  std::uint32_t device = 0;
  std::int64_t allocated = -1;
  std::int64_t reserved = -1;
};

/// Of one device; -1 as long as nothing is known.
struct DeviceTotals {
  std::int64_t allocated = -1;
  std::int64_t reserved = -1;
};

/// Of all devices after an event.
struct Moment {
  std::uint64_t number = 0;
  std::int64_t total = 0;
};

class ProfileReader {
 public:
  explicit ProfileReader(Input& in) : json_(in) {}

  void run() {
    json_.skip_byte_order_mark();
    json_.each_member([this](std::string_view key) {
      if (key == "traceEvents" && json_.kind() == json::Kind::array) {
        json_.each_item([this](std::size_t) { event(); });
      } else if (key == "baseTimeNanoseconds" && json_.kind() == json::Kind::number) {
        base_us_ = floored_number(json_) / 1000;
      } else {
        json_.skip_value();
      }
    });
    std::stable_sort(events_.begin(), events_.end(),
                     [](const MemoryEvent& a, const MemoryEvent& b) { return a.time_us < b.time_us; });
  }

  bool empty() const { return events_.empty(); }
  std::uint64_t failures() const { return failures_; }
  std::size_t count() const { return events_.size(); }
  const std::vector<std::string>& devices() const { return devices_; }
  std::int64_t base_us() const { return base_us_; }

  const MemoryEvent& at(std::uint64_t number) const { return events_[number]; }

  /// Moments that are shown, as many as their counters allow.
  std::vector<Moment> moments() const {
    Thinner<Moment> thinner(std::clamp<std::size_t>(kMostCounters / (2 * devices_.size()), 2, kMostTimelinePoints));
    std::vector<DeviceTotals> now(devices_.size());
    Wide total = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      DeviceTotals& device = now[events_[i].device];
      total -= std::max<std::int64_t>(device.allocated, 0);
      update(device, events_[i]);
      total += std::max<std::int64_t>(device.allocated, 0);
      thinner.add({i, static_cast<std::int64_t>(std::min<Wide>(total, std::numeric_limits<std::int64_t>::max()))});
    }
    return thinner.finish();
  }

  static void update(DeviceTotals& device, const MemoryEvent& event) {
    if (event.allocated >= 0) device.allocated = event.allocated;
    if (event.reserved >= 0) device.reserved = event.reserved;
  }

 private:
  void event() {
    if (json_.kind() != json::Kind::object) return json_.skip_value();
    MemoryEvent found;
    std::int64_t type = -1, index = -1;
    bool has_time = false;
    name_.clear();
    json_.each_member([&](std::string_view key) {
      const json::Kind kind = json_.kind();
      if (key == "name" && kind == json::Kind::text) {
        json_.text(name_, 64);
      } else if (key == "ts" && kind == json::Kind::number) {
        found.time_us = floored_number(json_);
        has_time = true;
      } else if (key == "args" && kind == json::Kind::object) {
        json_.each_member([&](std::string_view arg) {
          std::int64_t* const to = arg == "Total Allocated"  ? &found.allocated
                                   : arg == "Total Reserved" ? &found.reserved
                                   : arg == "Device Type"    ? &type
                                   : arg == "Device Id"      ? &index
                                                             : nullptr;
          if (to == nullptr || json_.kind() != json::Kind::number) return json_.skip_value();
          *to = floored_number(json_);
        });
      } else {
        json_.skip_value();
      }
    });
    if (name_ == kOutOfMemory) ++failures_;
    if (name_ != kMemory || !has_time || (found.allocated < 0 && found.reserved < 0)) return;
    found.device = device(type, index);
    events_.push_back(found);
  }

  std::uint32_t device(std::int64_t type, std::int64_t index) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == std::pair(type, index)) return static_cast<std::uint32_t>(i);
    }
    if (keys_.size() == kMostProfiled)
      fail(ErrorCode::limit, "more than 256 devices in the memory events of a profile", json_.offset());
    keys_.emplace_back(type, index);
    devices_.push_back(device_name(type, index));
    return static_cast<std::uint32_t>(keys_.size() - 1);
  }

  json::JsonScanner json_;
  std::string name_;
  std::int64_t base_us_ = 0;
  std::vector<MemoryEvent> events_;
  std::vector<std::pair<std::int64_t, std::int64_t>> keys_;
  std::vector<std::string> devices_;
  std::uint64_t failures_ = 0;
};

/// Microseconds since 1970, where they are that: older versions write them so, newer ones since a base.
std::optional<std::int64_t> date_us(std::int64_t time_us, std::int64_t base_us) {
  std::int64_t since = time_us;
  if (time_us < kFirstDateUs && __builtin_add_overflow(time_us, base_us, &since)) return std::nullopt;
  if (since < kFirstDateUs || since > kLatestUs) return std::nullopt;
  return since;
}

Result<Snapshot> snapshot_of(std::uint64_t number, const std::vector<DeviceTotals>& devices,
                             const ProfileReader& reader, bool thinned) {
  SnapshotBuilder builder;
  SnapshotFacts& facts = exact_facts(
      builder, "pytorch", concat("Chrome trace of torch.profiler, memory event ", number + 1, " of ", reader.count()));
  if (const auto us = date_us(reader.at(number).time_us, reader.base_us())) facts.taken_at_ns = *us * 1000;
  facts.notes.add(Severity::info, "a profiler's trace has totals by device, no stacks and no categories");
  if (thinned)
    facts.notes.add(Severity::info, concat("of ", reader.count(),
                                           " memory events the fullest of each stretch, and the last, are read"));
  if (reader.failures() > 0)
    facts.notes.add(Severity::warning, "an allocation failed (out of memory)", std::nullopt, reader.failures());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto add = [&](std::string_view name, std::int64_t value) {
      if (value >= 0)
        facts.counters.push_back(
            {std::string(name) + "{device=" + reader.devices()[d] + "}", value, "bytes", false, 0});
    };
    add("allocated", devices[d].allocated);
    add("reserved", devices[d].reserved);
  }
  return builder.finish();
}

/// `{"traceEvents": [...]}`: certain where a memory event is in the head, else possible.
Match sniff_profile(std::string_view head) {
  if (!text::begins_with(head, {"{"}) || !contains(head, "\"traceEvents\"")) return Match::no;
  return contains(head, "\"[memory]\"") ? Match::certain : Match::possible;
}

/// Reads the memory events of torch.profiler's Chrome trace: a snapshot for each moment, with the counters `allocated`
/// and `reserved` of each device, as the allocators reported them last. Memory: some 40 bytes an event.
/// Source: torch.profiler's documentation (profile_memory, export_chrome_trace) and PyTorch's
/// torch/csrc/profiler/kineto_shim and torch/csrc/autograd/profiler_kineto.cpp, which write the events.
/// Errors: unsupported for a trace without such events, malformed with an offset, limit.
void decode_profile(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  ProfileReader reader(in);
  reader.run();
  if (reader.empty())
    fail(ErrorCode::unsupported,
         "not a heap profile: this is a Chrome trace without memory events, which torch.profiler writes with "
         "profile_memory=True");
  const std::vector<Moment> moments = reader.moments();
  std::vector<DeviceTotals> devices(reader.devices().size());
  std::uint64_t done = 0;
  for (const Moment& moment : moments) {
    for (; done <= moment.number; ++done) ProfileReader::update(devices[reader.at(done).device], reader.at(done));
    give(out, snapshot_of(moment.number, devices, reader, moments.size() < reader.count()));
  }
}

}  // namespace

constexpr Format kTorchProfile{
    .info = {"torch-profile", "Chrome trace of torch.profiler with memory events: totals by device",
             "*.json, *.json.gz", "all other events; addresses and sizes of single tensors"},
    .sniff = sniff_profile,
    .decode = decode_profile};

}  // namespace snapdiff::formats
