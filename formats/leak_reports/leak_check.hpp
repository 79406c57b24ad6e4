#pragma once

#include "analyzer/base/concat.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::leak_reports {

constexpr std::size_t kMaxFrames = 1'000'000;

constexpr std::string_view kStillReachable = "still reachable", kIndirectlyLost = "indirectly lost";

/// Outermost functions of whole stacks.
constexpr std::string_view kRoots[] = {"main",         "(below main)", "_start", "__libc_start_main",
                                       "start_thread", "clone",        "clone3"};

using LeakFrame = text::PrintedFrame;

/// Bytes and blocks of one kind.
struct Leaked {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

inline void add(Leaked& sum, const Leaked& more) {
  add_to(sum.bytes, more.bytes, "sum over the leak records is");
  add_to(sum.blocks, more.blocks, "sum over the leak records is");
}

/// One leak check while it is read: records with their stacks, then what the summary says of each
/// kind. The columns are inuse_objects and inuse_space, and lost_objects and lost_space: what the program does not
/// reach at its end, which alone is what a leak check is about. The kind is the label `kind`.
class LeakCheck {
 public:
  LeakCheck() {
    builder_.add_heap_columns();
    builder_.add_column({"lost_objects", "count"});
    builder_.add_column({"lost_space", "bytes"});
    facts().sampling = Sampling::exact;
  }

  SnapshotBuilder& builder() { return builder_; }
  SnapshotFacts& facts() { return builder_.facts(); }

  /// Opens a record; the one before is closed. `indirect`: bytes that are lost with its own. They belong to its stack
  /// where no record of kind `indirectly lost` says where they were allocated.
  void open_record(std::string_view kind, Leaked leaked, std::int64_t indirect = 0) {
    close_record();
    kind_ = kind;
    leaked_ = leaked;
    indirect_ = indirect;
    frames_.clear();
    has_root_ = false;
    record_open_ = true;
  }

  bool record_open() const { return record_open_; }
  /// Puts a frame at the root end of the open record's stack. Throws Failure: limit.
  void add_frame(const LeakFrame& frame) {
    if (frames_.size() == kMaxFrames) fail(ErrorCode::limit, "stack too deep: more than 1000000 frames");
    frames_.push_back(text::frame_of(builder_, frame));
    has_root_ = has_root_ || std::find(std::begin(kRoots), std::end(kRoots), frame.function) != std::end(kRoots);
  }

  void close_record() {
    if (!record_open_) return;
    record_open_ = false;
    ++records_;
    add(sums_[kind_], leaked_);
    const StackId stack = builder_.stack(frames_);
    add_row(stack, kind_, leaked_);
    if (indirect_ > 0) indirects_.emplace_back(stack, indirect_);
    if (has_root_ || frames_.empty()) return;
    ++cut_;
    deepest_ = std::max(deepest_, frames_.size());
  }

  /// Forgets the open record, which was cut.
  void drop_record() { record_open_ = false; }

  std::uint64_t records() const { return records_; }

  /// What a summary says of `kind`. What the records lack goes to the pseudo frame `rest`, and the
  /// snapshot is no longer complete. Throws Failure: limit.
  void add_summary(std::string_view kind, Leaked total, std::string_view rest) {
    close_record();
    settle_indirect();
    const auto known = sums_.find(kind);
    add_rest(kind, known == sums_.end() ? Leaked{} : known->second, total, rest);
  }

  /// The same over all kinds together; the rest has no kind.
  void add_total(Leaked total, std::string_view rest) {
    close_record();
    Leaked known;
    for (const auto& entry : sums_) add(known, entry.second);
    add_rest({}, known, total, rest);
  }

  /// Marks the snapshot as one whose report ends early.
  void mark_cut(std::string_view why, std::uint64_t offset) {
    drop_record();
    facts().complete = false;
    facts().lose(why, offset);
  }

  /// `deeper`: what to record with to get whole stacks, said where most of them end before main; "": nothing does.
  Result<Snapshot> finish(std::string_view deeper) {
    close_record();
    settle_indirect();
    if (cut_ * 2 > records_ && !deeper.empty())
      builder_.notes().add(Severity::info, concat("most stacks end before main, at ", std::to_string(deepest_),
                                                  " frames: record with ", deeper));
    return builder_.finish();
  }

 private:
  LabelSetId kind_labels(std::string_view kind) { return builder_.labels({text_label(builder_, "kind", kind)}); }
  void add_row(StackId stack, std::string_view kind, Leaked leaked) {
    const bool is_lost = kind != kStillReachable;
    builder_.add_row(stack, kind.empty() ? LabelSetId{} : kind_labels(kind),
                     std::array{leaked.blocks, leaked.bytes, is_lost ? leaked.blocks : 0, is_lost ? leaked.bytes : 0});
  }

  void add_rest(std::string_view kind, Leaked known, Leaked total, std::string_view rest) {
    if (known.bytes > total.bytes || known.blocks > total.blocks)
      return builder_.notes().add(Severity::warning, "the records add up to more than the summary says");
    const Leaked left{total.bytes - known.bytes, total.blocks - known.blocks};
    if (left.bytes == 0 && left.blocks == 0) return;
    add_row(builder_.pseudo_stack(rest), kind, left);
    // Reachable memory without stacks leaves out nothing of what is lost.
    if (left.bytes != 0 && kind != kStillReachable) facts().complete = false;
  }

  /// Without its own records the indirect memory is known by the record that it is lost with.
  void settle_indirect() {
    if (!sums_.contains(kIndirectlyLost)) {
      for (const auto& [stack, bytes] : indirects_) {
        add(sums_[std::string(kIndirectlyLost)], {bytes, 0});
        add_row(stack, kIndirectlyLost, {bytes, 0});
      }
    }
    indirects_.clear();
  }

  SnapshotBuilder builder_;
  std::vector<FrameId> frames_;
  std::map<std::string, Leaked, std::less<>> sums_;
  std::string kind_;
  Leaked leaked_;
  std::int64_t indirect_ = 0;                                ///< of the open record
  std::vector<std::pair<StackId, std::int64_t>> indirects_;  ///< bytes lost with records
  bool has_root_ = false;                                    ///< the open record's stack does not end before main
  std::uint64_t cut_ = 0;                                    ///< records whose stacks do
  std::size_t deepest_ = 0;                                  ///< frames of these
  std::uint64_t records_ = 0;
  bool record_open_ = false;
};

}  // namespace snapdiff::formats::leak_reports
