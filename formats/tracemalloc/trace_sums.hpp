#pragma once

#include "analyzer/base/snapshot_builder.hpp"

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

  std::size_t depth(std::uint32_t traceback) const { return tracebacks_[traceback].depth; }

  /// Number for a traceback in a domain, where it has to wait; `cut`: it had more frames at the root end than
  /// were kept.
  std::uint32_t row(std::uint32_t traceback, std::int64_t domain, bool cut);

  /// One more block. False when the sum does not fit.
  [[nodiscard]] bool add(std::uint32_t traceback, std::int64_t domain, bool cut, std::int64_t size) {
    Traceback& t = tracebacks_[traceback];
    if (t.sum.count == 0) {
      t.domain = domain;
      t.cut = cut ? 1 : 0;
    }
    if (t.domain == domain && (t.cut != 0) == cut) return t.sum.add(size);
    return rows_[row(traceback, domain, cut)].sum.add(size);
  }
  [[nodiscard]] bool add(std::uint32_t row, std::int64_t size) {
    return add(rows_[row].traceback, rows_[row].domain, rows_[row].cut, size);
  }

  std::size_t traceback_count() const { return tracebacks_.size(); }
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
  struct Sum {
    std::int64_t bytes = 0;
    std::int64_t count = 0;
    bool add(std::int64_t size) {
      ++count;
      return checked_add(bytes, size, bytes);
    }
  };
  /// Half a cache line, so that a trace costs one miss. The sum is that of the domain that was met first, which
  /// mostly is the only one.
  struct Traceback {
    Sum sum = {};
    std::int64_t domain = 0;
    std::uint32_t depth = 0;
    std::uint32_t cut = 0;
  };
  struct Row {
    std::uint32_t traceback = 0;
    bool cut = false;
    std::int64_t domain = 0;
    Sum sum = {};
  };

  void emit(std::uint32_t traceback, std::int64_t domain, bool cut, const Sum& sum);
  std::span<const std::uint32_t> frames_of(std::uint32_t traceback) const {
    return std::span(frame_of_).subspan(begin_[traceback], begin_[traceback + 1] - begin_[traceback]);
  }

  SnapshotBuilder builder_;
  std::vector<Frame> frames_;
  HashIndex frame_index_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> frame_of_;
  HashIndex traceback_index_;
  std::vector<Traceback> tracebacks_;
  std::vector<Row> rows_;  // of other domains, and of traces that wait
  HashIndex row_index_;
  std::vector<FrameId> stack_;
};

}  // namespace snapdiff::formats::tracemalloc
