#include "analyzer/waterfall/readings.hpp"

#include <initializer_list>
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

void take_total(Reading& out, const Snapshot& snapshot, std::string_view metric) {
  const Column* const column = snapshot.column(metric);
  if (column == nullptr) return;
  std::int64_t sum = 0;
  for (const std::int64_t value : column->value) sum = wrapping_sum(sum, value);  // it fits: finish() checked it
  set(out, "in_use", sum);
}

/// Go's MemStats as a heap profile prints them, or as a log does.
bool take_go(Reading& out, const Snapshot& snapshot) {
  if (has_all(snapshot, {"HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased"})) {
    take(out, snapshot,
         {{"HeapAlloc", "alloc"},
          {"HeapInuse", "inuse"},
          {"HeapIdle", "idle"},
          {"HeapReleased", "released"},
          {"Sys", "sys"},
          {"HeapSys", "heap_sys"}});
    return true;
  }
  if (!has_all(snapshot, {"heap_alloc", "heap_inuse", "heap_idle", "heap_released"})) return false;
  take(out, snapshot,
       {{"heap_alloc", "alloc"}, {"heap_inuse", "inuse"}, {"heap_idle", "idle"}, {"heap_released", "released"}});
  return true;
}

}  // namespace

Reading reading_of(const Snapshot& snapshot) {
  Reading out;
  out.format = snapshot.facts.format;
  out.label = snapshot.facts.producer;
  const bool is_committed = snapshot.column("committed") != nullptr && snapshot.column("reserved") != nullptr;
  if (has_all(snapshot, {"rss", "pss"})) {
    out.source = snapshot.samples.size() > 0 ? Source::map : Source::status;
    take(out, snapshot, {{"rss", "rss"}});
    take_by_type(out, snapshot, "rss");
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
  } else if (has_all(snapshot, {"rss"})) {
    out.source = Source::status;
    take(out, snapshot, {{"rss", "rss"}});
  }
  return out;
}

}  // namespace snapdiff::waterfall
