#pragma once

#include "formats/input/type_row.hpp"
#include "formats/json/json_dumps.hpp"

/// What one dump says, however it is written.
namespace snapdiff::formats::mimalloc_stats {

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

/// mimalloc has 74 bins; far more come from damage only.
constexpr std::size_t kMostBins = 4096;

/// MI_MALLOC_VERSION: "3.6.0" is 30600, "2.2.5" was 225.
inline std::string version_text(std::int64_t number) {
  const std::int64_t base = number >= 10'000 ? 100 : 10;
  const auto part = [](std::int64_t value) { return std::to_string(value); };
  return part(number / (base * base)) + "." + part(number / base % base) + "." + part(number % base);
}

/// A number as printed: the true one is from `value` to `value` + `step`, which is 0 when it is exact.
struct Amount {
  std::int64_t value = 0;
  std::int64_t step = 0;
};

class Statistics {
 public:
  explicit Statistics(std::string_view detail) { facts_.format_detail = detail; }

  /// A number that only counts up, or a level, by the name that the field has in mi_stats_t; other names are left out.
  void add_total(std::string_view field, Amount total) { set(field, "", true, total); }
  void add_level(std::string_view field, Amount current) { set(field, "", false, current); }
  /// All that was ever added to a level.
  void add_level_total(std::string_view field, Amount total) { set(field, "_total", true, total); }

  /// Live bytes in blocks of `size`, which is as the dump has it: "1792", "1.7 KiB".
  void add_bin(std::string_view size, Amount bytes) { bins_[std::string(size)] = bytes; }
  void set_version(std::string version) { version_ = std::move(version); }
  /// Something is missing from here on.
  void lose(std::string_view note, std::uint64_t offset) { facts_.lose(note, offset); }

  /// Throws Failure for what the sink returns.
  void give(text::HeldSink& out) const {
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
        add_type_row(builder, "size class " + size, {bytes.value, bytes.step});
      }
    }
    out.take(builder.finish());
  }

 private:
  void set(std::string_view field, std::string_view ending, bool cumulative, Amount amount) {
    const bool bytes = text::is_one_of(field, kBytes);
    if (!bytes && !text::is_one_of(field, kCounts)) return;
    std::string name = std::string(field).append(ending);
    counters_[name] = {name, amount.value, bytes ? "bytes" : "count", cumulative, amount.step};
  }

  SnapshotFacts facts_;
  std::string version_;
  std::map<std::string, Counter> counters_;
  std::map<std::string, Amount> bins_;
};

class JsonDump final : public json::Walk {
 public:
  void number(std::int64_t value) override {
    if (depth() == 1) {
      if (key(0) == "stat_version") found_ = true;
      if (key(0) == "mimalloc_version" && value > 0) statistics_.set_version(version_text(value));
      statistics_.add_total(key(0), {value, 0});
    } else if (at({"process", "page_faults"})) {
      statistics_.add_total(key(1), {value, 0});
    } else if (at({"process", "*"})) {
      statistics_.add_level(key(1), {value, 0});
    } else if (at({"*", "current"})) {
      statistics_.add_level(key(0), {value, 0});
      if (key(0) == "malloc_huge") huge_bytes_ = value;
    } else if (at({"*", "total"})) {
      statistics_.add_level_total(key(0), {value, 0});
    } else if (at({"malloc_bins", "*", "current"})) {
      bin().blocks = value;
    } else if (at({"malloc_bins", "*", "block_size"})) {
      bin().size = value;
    }
  }

  void finish(text::HeldSink& out) {
    if (!found_) malformed("not mimalloc's statistics: expected an object with stat_version");
    for (const auto& [index, bin] : bins_) give(bin, index + 1 == bins_.size());
    statistics_.give(out);
  }

 private:
  struct Blocks {
    std::int64_t blocks = 0;
    std::int64_t size = 0;
  };

  Blocks& bin() {
    if (index(1) >= kMostBins) fail(ErrorCode::limit, "too many bins: more than 4096", offset());
    return bins_[index(1)];
  }

  /// The last bin is for blocks of any size beyond the others.
  void give(const Blocks& bin, bool is_last) {
    if (bin.blocks <= 0) return;
    if (is_last && huge_bytes_) return statistics_.add_bin("huge", {*huge_bytes_, 0});
    const std::int64_t bytes = product_of(bin.blocks, bin.size, "bytes of a bin are", offset());
    statistics_.add_bin(std::to_string(bin.size), {bytes, 0});
  }

  Statistics statistics_{"JSON"};
  std::map<std::size_t, Blocks> bins_;
  std::optional<std::int64_t> huge_bytes_;
  bool found_ = false;
};

/// Whether mi_stats_t has, or had, a field of this name.
inline bool is_field(std::string_view name) { return text::is_one_of(name, kBytes) || text::is_one_of(name, kCounts); }

inline void read_json(Input& in, SnapshotSink& out) { json::read_dumps<JsonDump>(in, out); }

}  // namespace snapdiff::formats::mimalloc_stats
