#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/numbered_frames.hpp"
#include "analyzer/diff/build_match.hpp"
#include "analyzer/diff/own_functions.hpp"
#include "analyzer/diff/side.hpp"
#include "analyzer/diff/visibility.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::diff {

/// What all entries of equal identity hold, at the first and at the last side.
struct UnitValue {
  Change value;
  Change objects;
  double variance = 0;  ///< of both, added
};

/// What sampling blurs in the growth of two snapshots of one process: find_since_baseline().
struct SinceBaseline {
  LargeColumn<double> variance;  ///< by unit
  double total = 0;              ///< of the total: units, unattributed and filtered
};

/// A stack whose growth nobody knows: at the first or at the last side it is not listed by a source that leaves
/// rows out, or its value is unknown.
struct ListedOnceUnit {
  VisibleFrames frames;
  std::uint32_t side = 0;  ///< of `stack`
  StackId stack{};
  std::uint32_t first = 0, last = 0;  ///< sides between which its value is known at both ends
  Change value;                       ///< at `first` and `last`
  Change objects;
};

/// One to many snapshots with their stacks brought together. A unit is a distinct run of visible
/// frames; a row is one unit, or several that a coarser tier holds to be one. All unit vectors
/// are parallel.
struct Comparison {
  DiffOptions options;
  std::string metric;
  std::string unit;
  std::string objects_metric;
  bool has_objects = false;
  Notes notes;

  std::vector<std::shared_ptr<const Visibility>> dictionaries;
  std::vector<std::unique_ptr<const SeenStacks>> seen;  ///< of each dictionary
  std::vector<Side> sides;

  LargeColumn<VisibleFrames> frames;  ///< of a representative, from the latest side that has one
  LargeColumn<std::uint32_t> side;    ///< which side that is
  LargeColumn<StackId> stack;
  LargeColumn<UnitValue> values;
  std::vector<MatchTier> tier;                            ///< none unless in both the first and the last side
  std::vector<std::vector<std::uint32_t>> unit_of_entry;  ///< per side
  std::vector<std::vector<std::uint32_t>> repeated;  ///< per side, ascending: entries whose unit an earlier one has

  /// Set by rebuild::Rebuilds: row_of_unit[u] is the unit that stands for u's row, u itself mostly.
  /// Empty when every unit is a row.
  std::vector<std::uint32_t> row_of_unit;
  std::vector<MatchTier> coarse_tier;  ///< of rows of several units, at the unit that stands for it
  std::uint64_t possible_pairs = 0;
  std::vector<std::uint8_t>
      other_build;  ///< per side: rebuild::Evidence of another build than before; empty: nobody looked
  std::vector<RenamedFunction> renamed;  ///< of each two consecutive sides, most stacks first

  std::optional<SinceBaseline> since_baseline;  ///< set where both ends are of one process

  std::vector<ListedOnceUnit> listed_once;  ///< stacks whose growth nobody knows; in no other part of this
  Change listed_once_value;                 ///< their sums at the first and at the last side
  std::uint64_t held = 0;                   ///< rows that the first source does not list, and later ones do
  std::uint64_t bridged = 0;                ///< points of the series that no source lists

  std::size_t unit_count() const { return values.size(); }
  /// Variance of a unit's growth by sampling and rounding.
  double variance_of(std::size_t u) const { return since_baseline ? since_baseline->variance[u] : values[u].variance; }
  std::uint32_t row_of(std::size_t u) const {
    return row_of_unit.empty() ? static_cast<std::uint32_t>(u) : row_of_unit[u];
  }
  const Dictionary& dictionary_of(const VisibleFrames& f) const { return dictionaries[f.dictionary]->dictionary(); }
};

/// Reads the snapshots' columns, applies the filters, joins equal stacks and, with two or more
/// snapshots, matches what is left by coarser tiers.
/// `snapshots` in time order.
/// Errors: incompatible, usage, limit.
Result<Comparison> compare(std::span<const SnapshotRef> snapshots, const DiffOptions& options);

/// Which columns of the snapshots are compared by the metric; its unit and its counts. Errors: incompatible.
Status pick_columns(Comparison& comparison);

/// Finds out which sides say how much the rows add up to that they leave out. Call before set_aside_listed_once().
void find_rests(Comparison& comparison);

/// Takes the stacks out of the sides whose growth cannot be known, so that what is left adds up; most
/// value first. In a series of eight and more, by stack or frame, what is listed at the last side and at eight and a
/// third of all others stays: hold_beginnings(). Totals of the sides lose them too. Call before equal stacks are
/// joined. Errors: limit.
Status set_aside_listed_once(Comparison& comparison);

/// Gives the first side what it does not list and later sides do, with the value that these first have: the row grew
/// since then, by this much at least. They come after the entries of the side, as those of bridge_gaps(). Call after
/// equal stacks were joined, before anything is asked of rows.
/// Errors: limit.
Status hold_beginnings(Comparison& comparison);

/// Fills points of a series that are unknown between two known ones: as the straight line between
/// those has them. They come after the entries of each side (Side::value, unit_of_entry). Call
/// after equal stacks were joined.
void bridge_gaps(Comparison& comparison);

/// Whether the first and the last side are two moments of one process, and the variance of its growth by sampling if
/// so. Survivors are the same samples on both sides and cancel. What came since the baseline is at most what was
/// allocated since, and at most what is live at the end; what went is at most what was freed since, and what was live
/// at first:
///   variance = k (min(allocated, live at the end) + min(freed, live at first)),
/// where k (live at first + live at the end) is the variance of two independent sides.
///
/// Empty, so that the variance of both totals holds, unless all of these say one process: both sampled with one period,
/// one producer, pids equal where recorded, the current side not older, and columns of all allocations that fall in no
/// stack (README.md, "Numbers").
std::optional<SinceBaseline> find_since_baseline(const Comparison& comparison);

/// inuse_space -> alloc_space; null where the snapshot has no such column.
const Column* allocations_beside(const Snapshot& snapshot, const std::string& metric);

/// Frames by resolving ids; keeps what it reads alive.
class ComparisonView : public StackView, public NumberedFrames {
 public:
  explicit ComparisonView(const Comparison& comparison);

  /// How the view calls a stack of side `side`.
  StackRef refer(StackId stack, std::uint32_t side);
  void frames(StackRef stack, std::vector<FrameView>& out) const override;
  void own_path(StackRef stack, std::vector<std::uint32_t>& out) const override;
  std::size_t function_count() const override { return functions().size(); }
  std::size_t stack_count() const override {
    return dictionaries_[dictionary_of_side_.back()]->dictionary().stacks.size();
  }
  FrameView function(std::uint32_t number) const override { return functions().frame(number); }
  void frame_numbers(std::span<const StackRef> stacks, std::vector<std::uint32_t>& out,
                     std::vector<std::uint32_t>& lengths) const override;
  std::size_t frame_count() const override { return first_frame_.back(); }
  FrameView frame(std::uint32_t number) const override;

 private:
  struct Place {
    std::uint32_t dictionary;
    std::span<const FrameId> frames;  ///< as Visibility::kept() gives them
  };
  struct StackPlace {
    std::uint32_t dictionary;
    StackId stack;
  };
  StackPlace stack_of(StackRef ref) const;
  Place find(StackRef stack, std::vector<FrameId>& scratch) const;
  /// Adds the numbers of the frames of one stack. False if these depend on one another.
  bool add_numbers(StackRef stack, std::vector<std::uint32_t>& out) const;
  const OwnFunctions& functions() const;
  void measure() const;
  FrameView shown(const Visibility& visibility, FrameId frame) const;
  /// The frames that are shown of a place, recursion folded. Valid as long as both vectors.
  std::span<const FrameId> shown(const Place& place, std::vector<FrameId>& scratch, std::vector<FrameId>& folded) const;
  /// Frames in the middle of a stack of too much text: one stands for them and says how many.
  void leave_frames_out(std::vector<FrameView>& frames) const;

  std::vector<std::shared_ptr<const Visibility>> dictionaries_;
  std::vector<std::uint32_t> dictionary_of_side_;
  std::vector<std::size_t> first_frame_;  ///< number of the first frame of each dictionary, then the count of all
  mutable std::once_flag measured_;
  mutable std::size_t longest_text_ = 0;  ///< bytes of text of a frame at most; set by measure()
  mutable bool has_loops_ = false;        ///< some frame is an event loop's; set by measure()
  bool fold_recursion_;
  bool shows_all_;
  struct Between {
    StackId stack;
    std::uint32_t side;
  };
  std::vector<Between> between_;  ///< stacks of sides that are neither first nor last
  std::vector<RenamedFunction> renamed_;
  mutable std::once_flag numbered_;  ///< most views are never asked for numbers
  mutable std::unique_ptr<const OwnFunctions> functions_;
  mutable std::mutex left_out_guard_;
  mutable std::map<std::size_t, std::string> left_out_;  ///< the name that stands for N frames, by N
};

/// One frame of a dictionary.
FrameView frame_view(const Dictionary& dictionary, FrameId frame);

}  // namespace snapdiff::diff
