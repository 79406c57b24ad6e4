#include "analyzer/base/concat.hpp"
#include "analyzer/base/first_notes.hpp"
#include "analyzer/base/number_text.hpp"
#include "formats/metric_log/log_session.hpp"

/// The message of an allocator that is out of memory: PyTorch since 1.4 (c10/cuda/CUDACachingAllocator.cpp; HIP, XPU
/// and NPU use its words; aten/src/ATen/mps/MPSAllocator.mm, c10/core/impl/alloc_cpu.cpp), XLA's RESOURCE_EXHAUSTED
/// (xla/tsl/framework/bfc_allocator.cc, xla/stream_executor) and TensorFlow's "OOM when allocating tensor". Each size
/// is known by the words next to it, so that the order of the clauses, which changed with most releases, does not
/// matter.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::string_view kTensorShape = "OOM when allocating tensor with shape[";
constexpr std::string_view kXlaNext = "jax.profiler.save_device_memory_profile() names what holds it";

struct Clause {
  std::string_view counter;
  std::string_view before, after;  ///< words next to the size; "" where any
};
constexpr std::array<Clause, 27> kClauses = {{
    {"oom.requested", "Tried to allocate ", ""},
    {"oom.requested", "you tried to allocate ", ""},
    {"oom.requested", "while trying to allocate ", ""},
    {"oom.requested", "Out of memory allocating ", ""},
    {"oom.requested", "ran out of memory trying to allocate ", ""},
    {"oom.requested", "Attempting to allocate ", ""},
    {"oom.requested", "Attempting to reserve ", ""},
    {"oom.requested", "Used ", " of "},  // by a program, of a TPU
    {"oom.capacity", " of ", " hbm"},
    {"oom.capacity", "total capacity of ", ""},
    {"oom.capacity", "total capacty of ", ""},  // as 2.1 spells it
    {"oom.capacity", "", " total capacity"},
    {"oom.free", "", " is free"},
    {"oom.free", "", " free"},
    {"oom.allocated", "", " already allocated"},
    {"oom.allocated", "", " is allocated by PyTorch"},
    {"oom.allocated", "MPS allocated: ", ""},
    {"oom.private_pools", "", " allocated in private pools"},
    {"oom.unallocated", "", " is reserved by PyTorch but unallocated"},
    {"oom.reserved", "", " reserved in total"},
    {"oom.reserved", " free, ", " reserved"},
    {"oom.reserved", "", " cached"},  // before 1.5
    {"oom.allowed", "", " allowed"},
    {"oom.allowed", "max allowed: ", ""},
    {"oom.process", "this process has ", " memory in use"},
    {"oom.other_process", " has ", " memory in use"},
    {"oom.other", "other allocations: ", ""},
}};

/// Who says it: by a text of the line, which is looked for in this order; and what to record next time.
struct Speaker {
  std::string_view says, and_says;
  std::string_view next;
};
constexpr std::string_view kTorchNext = "a memory snapshot names what holds it: torch.cuda.memory._dump_snapshot()";
constexpr std::array<Speaker, 7> kSpeakers = {{
    {"MPS backend out of memory", "Tried to allocate ",
     "torch.mps.driver_allocated_memory() at each step shows the rise"},
    {"out of memory", "Tried to allocate ", kTorchNext},
    {"DefaultCPUAllocator: ", "you tried to allocate ", "memray or tracemalloc names what holds it"},
    {kTensorShape, "", "the log of bfc_allocator.cc beside it lists what is in use"},
    {"Out of memory while trying to allocate ", "", kXlaNext},
    {"ran out of memory trying to allocate ", "bfc_allocator.cc", kXlaNext},
    {"RESOURCE_EXHAUSTED", "", kXlaNext},
}};

struct PrintedSize {
  std::size_t begin = 0, end = 0;
  Quantity quantity;
};

/// The next number with a unit of bytes.
std::optional<PrintedSize> next_printed_size(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (!is_digit(text[i]) || (i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.'))) continue;
    const Measure found = measure_at(text, i);
    if (found.number_end == 0) return std::nullopt;
    if (const std::optional<Quantity> quantity = found.bytes()) return PrintedSize{i, found.end, *quantity};
    i = std::max(i, found.number_end - 1);
  }
  return std::nullopt;
}

std::string_view digits_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.rfind(word);
  return at == std::string_view::npos ? std::string_view() : Cursor(text.substr(at + word.size())).digits();
}

/// "GPU 0", "GPU:0", "NPU 0", "GPU_0_bfc".
std::string_view device_of(std::string_view text) {
  for (const std::string_view word : {"GPU ", "NPU ", "GPU:", "GPU_"}) {
    if (const std::string_view digits = digits_behind(text, word); !digits.empty()) return digits;
  }
  return {};
}

/// The bytes of "shape[256,512] and type float". Types by their names in tensorflow/core/framework/types.cc.
std::optional<Quantity> size_of_tensor(std::string_view text) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"bool", 1},   {"int8", 1},     {"uint8", 1},  {"int16", 2},     {"uint16", 2},
      {"half", 2},   {"bfloat16", 2}, {"int32", 4},  {"uint32", 4},    {"float", 4},
      {"double", 8}, {"int64", 8},    {"uint64", 8}, {"complex64", 8}, {"complex128", 16}};
  constexpr std::string_view kAndType = "] and type ";
  const std::size_t begin = text.find(kTensorShape);
  const std::size_t end = begin == std::string_view::npos ? begin : text.find(kAndType, begin);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(end + kAndType.size());
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& one) {
    return behind.starts_with(one.first) && (behind.size() == one.first.size() || !is_word(behind[one.first.size()]));
  });
  if (type == std::end(kTypes)) return std::nullopt;
  Quantity out{type->second, 0};
  std::string_view shape = text.substr(begin, end - begin).substr(kTensorShape.size());
  while (!shape.empty()) {
    const std::size_t comma = std::min(shape.find(','), shape.size());
    const std::optional<std::int64_t> length = whole_number(shape.substr(0, comma));
    const std::optional<Quantity> product =
        length ? scale({.digits = static_cast<std::uint64_t>(*length)}, static_cast<std::uint64_t>(out.value))
               : std::nullopt;
    if (!product) return std::nullopt;
    out.value = product->value;
    shape.remove_prefix(std::min(comma + 1, shape.size()));
  }
  return out;
}

class OomMessage final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = line.text;
    const auto speaker = std::find_if(kSpeakers.begin(), kSpeakers.end(), [&](const Speaker& one) {
      return contains(text, one.says) && contains(text, one.and_says);
    });
    if (speaker == kSpeakers.end()) return false;
    const std::vector<Reading> readings = readings_of(text);
    if (readings.empty()) return false;
    session.notes().add(Severity::info, concat(kOutOfMemory, why(readings), "; ", speaker->next), line.offset);
    session.recorder().record(kOomMessage, session.facts_of(line), readings, Joins::never);
    return true;
  }

 private:
  static constexpr std::size_t kMostReadings = 256;  // processes of one device

  static std::vector<Reading> readings_of(std::string_view text) {
    const std::string_view device = device_of(text);
    std::vector<Reading> readings;
    const auto add = [&](std::string_view counter, const Quantity& quantity, std::string_view pid = {}) {
      std::string name(counter);
      if (!device.empty()) name = with_tag(name, "device", device);
      if (!pid.empty()) name = with_tag(name, "pid", pid);
      const bool is_new =
          std::none_of(readings.begin(), readings.end(), [&](const Reading& one) { return one.name == name; });
      if (is_new) readings.push_back({std::move(name), "bytes", quantity, false});
    };
    if (const std::optional<Quantity> tensor = size_of_tensor(text)) add("oom.requested", *tensor);
    for (std::optional<PrintedSize> size = next_printed_size(text, 0); size && readings.size() < kMostReadings;
         size = next_printed_size(text, size->end)) {
      const std::string_view before = text.substr(0, size->begin);
      const Clause* const clause = clause_of(before, text.substr(size->end));
      if (clause == nullptr) continue;
      const bool is_other = clause->counter == "oom.other_process";
      add(clause->counter, size->quantity, is_other ? digits_behind(before, "Process ") : std::string_view{});
    }
    const Quantity* const allocated = find(readings, "oom.allocated");
    const Quantity* const unallocated = find(readings, "oom.unallocated");
    std::int64_t reserved = 0;
    if (allocated != nullptr && unallocated != nullptr && checked_add(allocated->value, unallocated->value, reserved))
      add("oom.reserved", {reserved, allocated->half_unit + unallocated->half_unit});  // not printed since 2.1
    return readings;
  }

  static const Clause* clause_of(std::string_view before, std::string_view after) {
    const auto fits = [&](const Clause& one) { return before.ends_with(one.before) && after.starts_with(one.after); };
    const auto found = std::find_if(kClauses.begin(), kClauses.end(), fits);
    return found == kClauses.end() ? nullptr : &*found;
  }

  /// The counter of that name, whatever its tags.
  static const Quantity* find(const std::vector<Reading>& readings, std::string_view counter) {
    const auto found = std::find_if(readings.begin(), readings.end(), [&](const Reading& one) {
      return one.name.substr(0, one.name.find('{')) == counter;
    });
    return found == readings.end() ? nullptr : &found->quantity;
  }

  /// As of the failed allocations of CUDA snapshots: whether the memory was there, and where.
  static std::string why(const std::vector<Reading>& readings) {
    const auto of = [&](std::string_view counter) {
      const Quantity* const found = find(readings, counter);
      return found == nullptr ? std::optional<std::int64_t>() : std::optional(found->value);
    };
    const auto requested = of("oom.requested"), reserved = of("oom.reserved"), allocated = of("oom.allocated"),
               free = of("oom.free"), allowed = of("oom.allowed"), capacity = of("oom.capacity");
    std::optional<std::int64_t> unused = of("oom.unallocated");
    if (!unused && reserved && allocated) unused = std::max<std::int64_t>(*reserved - *allocated, 0);
    std::string text;
    const auto say = [&](const std::optional<std::int64_t>& bytes, std::string_view words) {
      if (bytes) text += concat(text.empty() ? "" : ", ", bytes_text(*bytes), words);
    };
    say(requested, " requested");
    say(allocated, " allocated");
    say(unused, " reserved and unused");
    say(free, " free on the device");
    say(allowed, " allowed to the process");
    if (!unused && !free) say(capacity, " on the device");
    if (!requested) return text;
    if (unused && *unused >= *requested) return text + ": fragmentation: try expandable_segments:True";
    if (allowed && (!free || *free >= *requested))
      return text + ": the limit of the process is reached (set_per_process_memory_fraction)";
    if (capacity && *requested > *capacity) return text + ": more than the device has";
    if (free && *free >= *requested)
      return text + ": enough was free a moment later: another process had it, or it lies in pieces";
    if (unused && free && *unused >= *requested - *free)
      return text + ": fragmentation: unused and free memory together would do: try expandable_segments:True";
    if (unused) return text + ": too little memory even with an empty cache";
    return text + (free ? ": too little memory" : ": the message says no more");
  }
};

}  // namespace

std::unique_ptr<Matcher> make_oom_message_matcher() { return std::make_unique<OomMessage>(); }

}  // namespace snapdiff::formats::metric_log
