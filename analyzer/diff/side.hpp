#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/diff/arena.hpp"
#include "analyzer/diff/visibility.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/hash.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::diff {

/// Frames of a stack that are visible, leaf first; points into a dictionary or an arena.
struct VisibleFrames {
  const FrameId* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t dictionary = 0;  ///< which one of the comparison
  std::span<const FrameId> frames() const { return {data, size}; }
};

enum class Fate : std::uint8_t { visible, unattributed, filtered };

/// What the filters leave of each stack of a dictionary. Each is looked at once, however many
/// snapshots hold it. All vectors by StackId; frames and identity mean something for visible ones.
struct SeenStacks {
  LargeColumn<Fate> fate;
  LargeColumn<VisibleFrames> frames;
  std::span<const Hash128> of_all_frames;  ///< hashes of the dictionary's stacks
  LargeColumn<Hash128> of_shown_frames;    ///< empty where every visible stack shows all its frames
  std::vector<Arena<FrameId>> arenas;      ///< of frames where some in the middle of a stack are hidden

  /// Of the visible frames.
  const Hash128& identity(StackId stack) const {
    return of_shown_frames.empty() ? of_all_frames[index_of(stack)] : of_shown_frames[index_of(stack)];
  }
};

/// `dictionary` is its number in the comparison; with `fold_recursion` frames that repeat those
/// right before them are taken out.
SeenStacks see_stacks(const Visibility& visibility, std::uint32_t dictionary, bool fold_recursion);

/// Stacks that differ only in how deep they recurse are one stack to a reader: `frames` without runs of up to four that
/// repeat the run right before them, a b b b c -> a b c, a b c b c d -> a b c d. Valid as long as `frames` and
/// `scratch`.
std::span<const FrameId> without_recursion(std::span<const FrameId> frames, std::vector<FrameId>& scratch);

/// The columns of one snapshot that a diff looks at.
struct Columns {
  const Column* value = nullptr;
  const Column* objects = nullptr;  ///< null when the report has none
  const Column* bytes = nullptr;    ///< for the sampling error: bytes and counts, null where absent
  const Column* counts = nullptr;
  const Column* half_units = nullptr;  ///< half of the rounding step of each value; null: Column::half_unit of `value`
};

/// How much the sampling of a snapshot blurs its values.
struct Blur {
  enum class Kind : std::uint8_t { none, known, unknown } kind = Kind::unknown;
  double period = 0;
};
Blur blur_of(const SnapshotFacts& facts);

/// Variance of an estimate by Poisson sampling with mean distance `period`, from the un-sampled
/// bytes and counts of one row; of the bytes, or with `of_counts` of the counts. Without counts
/// (0) the bound bytes * period. Source: pprof.md section 6.2.
double sampling_variance(double bytes, double counts, double period, bool of_counts);

/// What a sum is said to be that does not fit.
inline Error beyond_64_bits(const std::string& what) {
  return {ErrorCode::limit, what + " is beyond 2^63-1, expected it to fit in 64 bits"};
}

struct Side;

/// A column of a side: lent by the snapshot where it is the same there, so that a long series is not in memory twice.
/// What lends it is neither changed nor moved meanwhile.
template <class T>
class SideColumn {
 public:
  void lend(std::span<const T> column) {
    own_.clear();
    lent_ = column;
  }
  /// To be changed; a column that is lent is copied first.
  std::vector<T>& own() {
    if (lent_.data() != nullptr) own_.assign(lent_.begin(), lent_.end());
    lent_ = {};
    return own_;
  }
  const T& operator[](std::size_t i) const { return view()[i]; }
  std::size_t size() const { return view().size(); }
  bool empty() const { return view().empty(); }
  auto begin() const { return view().begin(); }
  auto end() const { return view().end(); }

 private:
  std::span<const T> view() const { return lent_.data() != nullptr ? lent_ : std::span<const T>(own_); }

  std::span<const T> lent_;
  std::vector<T> own_;
};

/// Variance of the metric's value in one sample row: of the sampling, and of rounding, of which half a step
/// counts as one standard deviation. 0 where neither is known.
double row_variance(const Side& side, std::size_t row);

/// One snapshot, summed per distinct stack: an entry is a stack that holds the metric or objects
/// and that the filters let through. All vectors below are parallel, entries in order of StackId.
struct Side {
  static constexpr std::uint32_t kNoEntry = 0xffffffff;

  SnapshotRef ref;
  std::uint32_t dictionary = 0;
  const SeenStacks* seen = nullptr;  ///< the dictionary's stacks
  Columns columns;
  Blur blur;
  bool rounded = false;  ///< the source printed rounded values
  bool whole = true;     ///< the rows add up to the total: an absent row is 0, or a part of the rest that is listed
  /// The most that an absent row may hold: the largest rest that is listed; 0 where the source leaves nothing out.
  std::int64_t unlisted = 0;

  SideColumn<StackId> stack;
  SideColumn<std::int64_t> value;
  SideColumn<std::int64_t> objects;   ///< empty without an objects column
  std::vector<double> variance;       ///< empty unless blurred or rounded, and it was asked for
  std::vector<std::uint8_t> unknown;  ///< 1: the value is not known (and 0 here); empty: all are
  std::vector<Hash128> salted;        ///< identities, where those of `seen` do not hold; mostly empty

  /// Entry of each sample row; kNoEntry where it has none. Only when asked for.
  std::vector<std::uint32_t> entry_of_row;

  std::int64_t total = 0, total_objects = 0;
  std::int64_t unattributed = 0, unattributed_objects = 0;
  std::int64_t filtered = 0, filtered_objects = 0;
  double total_variance = 0;         ///< where asked for
  std::uint64_t unknown_values = 0;  ///< values of the metric that the input does not know

  const VisibleFrames& frames(std::size_t entry) const { return seen->frames[index_of(stack[entry])]; }
  const Hash128& identity(std::size_t entry) const { return salted.empty() ? recorded_identity(entry) : salted[entry]; }
  /// Of the frames alone, whatever other sides are compared with this one.
  const Hash128& recorded_identity(std::size_t entry) const { return seen->identity(stack[entry]); }
};

/// What summarise() does beyond adding up.
struct Summary {
  bool keep_rows = false;      ///< fills entry_of_row
  bool keep_variance = false;  ///< fills variance and total_variance
};

/// Fills all but ref, dictionary, seen, columns and salted. Errors: limit.
Status summarise(Side& side, const Summary& how);

}  // namespace snapdiff::diff
