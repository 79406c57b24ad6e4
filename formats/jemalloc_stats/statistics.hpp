#pragma once

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/text/held_sink.hpp"

/// What one dump says, however it is written.
namespace snapdiff::formats::jemalloc_stats {

/// Live regions (small) or extents (large) by size class: size in bytes -> number.
struct Classes {
  std::map<std::int64_t, std::int64_t> live;
  bool told = false;  ///< the table is there, maybe empty
};

/// The tables of one arena, or of all together.
struct Arena {
  Classes small;
  Classes large;
};

struct Statistics {
  std::string version;
  SnapshotFacts facts;
  std::optional<std::int64_t> allocated;
  Arena merged;  ///< as the dump itself adds the arenas up
  Arena sum;     ///< of the single arenas
};

/// Adds to classes.live. Throws Failure: limit.
void add_live(Classes& classes, std::int64_t size, std::int64_t number, std::uint64_t offset);

/// Adds the counter that jemalloc calls `name` ("allocated", "resident"), if it is a known one.
void add_counter(Statistics& statistics, std::string_view name, std::int64_t value);

/// Throws Failure: limit.
void take(const Statistics& statistics, text::HeldSink& out);

void read_json(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::jemalloc_stats
