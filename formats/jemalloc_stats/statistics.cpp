#include "formats/jemalloc_stats/statistics.hpp"

#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::jemalloc_stats {
namespace {

constexpr std::string_view kNoSizeClass = "[no size class recorded]";

struct Known {
  std::string_view name;
  std::string_view unit;
  bool cumulative;
};
/// doc/jemalloc.xml.in, stats.*.
constexpr Known kCounters[] = {
    {"allocated", "bytes", false},    {"active", "bytes", false},       {"metadata", "bytes", false},
    {"resident", "bytes", false},     {"mapped", "bytes", false},       {"retained", "bytes", false},
    {"metadata_thp", "count", false}, {"zero_reallocs", "count", true},
};

/// Rows of one table; the bytes are added to `sum`.
void add_rows(SnapshotBuilder& builder, const Classes& classes, std::int64_t& sum) {
  for (const auto& [size, number] : classes.live) {
    const std::int64_t bytes = product_of(size, number, "sum over the size classes is");
    add_to(sum, bytes, "sum over the size classes is");
    const std::int64_t values[] = {number, bytes};
    add_type_row(builder, "size class " + std::to_string(size), values);
  }
}

}  // namespace

void add_live(Classes& classes, std::int64_t size, std::int64_t number, std::uint64_t offset) {
  classes.told = true;
  if (number == 0) return;
  add_to(classes.live[size], number, "sum over the arenas is", offset);
}

void add_counter(Statistics& statistics, std::string_view name, std::int64_t value) {
  for (const Known& known : kCounters) {
    if (known.name != name) continue;
    statistics.facts.counters.push_back({std::string(name), value, std::string(known.unit), known.cumulative, 0});
    if (name == "allocated") statistics.allocated = value;
  }
}

void take(const Statistics& statistics, text::HeldSink& out) {
  SnapshotBuilder builder;
  SnapshotFacts& facts = builder.facts() = statistics.facts;
  facts.producer = "jemalloc" + (statistics.version.empty() ? std::string() : " " + statistics.version);
  facts.sampling = Sampling::exact;
  // Where only one arena is in use, or on demand, there are no merged tables.
  const Arena& arena =
      statistics.merged.small.told || statistics.merged.large.told ? statistics.merged : statistics.sum;
  if (arena.small.told || arena.large.told) {
    builder.add_heap_columns();
    std::int64_t sum = 0;
    add_rows(builder, arena.small, sum);
    add_rows(builder, arena.large, sum);
    const bool all_told = arena.small.told && arena.large.told;
    if (!all_told || facts.partial) facts.complete = false;
    if (statistics.allocated && *statistics.allocated != sum) {
      if (all_told || *statistics.allocated < sum) {
        facts.notes.add(Severity::warning, "the size classes do not add up to the allocated bytes");
      } else {
        const std::int64_t values[] = {0, *statistics.allocated - sum};
        const std::uint8_t known[] = {0, 1};
        builder.add_row(builder.pseudo_stack(kNoSizeClass), LabelSetId{}, values, known);
      }
    }
  }
  out.take(builder.finish());
}

}  // namespace snapdiff::formats::jemalloc_stats
