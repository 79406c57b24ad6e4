#include <string>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/memray/readers.hpp"

/// `memray stats --json`: totals over a run and its peak, no live rows.
namespace snapdiff::formats::memray {
namespace {

class Stats final : public json::Walk {
 public:
  void number(std::int64_t value) override {
    if (at({"total_num_allocations"})) add("allocs", value, "count", true);
    if (at({"total_bytes_allocated"})) add("allocated", value, "bytes", true);
    if (at({"metadata", "peak_memory"})) add("peak_memory", value, "bytes", false);
    if (at({"metadata", "pid"})) builder_.facts().pid = value;
    if (at({"allocator_type_distribution", "*"})) {
      add("allocs{allocator=" + std::string(key(1)) + "}", value, "count", true);
    }
  }

  void text(std::string_view value) override {
    if (at({"metadata", "command_line"})) builder_.facts().command_line = value;
  }

  Result<Snapshot> finish() {
    SnapshotFacts& facts = builder_.facts();
    if (facts.counters.empty()) {
      fail(ErrorCode::malformed, "no figures of memray stats: expected total_num_allocations", offset());
    }
    facts.producer = "memray";
    facts.format_detail = "stats JSON";
    facts.sampling = Sampling::exact;
    return builder_.finish();
  }

 private:
  void add(std::string name, std::int64_t value, std::string unit, bool cumulative) {
    // A name may come twice only where somebody made it so; the last one counts, as in JSON at large.
    for (Counter& counter : builder_.facts().counters) {
      if (counter.name != name) continue;
      counter.value = value;
      return;
    }
    builder_.facts().counters.push_back({std::move(name), value, std::move(unit), cumulative, 0});
  }

  SnapshotBuilder builder_;
};

}  // namespace

Result<Snapshot> read_stats(Input& in) {
  Stats walk;
  json::read_value(in, walk);
  return walk.finish();
}

}  // namespace snapdiff::formats::memray
