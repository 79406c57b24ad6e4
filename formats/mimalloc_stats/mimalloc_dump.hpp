#pragma once

#include "formats/text/held_sink.hpp"

/// What one dump says, however it is written.
namespace snapdiff::formats::mimalloc_stats {

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
  void give(text::HeldSink& out) const;

 private:
  void set(std::string_view field, std::string_view ending, bool cumulative, Amount amount);

  SnapshotFacts facts_;
  std::string version_;
  std::map<std::string, Counter> counters_;
  std::map<std::string, Amount> bins_;
};

/// Whether mi_stats_t has, or had, a field of this name.
bool is_field(std::string_view name);

void read_json(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::mimalloc_stats
