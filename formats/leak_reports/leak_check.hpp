#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::leak_reports {

using LeakFrame = text::PrintedFrame;

/// Bytes and blocks of one kind.
struct Leaked {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

/// One leak check while it is read: records with their stacks, then what the summary says of each
/// kind. The columns are inuse_objects and inuse_space; the kind is the label `kind`.
class LeakCheck {
 public:
  LeakCheck();

  SnapshotBuilder& builder() { return builder_; }
  SnapshotFacts& facts() { return builder_.facts(); }

  /// Opens a record; the one before is closed.
  void open_record(std::string_view kind, Leaked leaked);
  bool record_open() const { return record_open_; }
  /// Puts a frame at the root end of the open record's stack. Throws Failure: limit.
  void add_frame(const LeakFrame& frame);
  void close_record();
  /// Forgets the open record, which was cut.
  void drop_record();

  std::uint64_t records() const { return records_; }

  /// What a summary says of `kind`. What the records lack goes to the pseudo frame `rest`, and the
  /// snapshot is no longer complete. Throws Failure: limit.
  void add_summary(std::string_view kind, Leaked total, std::string_view rest);
  /// The same over all kinds together; the rest has no kind.
  void add_total(Leaked total, std::string_view rest);

  /// Marks the snapshot as one whose report ends early.
  void mark_cut(std::string_view why, std::uint64_t offset);

  Result<Snapshot> finish();

 private:
  LabelSetId kind_labels(std::string_view kind);
  void add_rest(LabelSetId labels, Leaked known, Leaked total, std::string_view rest);

  SnapshotBuilder builder_;
  std::vector<FrameId> frames_;
  std::map<std::string, Leaked, std::less<>> sums_;
  std::string kind_;
  Leaked leaked_;
  std::uint64_t records_ = 0;
  bool record_open_ = false;
};

}  // namespace snapdiff::formats::leak_reports
