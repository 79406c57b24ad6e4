#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

/// Keeps copies of visible frames where some in the middle of a stack are hidden.
class FrameArena {
 public:
  const FrameId* keep(std::span<const FrameId> frames);

 private:
  static constexpr std::size_t kChunk = 64 * 1024;
  std::vector<std::unique_ptr<FrameId[]>> chunks_;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
};

/// The columns of one snapshot that a diff looks at.
struct Columns {
  const Column* value = nullptr;
  const Column* objects = nullptr;  ///< null when the report has none
  const Column* bytes = nullptr;    ///< for the sampling error: bytes and counts, null where absent
  const Column* counts = nullptr;
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

/// One snapshot, summed per distinct stack: an entry is a stack that holds the metric or objects
/// and that the filters let through. All vectors below are parallel, entries in order of StackId.
struct Side {
  static constexpr std::uint32_t kNoEntry = 0xffffffff;

  SnapshotRef ref;
  std::uint32_t dictionary = 0;
  Columns columns;
  Blur blur;

  std::vector<StackId> stack;
  std::vector<std::int64_t> value;
  std::vector<std::int64_t> objects;  ///< empty without an objects column
  std::vector<double> variance;       ///< empty unless blur is known
  std::vector<VisibleFrames> frames;
  std::vector<Hash128> identity;  ///< of the visible frames

  /// Entry of each sample row; kNoEntry where it has none. Only when asked for.
  std::vector<std::uint32_t> entry_of_row;

  std::int64_t total = 0, total_objects = 0;
  std::int64_t unattributed = 0, unattributed_objects = 0;
  std::int64_t filtered = 0, filtered_objects = 0;
  double total_variance = 0;
  std::uint64_t unknown_values = 0;  ///< values of the metric that the input does not know
  FrameArena arena;
};

/// What summarise() does beyond adding up.
struct Summary {
  bool fold_recursion = false;  ///< frames that repeat those right before them are taken out
  bool keep_rows = false;       ///< fills entry_of_row
};

/// Fills all but ref, dictionary and columns. Errors: limit.
Status summarise(Side& side, const Visibility& visibility, const Summary& how);

}  // namespace snapdiff::diff
