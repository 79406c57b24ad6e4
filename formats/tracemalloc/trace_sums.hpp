#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::tracemalloc {

/// Frames, tracebacks and sums of one dump, each distinct one once. What it holds grows with the distinct
/// tracebacks, never with the traces.
class TraceSums {
 public:
  /// Row numbers have this many bits left in a memo code.
  static constexpr std::uint32_t kMostRows = std::uint32_t{1} << 29;
  static constexpr std::uint32_t kNoFrames = 0;  ///< the empty traceback

  TraceSums();

  /// A frame; `text` is the caller's number of the file name, `file` that name.
  std::uint32_t frame(std::uint32_t text, std::string_view file, std::int32_t line);

  /// The traceback of these frames, most recent call first.
  std::uint32_t traceback(std::span<const std::uint32_t> frames);

  std::size_t depth(std::uint32_t traceback) const { return begin_[traceback + 1] - begin_[traceback]; }

  /// The row of a traceback in a domain; `cut`: it had more frames at the root end than were kept.
  std::uint32_t row(std::uint32_t traceback, std::int64_t domain, bool cut) {
    const std::uint32_t last = last_row_[traceback];
    if (last != HashIndex::kAbsent && rows_[last].domain == domain && rows_[last].cut == cut) return last;
    return row_slowly(traceback, domain, cut);
  }

  /// One more block. False when the sum does not fit.
  [[nodiscard]] bool add(std::uint32_t row, std::int64_t size) {
    ++rows_[row].count;
    return checked_add(rows_[row].bytes, size, rows_[row].bytes);
  }

  std::uint64_t frame_count() const { return frames_.size(); }
  std::size_t traceback_count() const { return begin_.size() - 1; }
  std::size_t row_count() const { return rows_.size(); }
  SnapshotBuilder& builder() { return builder_; }

  /// Errors: as SnapshotBuilder::finish(). Used up.
  Result<Snapshot> finish(std::string format_detail);

 private:
  struct Frame {
    std::uint32_t text = 0;
    std::int32_t line = 0;
    FrameId id{};
    bool unknown = false;
  };
  struct Row {
    std::uint32_t traceback = 0;
    bool cut = false;
    std::int64_t domain = 0;
    std::int64_t bytes = 0;
    std::int64_t count = 0;
  };

  std::uint32_t row_slowly(std::uint32_t traceback, std::int64_t domain, bool cut);
  std::span<const std::uint32_t> frames_of(std::uint32_t traceback) const {
    return std::span(frame_of_).subspan(begin_[traceback], begin_[traceback + 1] - begin_[traceback]);
  }

  SnapshotBuilder builder_;
  std::vector<Frame> frames_;
  HashIndex frame_index_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> frame_of_;
  HashIndex traceback_index_;
  std::vector<std::uint32_t> last_row_;  // by traceback
  std::vector<Row> rows_;
  HashIndex row_index_;
};

}  // namespace snapdiff::formats::tracemalloc
