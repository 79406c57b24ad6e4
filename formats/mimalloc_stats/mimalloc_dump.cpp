#include "formats/mimalloc_stats/mimalloc_dump.hpp"

#include "formats/input/type_row.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::mimalloc_stats {
namespace {

/// include/mimalloc-stats.h, MI_STAT_FIELDS; `process` of the JSON; fields of versions 1 and 2.
constexpr std::string_view kBytes =
    "allocated commit_current commit_peak committed freed malloc_huge malloc_large malloc_normal "
    "malloc_requested page_committed purged reserved reset rss_current rss_peak ";
constexpr std::string_view kCounts =
    "arena_count arena_crossover_count arena_purges arena_rollback_count commit_calls free_count heaps "
    "heaps_delete_wait malloc_count malloc_guarded_count malloc_huge_count malloc_normal_count "
    "mmap_calls page_faults page_no_retire page_searches page_searches_count pages pages_abandoned "
    "pages_extended pages_os_abandoned pages_os_allocated pages_reabandon_full pages_reclaim_on_alloc "
    "pages_reclaim_on_free pages_retire pages_stat_update_count pages_stat_updates "
    "pages_unabandon_busy_wait pages_unown_cas_retry profile_samples purge_calls reset_calls segments "
    "segments_abandoned segments_cache theaps threads ";

}  // namespace

bool is_field(std::string_view name) { return text::is_one_of(name, kBytes) || text::is_one_of(name, kCounts); }

void Statistics::set(std::string_view field, std::string_view ending, bool cumulative, Amount amount) {
  const bool bytes = text::is_one_of(field, kBytes);
  if (!bytes && !text::is_one_of(field, kCounts)) return;
  std::string name = std::string(field).append(ending);
  counters_[name] = {name, amount.value, bytes ? "bytes" : "count", cumulative, amount.step};
}

void Statistics::give(text::HeldSink& out) const {
  SnapshotBuilder builder;
  SnapshotFacts& facts = builder.facts() = facts_;
  facts.producer = "mimalloc" + (version_.empty() ? std::string() : " " + version_);
  facts.sampling = Sampling::exact;
  for (const auto& [name, counter] : counters_) facts.counters.push_back(counter);
  if (!bins_.empty()) {
    builder.add_column({"inuse_space", "bytes"});
    builder.add_column({half_unit_name("inuse_space"), "bytes"});
    if (facts.partial) facts.complete = false;
    for (const auto& [size, bytes] : bins_) {
      const std::int64_t values[] = {bytes.value, bytes.step};
      add_type_row(builder, "size class " + size, values);
    }
  }
  out.take(builder.finish());
}

}  // namespace snapdiff::formats::mimalloc_stats
