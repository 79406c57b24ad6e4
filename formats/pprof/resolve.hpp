#pragma once

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/pprof/profile_tables.hpp"

namespace snapdiff::formats::pprof {

/// A stack of the model has at most so many frames; longer ones are refused.
inline constexpr std::size_t kMaxStackFrames = 1'000'000;

/// Frames of one stack, leaf first; kept from sample to sample.
class FrameScratch {
 public:
  void clear() { count_ = 0; }
  /// Room for `more` frames after the present ones.
  FrameId* reserve(std::size_t more) {
    if (count_ + more > frames_.size()) frames_.resize(std::max(count_ + more, frames_.size() * 2));
    return frames_.data() + count_;
  }
  void added(std::size_t more) { count_ += more; }
  std::size_t size() const { return count_; }
  std::span<const FrameId> view() const { return {frames_.data(), count_}; }

 private:
  std::vector<FrameId> frames_;
  std::size_t count_ = 0;
};

/// Puts mappings, functions and locations of a profile into a builder, checked, and knows for
/// each location id its frames.
class Locations {
 public:
  /// Throws Failure.
  Locations(const ProfileTables& tables, SnapshotBuilder& builder);

  /// Appends the frames of the location ids written as varints in [p, end).
  /// Throws Failure (unknown id; more than kMaxStackFrames frames) at `offset`, and what
  /// protozero throws on a broken varint.
  void append_frames(const char* p, const char* end, std::uint64_t offset, FrameScratch& out) const;

 private:
  void add_location(const ProfileTables& tables, std::size_t row, SnapshotBuilder& builder);
  void append_run(std::uint64_t id, std::uint64_t offset, FrameScratch& out) const;

  NumberRows mapping_row_;
  NumberRows function_row_;
  NumberRows location_row_;
  std::vector<ModuleId> module_;      // by mapping row
  std::vector<FunctionId> function_;  // by function row
  std::vector<std::uint32_t> begin_;  // by location row: its frames are frame_[begin_[row] .. begin_[row + 1])
  std::vector<FrameId> frame_;
  // By small location id: frames first .. first + count - 1, as those of nearly all locations are, in one word; 0 where
  // they are not.
  static constexpr std::uint32_t kCountBits = 3;
  std::vector<std::uint32_t> short_run_;
};

}  // namespace snapdiff::formats::pprof
