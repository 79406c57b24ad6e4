#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/base/frame_kind.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::diff {

/// The compiled filters of one question. Errors name the pattern.
class FrameFilters {
 public:
  struct Impl;

  /// `drop_frames` and `keep_frames` come out of the inputs, one of each per snapshot; one that is
  /// no regular expression is left out and noted.
  /// Errors: usage, for a bad expression in the options.
  static Result<FrameFilters> compile(const DiffOptions& options, std::span<const SnapshotRef> snapshots, Notes& notes);

  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Which frames of one dictionary's stacks the filters leave visible. Every function and module
/// is matched once, at construction.
class Visibility {
 public:
  Visibility(std::shared_ptr<const Dictionary> dictionary, const FrameFilters& filters);

  const Dictionary& dictionary() const { return *dictionary_; }

  /// What of a stack is neither the allocator's own, at its leaf, nor dropped by drop_frames; never nothing of a stack
  /// that has frames. Valid as long as `frames` and `scratch`, which holds it where a frame went from the middle.
  std::span<const FrameId> kept(std::span<const FrameId> frames, std::vector<FrameId>& scratch) const {
    if (!any(kAllocator | kDrop)) return frames;
    std::size_t cut = 0;
    if (any(kAllocator)) {
      // The recorder's own frames are before those of the allocator that it watches.
      const Mark passed = shows_emptied_ ? kAllocator | kHidden : kAllocator;
      while (cut < frames.size() && has(frames[cut], passed)) ++cut;
      if (cut == frames.size()) cut = 0;
    }
    return any(kDrop) ? without_dropped(frames, cut, scratch) : frames.subspan(cut);
  }

  /// What is shown of these frames: where Python frames are preferred, only these of a stack that has any. A stack
  /// whose frames are all hidden is shown whole if a frame set hides them, and not at all if an expression of the
  /// user's does. Valid as long as `frames` and `scratch`.
  std::span<const FrameId> visible(std::span<const FrameId> frames, std::vector<FrameId>& scratch) const;
  /// Whose code it is, by the rules of frame_kind() and by --own and --library; unknown for a pseudo frame.
  FrameKind kind(FrameId frame) const { return kinds_[index_of(frame)]; }
  /// Not the user's own code.
  bool is_library(FrameId frame) const { return has(frame, kLibrary | kAllocator); }

  /// Whether a frame matches this filter of the user's.
  bool any_focus() const { return any(kFocus); }
  bool any_ignored() const { return any(kIgnore); }
  bool any_profiler() const { return any(kProfiler); }
  bool any_hide() const { return any(kHide); }
  bool any_show() const { return any(kShown); }

  /// Whether --focus and --ignore leave the stack in, and it is not the profiler's own. `frames` as kept() gives them.
  bool passes(std::span<const FrameId> frames) const;

 private:
  /// What the filters find in a frame, its function or its module; its lower byte is kept per frame.
  using Mark = unsigned;
  static constexpr Mark kAllocator = 1;
  static constexpr Mark kDrop = 2;
  static constexpr Mark kHidden = 4;
  static constexpr Mark kFocus = 8;
  static constexpr Mark kIgnore = 16;
  static constexpr Mark kLibrary = 32;
  static constexpr Mark kNative = 64;     ///< hidden beside Python frames
  static constexpr Mark kProfiler = 128;  ///< memory of the profiler itself
  static constexpr Mark kShown = 256;     ///< matches --show
  static constexpr Mark kOwn = 512;       ///< matches --own
  static constexpr Mark kHide = 1024;     ///< matches --hide

  struct Found {
    Mark mark = 0;
    FrameKind kind = FrameKind::own;
  };
  static Mark searched(const FrameFilters::Impl& filters, std::string_view text);
  static Found found_in_function(const FrameFilters::Impl& filters, std::string_view name, std::string_view file);
  static Found found_in_module(const FrameFilters::Impl& filters, std::string_view name);
  /// Headers without a folder belong to a shared library of the system where all their functions with a namespace are
  /// in one that it has: they were inlined into the program, and so their module does not say it.
  void find_library_headers(std::span<const Found> modules, std::span<Found> functions) const;
  Found found_in_frame(std::size_t frame, const Found& function, const Found& module) const;

  bool any(Mark marks) const { return (any_ & marks) != 0; }
  bool has(FrameId frame, Mark flag) const { return (flags_[index_of(frame)] & flag) != 0; }
  std::span<const FrameId> without_dropped(std::span<const FrameId> frames, std::size_t cut,
                                           std::vector<FrameId>& scratch) const;

  std::shared_ptr<const Dictionary> dictionary_;
  std::vector<std::uint8_t> flags_;
  std::vector<FrameKind> kinds_;
  Mark any_ = 0;  ///< of some frame
  bool shows_emptied_ = false;
  bool focused_ = false;
};

}  // namespace snapdiff::diff
