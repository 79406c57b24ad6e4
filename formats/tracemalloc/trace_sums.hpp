#pragma once

#include "formats/input/type_row.hpp"
#include "formats/tracemalloc/python_frames.hpp"

namespace snapdiff::formats::tracemalloc {

inline std::uint64_t hash_of(std::uint64_t a, std::uint64_t b) { return keyed_hash(Hash128{a, b}); }

/// Frames, tracebacks and sums of one dump, each distinct one once. What it holds grows with the distinct
/// tracebacks, never with the traces.
class TraceSums {
 public:
  /// Row numbers have this many bits left in a memo code.
  static constexpr std::uint32_t kMostRows = std::uint32_t{1} << 29;
  static constexpr std::uint32_t kNoFrames = 0;  ///< the empty traceback

  TraceSums() { traceback({}); }

  /// A frame; `text` is the caller's number of the file name, `file` that name.
  std::uint32_t frame(std::uint32_t text, std::string_view file, std::int32_t line) {
    const std::uint64_t hash = hash_of(text, static_cast<std::uint32_t>(line));
    const auto [row, is_new] = frame_index_.intern(
        hash, frames_.size(), [&](std::uint32_t r) { return frames_[r].text == text && frames_[r].line == line; });
    if (!is_new) return row;
    Frame frame;
    frame.text = text;
    frame.line = line;
    frame.unknown = line == 0 && file == kUnknownFile;
    frame.id = place_frame(builder_, file, line);
    frames_.push_back(frame);
    return row;
  }

  /// The traceback of these frames, most recent call first.
  std::uint32_t traceback(std::span<const std::uint32_t> frames) {
    std::uint64_t hash = frames.size();
    for (const std::uint32_t frame : frames) hash = (hash ^ frame) * 0xd1342543de82ef95ULL ^ hash >> 32;
    hash = mix64(hash);
    const auto [row, is_new] = traceback_index_.intern(hash, traceback_count(), [&](std::uint32_t r) {
      const auto other = frames_of(r);
      return std::equal(frames.begin(), frames.end(), other.begin(), other.end());
    });
    if (!is_new) return row;
    frame_of_.insert(frame_of_.end(), frames.begin(), frames.end());
    begin_.push_back(frame_of_.size());
    tracebacks_.push_back({.depth = static_cast<std::uint32_t>(frames.size())});
    return row;
  }

  std::size_t depth(std::uint32_t traceback) const { return tracebacks_[traceback].depth; }

  /// Number for a traceback in a domain, where it has to wait; `cut`: it had more frames at the root end than
  /// were kept.
  std::uint32_t row(std::uint32_t traceback, std::int64_t domain, bool cut) {
    const std::uint64_t hash =
        hash_of(std::uint64_t{traceback} << 1 | (cut ? 1U : 0U), static_cast<std::uint64_t>(domain));
    const auto [row, is_new] = row_index_.intern(hash, rows_.size(), [&](std::uint32_t r) {
      return rows_[r].traceback == traceback && rows_[r].domain == domain && rows_[r].cut == cut;
    });
    if (is_new) rows_.push_back({.traceback = traceback, .cut = cut, .domain = domain});
    return row;
  }

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
  Result<Snapshot> finish(std::string format_detail) {
    builder_.add_heap_columns();
    builder_.reserve_stacks(tracebacks_.size(), frame_of_.size());
    for (std::uint32_t t = 0; t < tracebacks_.size(); ++t)
      emit(t, tracebacks_[t].domain, tracebacks_[t].cut != 0, tracebacks_[t].sum);
    for (const Row& row : rows_) emit(row.traceback, row.domain, row.cut, row.sum);
    add_notes(builder_);
    note_cuts();
    exact_facts(builder_, "cpython", format_detail);
    return builder_.finish();
  }

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

  void emit(std::uint32_t traceback, std::int64_t domain, bool cut, const Sum& sum) {
    if (sum.count == 0) return;
    bytes_ += static_cast<double>(sum.bytes);
    if (cut) cut_bytes_ += static_cast<double>(sum.bytes);
    stack_.clear();
    const auto frames = frames_of(traceback);
    for (const std::uint32_t frame : frames) stack_.push_back(frames_[frame].id);
    if (frames.size() == 1 && frames_[frames[0]].unknown) stack_.clear();  // becomes [no stack recorded]
    if (cut && !stack_.empty()) stack_.push_back(builder_.pseudo_frame(kStackCut));
    LabelSetId labels{};
    if (domain != 0) {
      labels = builder_.labels({text_label(builder_, "domain", std::to_string(domain))});
    }
    builder_.add_row(builder_.stack(stack_), labels, std::array{sum.count, sum.bytes});
  }

  /// Says how to record more where that would tell more: the caller that leaks may lie beyond the frames that were
  /// kept.
  void note_cuts() {
    constexpr double kMany = 0.1;
    if (cut_bytes_ == 0 || cut_bytes_ < kMany * bytes_) return;
    std::uint32_t depth = 0;
    for (const Traceback& t : tracebacks_) depth = std::max(depth, t.depth);
    builder_.notes().add(Severity::info, "stacks were cut at " + std::to_string(depth) +
                                             (depth == 1 ? " frame" : " frames") +
                                             ": tracemalloc.start(25) or PYTHONTRACEMALLOC=25 records who called them");
  }

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
  double bytes_ = 0, cut_bytes_ = 0;  ///< of all rows, and of those with cut stacks
};

}  // namespace snapdiff::formats::tracemalloc
