#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/number_text.hpp"
#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/metric_text.hpp"
#include "formats/text/quantity.hpp"

/// The message of an accelerator that is out of memory: PyTorch since 1.4 (c10/cuda/CUDACachingAllocator.cpp; HIP and
/// XPU use its words) and XLA's RESOURCE_EXHAUSTED. Each size is known by the words next to it, so that the order of
/// the clauses, which changed with most releases, does not matter.
namespace snapdiff::formats::metric_log {
namespace {

struct Clause {
  std::string_view counter;
  std::string_view before, after;  ///< words next to the size; "" where any
};
constexpr std::array<Clause, 17> kClauses = {{
    {"oom.requested", "Tried to allocate ", ""},
    {"oom.requested", "while trying to allocate ", ""},
    {"oom.requested", "Out of memory allocating ", ""},
    {"oom.capacity", "total capacity of ", ""},
    {"oom.capacity", "total capacty of ", ""},  // as 2.1 spells it
    {"oom.capacity", "", " total capacity"},
    {"oom.free", "", " is free"},
    {"oom.free", "", " free"},
    {"oom.allocated", "", " already allocated"},
    {"oom.allocated", "", " is allocated by PyTorch"},
    {"oom.private_pools", "", " allocated in private pools"},
    {"oom.unallocated", "", " is reserved by PyTorch but unallocated"},
    {"oom.reserved", "", " reserved in total"},
    {"oom.reserved", "", " cached"},  // before 1.5
    {"oom.allowed", "", " allowed"},
    {"oom.process", "this process has ", " memory in use"},
    {"oom.other_process", " has ", " memory in use"},
}};

struct PrintedSize {
  std::size_t begin = 0, end = 0;
  Quantity quantity;
};

/// The next number with a unit of bytes.
std::optional<PrintedSize> next_printed_size(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (!is_digit(text[i]) || (i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.'))) continue;
    Decimal number;
    const std::size_t end = parse_decimal(text, i, number);
    if (end == 0) return std::nullopt;
    std::size_t unit = end;
    while (unit < text.size() && is_blank(text[unit])) ++unit;
    std::size_t unit_end = unit;
    while (unit_end < text.size() && is_letter(text[unit_end])) ++unit_end;
    const std::uint64_t bytes = size_unit(text.substr(unit, unit_end - unit), false);
    const std::optional<Quantity> quantity = bytes == 0 ? std::nullopt : scale(number, bytes);
    if (quantity) return PrintedSize{i, unit_end, *quantity};
    i = std::max(i, end - 1);
  }
  return std::nullopt;
}

std::string_view digits_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.rfind(word);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + word.size();
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(begin, end - begin);
}

class OomMessage final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = line.text;
    const bool torch = contains(text, "out of memory") && contains(text, "Tried to allocate ");
    const bool xla = contains(text, "Out of memory while trying to allocate ") ||
                     (contains(text, "RESOURCE_EXHAUSTED") && contains(text, "Out of memory allocating "));
    if (!torch && !xla) return false;
    const std::string_view device = digits_behind(text, "GPU ");
    std::vector<Reading> readings;
    for (std::optional<PrintedSize> size = next_printed_size(text, 0); size && readings.size() < kMostReadings;
         size = next_printed_size(text, size->end)) {
      const Clause* const clause = clause_of(text.substr(0, size->begin), text.substr(size->end));
      if (clause == nullptr) continue;
      std::string name(clause->counter);
      if (!device.empty()) name = with_tag(name, "device", device);
      if (clause->counter == "oom.other_process")
        name = with_tag(name, "pid", digits_behind(text.substr(0, size->begin), "Process "));
      const bool is_new =
          std::none_of(readings.begin(), readings.end(), [&](const Reading& one) { return one.name == name; });
      if (is_new) readings.push_back({std::move(name), "bytes", size->quantity, false});
    }
    if (readings.empty()) return false;
    say_why(line, device, readings, session.notes());
    session.recorder().record(kOomMessage, session.facts_of(line), readings, Joins::never);
    return true;
  }

 private:
  static constexpr std::size_t kMostReadings = 256;  // processes of one device

  static const Clause* clause_of(std::string_view before, std::string_view after) {
    const auto fits = [&](const Clause& one) { return before.ends_with(one.before) && after.starts_with(one.after); };
    const auto found = std::find_if(kClauses.begin(), kClauses.end(), fits);
    return found == kClauses.end() ? nullptr : &*found;
  }

  /// As of the failed allocations of CUDA snapshots: whether the memory was there, and where.
  static void say_why(const LogLine& line, std::string_view device, const std::vector<Reading>& readings,
                      Notes& notes) {
    const auto of = [&](std::string_view counter) -> std::optional<std::int64_t> {
      const std::string name = device.empty() ? std::string(counter) : with_tag(counter, "device", device);
      const auto found =
          std::find_if(readings.begin(), readings.end(), [&](const Reading& one) { return one.name == name; });
      return found == readings.end() ? std::nullopt : std::optional(found->quantity.value);
    };
    const auto requested = of("oom.requested");
    std::optional<std::int64_t> unused = of("oom.unallocated");
    const auto reserved = of("oom.reserved"), allocated = of("oom.allocated"), free = of("oom.free"),
               allowed = of("oom.allowed");
    if (!unused && reserved && allocated) unused = std::max<std::int64_t>(*reserved - *allocated, 0);
    if (!requested || !unused || !allocated) return;
    std::string why = concat(bytes_text(*requested), " requested, ", bytes_text(*allocated), " allocated, ",
                             bytes_text(*unused), " reserved and unused");
    if (free) why += concat(", ", bytes_text(*free), " free on the device");
    if (allowed) why += concat(", ", bytes_text(*allowed), " allowed to the process");
    const bool is_limit = allowed && free && *free >= *requested;
    why += *unused >= *requested ? ": fragmentation: try expandable_segments:True"
           : is_limit            ? ": the limit of the process is reached (set_per_process_memory_fraction)"
                                 : ": too little memory even with an empty cache";
    notes.add(Severity::info, why + "; a memory snapshot names what holds it: torch.cuda.memory._dump_snapshot()",
              line.offset);
  }
};

}  // namespace

std::unique_ptr<Matcher> make_oom_message_matcher() { return std::make_unique<OomMessage>(); }

}  // namespace snapdiff::formats::metric_log
