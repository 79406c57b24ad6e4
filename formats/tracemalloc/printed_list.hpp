#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tracemalloc/statistic_line.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::tracemalloc {

/// One list as it was printed, heaviest first, of one kind of lines.
class PrintedList {
 public:
  bool empty() const { return entries_.empty(); }
  LineKind kind() const { return kind_; }

  /// Whether `line` can be the next one: of the same kind, and not heavier than the one before.
  bool goes_on_with(const StatisticLine& line) const {
    const bool begins = line.kind == LineKind::ranked && line.count == 1;
    return empty() || (line.kind == kind_ && weight(line) <= last_weight_ && !begins);
  }
  void add(const StatisticLine& line);

  /// A frame of the stack of the last line; from the oldest call to the newest one.
  void add_frame(const StatisticLine& frame);

  /// What the lines that are not listed add up to: of ranked lines only, "N other" before the total. False where it
  /// does not belong to this list.
  bool add_below(const StatisticLine& line);

  /// The snapshots of the list, oldest first: two of differences, else one.
  /// Errors: as SnapshotBuilder::finish().
  Status finish(std::vector<Snapshot>& out) const;

 private:
  struct Place {
    std::string file;
    std::int32_t line = 0;
  };
  struct Entry {
    PrintedSize size;
    std::int64_t count = 0;
    PrintedSize size_growth;
    std::int64_t count_growth = 0;
    std::size_t frames_begin = 0;
    std::size_t frames_end = 0;
    bool has_stack = false;  ///< recognised by File lines rather than by the line itself
  };
  enum class Side : std::uint8_t { only, before, after };

  bool has_counts() const { return kind_ != LineKind::ranked; }
  static std::int64_t weight(const StatisticLine& line);
  Result<Snapshot> snapshot(Side side) const;
  void add_row(SnapshotBuilder& builder, const Entry& entry, Side side) const;

  LineKind kind_ = LineKind::other;
  std::int64_t last_weight_ = 0;
  std::optional<PrintedSize> rest_;
  bool has_total_ = false;
  std::vector<Entry> entries_;
  std::vector<Place> places_;
};

}  // namespace snapdiff::formats::tracemalloc
