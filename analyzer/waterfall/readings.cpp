#include "analyzer/waterfall/readings.hpp"

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/base/failure.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::waterfall {
namespace {

/// 128 PiB: more than any machine has, and so little that sums and differences of all parts fit into 64 bits.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 57;

const Counter* find(const Snapshot& snapshot, std::string_view name) {
  for (const Counter& counter : snapshot.facts.counters) {
    if (counter.name == name && counter.unit == "bytes" && counter.value >= 0) return &counter;
  }
  return nullptr;
}

bool has_all(const Snapshot& snapshot, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (find(snapshot, name) == nullptr) return false;
  }
  return true;
}

struct Taken {
  std::string_view counter, as;
};

void set(Reading& out, std::string_view name, std::int64_t value) {
  if (value > kMostBytes || value < -kMostBytes)
    fail(ErrorCode::limit, "an amount of " + std::to_string(value) + " bytes, expected at most 128 PiB");
  out.bytes[std::string(name)] = value;
}

void take(Reading& out, const Snapshot& snapshot, std::initializer_list<Taken> names) {
  for (const Taken& name : names) {
    if (const Counter* const counter = find(snapshot, name.counter)) set(out, name.as, counter->value);
  }
}

/// The sums of `metric` by the text of the label `type`.
void take_by_type(Reading& out, const Snapshot& snapshot, std::string_view metric) {
  const Column* const column = snapshot.column(metric);
  if (column == nullptr) return;
  const Dictionary& d = *snapshot.dictionary;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    for (const Label& label : d.labels.labels(snapshot.samples.labels[row])) {
      if (d.strings[label.key] != "type" || label.is_number) continue;
      const std::string type(d.strings[label.text]);
      set(out, type, wrapping_sum(out.at(type), column->value[row]));  // finish() checked the sum of the column
    }
  }
}

/// A GPU's driver maps memory that it pins for a program as shared pages of /dev/zero. So does a program that asks for
/// shared memory without a name, but few with a GPU do. `shared memory` loses what is taken.
void take_pinned(Reading& out, const Snapshot& snapshot) {
  const Column* const column = snapshot.column("rss");
  if (column == nullptr || out.at("device") == 0) return;
  const Dictionary& d = *snapshot.dictionary;
  std::int64_t pinned = 0;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const std::span<const FrameId> frames = d.stacks.frames(snapshot.samples.stack[row]);
    if (frames.empty()) continue;
    const StringId name = d.functions.name[index_of(d.frames[frames.front()].function)];
    if (d.strings[name].starts_with("/dev/zero")) pinned = wrapping_sum(pinned, column->value[row]);
  }
  if (pinned == 0) return;
  set(out, "pinned", pinned);
  set(out, "shared memory", wrapping_difference(out.at("shared memory"), pinned));
}

void take_total(Reading& out, const Snapshot& snapshot, std::string_view metric) {
  const Column* const column = snapshot.column(metric);
  if (column == nullptr) return;
  std::int64_t sum = 0;
  for (const std::int64_t value : column->value) sum = wrapping_sum(sum, value);  // it fits: finish() checked it
  set(out, "in_use", sum);
}

/// Go's MemStats as a heap profile, a log or the Prometheus client prints them. Logs have no unit: all are bytes.
bool take_go(Reading& out, const Snapshot& snapshot) {
  constexpr std::string_view kForms[][6] = {
      {"HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "Sys", "HeapSys"},
      {"heap_alloc", "heap_inuse", "heap_idle", "heap_released", "sys", "heap_sys"},
      {"go_memstats_heap_alloc_bytes", "go_memstats_heap_inuse_bytes", "go_memstats_heap_idle_bytes",
       "go_memstats_heap_released_bytes", "go_memstats_sys_bytes", "go_memstats_heap_sys_bytes"}};
  constexpr std::string_view kNames[] = {"alloc", "inuse", "idle", "released", "sys", "heap_sys"};
  constexpr std::size_t kNeeded = 4;  // the others are not in every form
  for (const auto& form : kForms) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
      for (const Counter& counter : snapshot.facts.counters) {
        if (counter.name != form[i] || (counter.unit != "bytes" && !counter.unit.empty()) || counter.value < 0)
          continue;
        set(out, kNames[i], counter.value);
        found += i < kNeeded ? 1U : 0U;
        break;
      }
    }
    if (found == kNeeded) {
      if (!out.has("heap_sys")) out.bytes.erase("sys");
      return true;
    }
    out.bytes.clear();
  }
  return false;
}

/// A runtime's own figures may have RSS, too.
bool take_rss(Reading& out, const Snapshot& snapshot) {
  for (const std::string_view name : {"rss", "process_resident_memory_bytes"}) {
    if (!has_all(snapshot, {name})) continue;
    take(out, snapshot, {{name, "rss"}});
    return true;
  }
  return false;
}

}  // namespace

namespace {

Reading first_reading_of(const Snapshot& snapshot) {
  Reading out;
  out.format = snapshot.facts.format;
  out.label = snapshot.facts.producer;
  const bool is_committed = snapshot.column("committed") != nullptr && snapshot.column("reserved") != nullptr;
  if (has_all(snapshot, {"rss", "pss"})) {
    out.source = snapshot.samples.size() > 0 ? Source::map : Source::status;
    take(out, snapshot, {{"rss", "rss"}});
    take_by_type(out, snapshot, "rss");
    take_pinned(out, snapshot);
  } else if (has_all(snapshot, {"VmRSS"})) {
    out.source = Source::status;
    take(out, snapshot, {{"VmRSS", "rss"}, {"RssFile", "file"}, {"RssShmem", "shared memory"}});
  } else if (has_all(snapshot, {"in_use", "free", "system"})) {
    out.source = Source::allocator;
    take(out, snapshot, {{"in_use", "in_use"}, {"free", "free"}, {"metadata", "metadata"}});
  } else if (has_all(snapshot, {"allocated", "active", "resident", "metadata"})) {  // jemalloc
    out.source = Source::allocator;
    take(out, snapshot, {{"allocated", "in_use"}, {"resident", "resident"}, {"metadata", "metadata"}});
    out.bytes["free"] = out.at("resident") - out.at("in_use") - out.at("metadata");
  } else if (take_go(out, snapshot)) {
    out.source = Source::go;
  } else if (has_all(snapshot, {"heap.usedMemory", "heap.totalMemory"})) {
    out.source = Source::v8;
    take(out, snapshot,
         {{"heap.usedMemory", "used"}, {"heap.totalMemory", "total"}, {"heap.externalMemory", "external"}});
  } else if (has_all(snapshot, {"heap_used", "heap_total"})) {
    out.source = Source::jvm_heap;
    take(out, snapshot, {{"heap_used", "used"}, {"heap_total", "total"}});
  } else if (is_committed && has_all(snapshot, {"committed", "reserved"})) {
    out.source = Source::jvm;
    take_by_type(out, snapshot, "committed");
    take(out, snapshot, {{"committed", "all"}, {"thread_stacks", "stacks"}, {"malloc", "malloc"}});
  } else if (snapshot.column("inuse_space") != nullptr) {
    out.source = Source::profile;
    take_total(out, snapshot, "inuse_space");
  } else if (take_rss(out, snapshot)) {
    out.source = Source::status;
  } else if (snapshot.column("rss") != nullptr && snapshot.samples.size() == 1) {  // ps of one process
    out.source = Source::status;
    take_total(out, snapshot, "rss");
    out.bytes["rss"] = out.at("in_use");
  }
  return out;
}

}  // namespace

std::vector<Reading> readings_of(const Snapshot& snapshot) {
  std::vector<Reading> out{first_reading_of(snapshot)};
  Reading rss = out.front();
  rss.bytes.clear();
  if (!out.front().has("rss") && take_rss(rss, snapshot)) {
    rss.source = Source::status;
    out.push_back(std::move(rss));
  }
  return out;
}

}  // namespace snapdiff::waterfall
