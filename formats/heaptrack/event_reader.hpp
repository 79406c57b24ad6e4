#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/heaptrack/heap_recording.hpp"
#include "formats/heaptrack/moment.hpp"
#include "snapdiff/importer.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats::heaptrack {

/// Reads the lines of one recording in a single pass and hands out the snapshots of `moment`.
///
/// What was live at the peak is known only when the last event was read. So that nothing is copied at each new
/// peak (there may be millions), a row keeps the number it had at the peak when it changes for the first time
/// after it: `at_peak_`.
class EventReader {
 public:
  EventReader(Input& in, SnapshotSink& out, Moment moment) : in_(in), out_(out), moment_(moment) {}

  /// Errors: as Format::read().
  Status read();

 private:
  /// Lines beyond this are damage: the longest names of real files have some 100 KB.
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;
  /// As many snapshots as one series may have out of one file.
  static constexpr std::uint64_t kMostCuts = 10'000;

  struct AtPeak {
    std::uint64_t peak_events = kNever;  ///< the peak that `live` was noted for
    std::int64_t live = 0;
  };

  struct Event {
    const char* line = nullptr;
    std::uint32_t row = 0;
  };
  using Batch = std::array<Event, 16>;

  std::size_t next_events(const char*& p, const char* end, Batch& batch) const;
  template <bool kWithPeak>
  Status lines(const char* p, const char* end, std::uint64_t offset);
  Status other_line(std::string_view line, std::uint64_t offset);
  Status time_stamp(std::string_view line, std::uint64_t offset);
  Status event_of_version_0(std::string_view line, std::uint64_t offset);
  Status allocated(std::uint32_t row, std::uint64_t offset);
  void freed(std::uint32_t row, std::uint64_t offset);
  void restart();
  void keep_for_peak(std::uint32_t row, std::uint64_t peak_events);
  Status cut();
  Status finish();
  std::vector<std::int64_t> live_at_peak() const;

  Input& in_;
  SnapshotSink& out_;
  Moment moment_;
  Recording recording_;
  bool have_version_ = false;
  bool done_ = false;
  std::uint64_t next_event_ = kNever;  ///< cut when so many were read
  std::uint64_t next_time_ = kNever;   ///< cut at a time stamp from here on
  std::uint64_t cuts_ = 0;
  std::uint64_t last_cut_events_ = kNever;
  std::uint32_t last_allocated_ = Recording::kNoRow;  ///< by the event before, for temporary ones
  std::vector<AtPeak> at_peak_;
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> block_at_;  ///< version 0: row by address
  std::uint64_t last_address_ = 0;
};

}  // namespace snapdiff::formats::heaptrack
