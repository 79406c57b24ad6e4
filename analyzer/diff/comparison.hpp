#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/diff/build_match.hpp"
#include "analyzer/diff/listed_once.hpp"
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

/// What sampling blurs in the growth of two snapshots of one process (one_process.hpp).
struct SinceBaseline {
  std::vector<double> variance;  ///< by unit
  double total = 0;              ///< of the total: units, unattributed and filtered
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

  std::vector<VisibleFrames> frames;  ///< of a representative, from the latest side that has one
  std::vector<std::uint32_t> side;    ///< which side that is
  std::vector<StackId> stack;
  std::vector<UnitValue> values;
  std::vector<MatchTier> tier;                            ///< none unless in both the first and the last side
  std::vector<std::vector<std::uint32_t>> unit_of_entry;  ///< per side

  /// Set by rebuild::Rebuilds: row_of_unit[u] is the unit that stands for u's row, u itself mostly.
  /// Empty when every unit is a row.
  std::vector<std::uint32_t> row_of_unit;
  std::vector<MatchTier> coarse_tier;  ///< of rows of several units, at the unit that stands for it
  std::uint64_t possible_pairs = 0;
  std::vector<std::uint8_t> other_build;  ///< per side: another build than the one before; empty: nobody looked
  std::vector<RenamedFunction> renamed;   ///< of each two consecutive sides, most stacks first

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

/// Frames by resolving ids; keeps what it reads alive.
class ComparisonView : public StackView {
 public:
  explicit ComparisonView(const Comparison& comparison);

  /// How the view calls a stack of side `side`.
  StackRef refer(StackId stack, std::uint32_t side);
  void frames(StackRef stack, std::vector<FrameView>& out) const override;
  void own_path(StackRef stack, std::vector<std::uint32_t>& out) const override;
  std::size_t function_count() const override { return functions().size(); }
  FrameView function(std::uint32_t number) const override { return functions().frame(number); }

 private:
  struct Place {
    std::uint32_t dictionary;
    std::span<const FrameId> frames;  ///< as Visibility::kept() gives them
  };
  Place find(StackRef stack, std::vector<FrameId>& scratch) const;
  const OwnFunctions& functions() const;

  std::vector<std::shared_ptr<const Visibility>> dictionaries_;
  std::vector<std::uint32_t> dictionary_of_side_;
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
};

/// One frame of a dictionary.
FrameView frame_view(const Dictionary& dictionary, FrameId frame);

}  // namespace snapdiff::diff
