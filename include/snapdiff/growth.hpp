#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapdiff/checked.hpp"
#include "snapdiff/notes.hpp"
#include "snapdiff/series_values.hpp"
#include "snapdiff/snapshot.hpp"

/// What the diff engine is asked and what it returns. Everything that prints, draws or exports a
/// diff works from these types alone.
namespace snapdiff {

struct Story;

/// A snapshot and how to call it: the user's operand, or "@7" out of the store.
struct SnapshotRef {
  std::shared_ptr<const Snapshot> snapshot;
  std::string ref;     ///< "@7" where stored, else the operand
  std::string series;  ///< name of the series, "" outside a store
};

enum class GroupBy : std::uint8_t { stack, function, file, line, module, type, label };
constexpr std::string_view to_text(GroupBy by) {
  constexpr std::string_view kNames[] = {"stack", "function", "file", "line", "module", "type", "label"};
  return kNames[static_cast<std::size_t>(by)];
}

enum class SortKey : std::uint8_t { change, growth, after, objects, name };

/// Which frames of snapshots with both kinds are shown (PyTorch's with C++ stacks).
///   usual   all but the recorder's, the interpreter's and the dispatcher's
///   A stack of which nothing is left is shown whole.
enum class FrameSet : std::uint8_t { usual, python, native, all };
constexpr std::string_view to_text(FrameSet set) {
  constexpr std::string_view kNames[] = {"usual", "python", "native", "all"};
  return kNames[static_cast<std::size_t>(set)];
}

/// One view of a diff. Regular expressions are RE2, searched (not anchored) in function name,
/// file and module name of each frame, as pprof does.
struct DiffOptions {
  std::string metric;  ///< column name; "" chooses (product.md, default metric)
  GroupBy by = GroupBy::stack;
  std::string label_key;  ///< for GroupBy::label
  SortKey sort = SortKey::change;
  std::string focus;    ///< keep only stacks with a matching frame; the rest is `filtered`
  std::string ignore;   ///< leave out stacks with a matching frame; they are `filtered`
  std::string hide;     ///< drop matching frames from stacks
  std::string show;     ///< keep only matching frames of stacks
  std::string own;      ///< frames that match are the user's own code, whatever the built-in rules say
  std::string library;  ///< frames that match are library code; --own outweighs it
  bool hide_allocator_frames = true;
  FrameSet frames = FrameSet::usual;
  bool fold_recursion = true;   ///< stacks that differ only in how deep they recurse are one row
  bool match_strictly = false;  ///< by T0 to T2 only: nothing is matched across builds by anything else
  friend bool operator==(const DiffOptions&, const DiffOptions&) = default;
};

/// algorithms.md section 1: by what a stack of one side was matched on the other.
///   build_id       T0: build id and offset in every unsymbolized frame
///   module_offset  T1: module name, mapping size and offset
///   function_line  T2: function, file and line
/// From function_file on only between two builds (analyzer/diff/README.md, Another build):
///   function_file  T3: functions, and lines that moved
///   normalised     T4: the same with a function under another name
///   inline_free    the same without frames that only one side has: inlined, split out, of the library
///   fuzzy          alignment with gaps, clearly the best; marked in every output
///   merged         the run of functions alone: several stacks in one row, marked in every output
///   none           on one side only
enum class MatchTier : std::uint8_t {
  build_id,
  module_offset,
  function_line,
  function_file,
  normalised,
  inline_free,
  fuzzy,
  merged,
  none
};
inline constexpr std::size_t kMatchTiers = 9;
constexpr std::string_view to_text(MatchTier tier) {
  constexpr std::string_view kNames[] = {"T0", "T1", "T2", "T3", "T4", "inline", "fuzzy", "merged", "unmatched"};
  return kNames[static_cast<std::size_t>(tier)];
}

/// A function that another build calls otherwise.
struct RenamedFunction {
  std::string before, after;
  std::uint64_t stacks = 0;  ///< matched ones that hold it
};

/// new: only in current. gone: only in baseline.
enum class RowClass : std::uint8_t { added, gone, grew, shrank, same };
constexpr std::string_view to_text(RowClass row_class) {
  constexpr std::string_view kNames[] = {"new", "gone", "grew", "shrank", "same"};
  return kNames[static_cast<std::size_t>(row_class)];
}

/// A stack of one of the two sides; `side` 0 = baseline, 1 = current. In a series, 2 = a stack that
/// neither of them has; only the report's view can resolve it.
struct StackRef {
  StackId stack{};
  std::uint8_t side = 0;
};

/// What the baseline calls the stack of a row that was matched across builds.
struct Counterpart {
  std::uint32_t key = 0;  ///< GrowthRow::key
  StackRef before;        ///< the largest of the baseline's
  std::uint32_t stacks_before = 0, stacks_after = 0;
};

/// Of how many instances of a service a row grew, where the sides are sums over several machines.
///   of   instances that were there at both ends; by version or another label of theirs, those that have the row's;
///        0 outside a fleet and where it is unknown
struct InstanceCount {
  std::uint32_t grew = 0, shrank = 0, of = 0;
};

/// A value on both sides. growth() is exact: the engine has checked that it fits.
struct Change {
  std::int64_t baseline = 0;
  std::int64_t current = 0;
  std::int64_t growth() const { return current - baseline; }
  friend bool operator==(const Change&, const Change&) = default;
  /// Each side, modulo 2^64.
  friend constexpr Change operator+(const Change& a, const Change& b) {
    return {wrapping_sum(a.baseline, b.baseline), wrapping_sum(a.current, b.current)};
  }
  friend constexpr Change operator-(const Change& a, const Change& b) {
    return {wrapping_difference(a.baseline, b.baseline), wrapping_difference(a.current, b.current)};
  }
  Change& operator+=(const Change& other) { return *this = *this + other; }
  Change& operator-=(const Change& other) { return *this = *this - other; }
};

/// How `--by` other than stack sees a row: everything in stacks that hold the key, each stack
/// once. grew and shrank (>= 0 and <= 0) add up to the growth of the cumulative value.
struct CumulativeChange {
  Change value;
  Change objects;
  std::int64_t grew = 0;
  std::int64_t shrank = 0;
};

/// One row: a stack (or key) with its flat values.
struct GrowthRow {
  Change value;             ///< in the metric's unit
  Change objects;           ///< valid when GrowthReport::has_objects
  std::int64_t grew = 0;    ///< sum of the growing stacks in this row, >= 0
  std::int64_t shrank = 0;  ///< sum of the shrinking ones, <= 0; grew + shrank == value.growth()
  double error = 0;         ///< one standard deviation of the growth by sampling; 0 when exact, NaN when unknown
  double sample = 0;        ///< what one sample of this row stands for, in the metric's unit; 0 when not sampled
  std::uint32_t key = 0;    ///< row of GrowthReport::stacks or ::keys
  RowClass row_class = RowClass::same;
  MatchTier tier = MatchTier::none;  ///< the weakest by which a part of the row was matched
};

/// One frame, resolved. Views live as long as the report's snapshots.
struct FrameView {
  std::string_view function;  ///< "" when unsymbolized
  std::string_view file;
  std::string_view module;  ///< path as recorded
  std::string_view build_id;
  std::uint64_t offset = kNoOffset;
  std::int32_t line = 0;
  bool inlined = false;
  bool pseudo = false;
  bool library = false;  ///< of a library or a runtime, not the user's own code
  friend bool operator==(const FrameView&, const FrameView&) = default;
};

/// Resolves stacks to the frames that the options leave visible. Implemented by analyzer/diff. Any number of threads
/// may ask at once.
class StackView {
 public:
  virtual ~StackView() = default;
  /// Leaf first, into `out` (cleared before). Empty when every frame is hidden.
  virtual void frames(StackRef stack, std::vector<FrameView>& out) const = 0;

  /// The user's own functions on the way from the root to the allocation, root first, each once, into `out`
  /// (cleared before), as numbers below function_count(). A stack without own code gives its leaf; one whose frames
  /// are all hidden nothing. Only views of the diff engine know numbers: others give none.
  virtual void own_path(StackRef, std::vector<std::uint32_t>& out) const { out.clear(); }
  virtual std::size_t function_count() const { return 0; }
  /// Stacks that the last snapshot knows, whatever their metric: StackRef{0 .. stack_count() - 1, 1}.
  virtual std::size_t stack_count() const { return 0; }
  /// A frame of this function, for its name: any of them.
  virtual FrameView function(std::uint32_t) const { return {}; }
};

/// Addresses without a name: what a binary could say (symbolize, --symbols).
struct UnnamedModule {
  std::string_view module;  ///< path as recorded, "" = outside every module
  std::uint64_t addresses = 0;
  std::int64_t value = 0;  ///< of the metric, in stacks that hold one of them
};
struct Unnamed {
  std::uint64_t addresses = 0;  ///< distinct addresses in the stacks, named ones too; hidden frames are left out
  std::uint64_t unnamed = 0;
  std::int64_t value = 0;              ///< of the metric, in stacks that hold an unnamed one
  std::vector<UnnamedModule> modules;  ///< most value first, then by name
};

/// A stack whose growth nobody knows, because a source that leaves rows out does not list it at one
/// end, or because a value there is unknown. In no row and in no total.
struct ListedOnce {
  StackRef stack;
  std::uint32_t first = 0, last = 0;  ///< snapshots of the series between which it is known at both ends
  Change value;                       ///< there
  Change objects;
};

/// Growth between two snapshots.
///   rows     total order: by the sort key, then key text, so that output is reproducible. Holds
///            every row, also unchanged ones; never [unattributed] or filtered stacks
///   cumulative  parallel to rows when by != stack, else empty
///   series   parallel to rows, `series_length` values each, when the report is the first -> last
///            view of a longer series; else empty. Unknown: the value is that of the line between its
///            neighbours
///   object_series, object_place   the same of objects: row `r` has its counts in row
///            object_place[r] of object_series, kNoPlace where they were not kept.
///            Rows that stay below the byte floor (kFloorShare) are kept only when asked for
///   listed_once   most value first; listed_once_value is their sum at baseline and current
/// Conservation: sum of rows' growth + unattributed + filtered == total, exactly.
struct GrowthReport {
  SnapshotRef baseline;
  SnapshotRef current;
  DiffOptions options;
  std::string metric;
  std::string unit;
  std::string objects_metric;  ///< the count column beside the metric, "" when there is none
  bool has_objects = false;
  bool has_error = false;  ///< one of the sides is sampled with a known period, or rounded
  bool rounded = false;    ///< has_error because of rounding alone
  bool exact = false;      ///< both sides record every allocation
  /// Both sides are of one process, so that survivors are the same samples and cancel: errors are of what was
  /// allocated and freed since the baseline. False: of both totals, which over-states them for one process.
  bool error_since_baseline = false;
  std::vector<GrowthRow> rows;
  std::vector<CumulativeChange> cumulative;
  std::vector<StackRef> stacks;   ///< by stack: representative per key
  std::vector<std::string> keys;  ///< otherwise
  std::shared_ptr<const StackView> view;
  Change total, total_objects;
  Change unattributed, unattributed_objects;
  Change filtered, filtered_objects;
  std::int64_t grew = 0;             ///< sum over growing rows, unattributed and filtered included; >= 0
  std::int64_t shrank = 0;           ///< <= 0; grew + shrank == total.growth()
  double total_error = 0;            ///< NaN when unknown
  double total_sample = 0;           ///< as GrowthRow::sample, of all bytes
  double matched[kMatchTiers] = {};  ///< share of both sides' bytes per tier; adds up to 1 (all 0 when both are empty)
  std::uint64_t possible_pairs = 0;  ///< unmatched stacks like several others, or not clearly like one; noted
  std::vector<RenamedFunction> renamed;   ///< between two builds, most stacks first
  std::vector<Counterpart> counterparts;  ///< by stack: of rows matched across builds, in order of GrowthRow::key
  std::string rule_set;                   ///< id of the normalisation rules, e.g. "1"
  Unnamed unnamed;                        ///< of `current`; all 0 where nothing is unnamed
  std::string common_path;                ///< last frame that all culprits share, e.g. "main", or ""
  SeriesValues series;
  std::size_t series_length = 0;
  static constexpr std::uint32_t kNoPlace = 0xffffffff;
  SeriesValues object_series;
  std::vector<std::uint32_t> object_place;
  std::vector<InstanceCount> instances;  ///< parallel to rows; empty outside a fleet
  std::vector<ListedOnce> listed_once;
  Change listed_once_value;
  std::shared_ptr<const Story> story;            ///< filled by story::tell(); null before
  std::shared_ptr<const GrowthReport> by_stack;  ///< the same by stack, where this is by something else
  Notes notes;

  void frames(const GrowthRow& row, std::vector<FrameView>& out) const { view->frames(stacks[row.key], out); }

  /// Of the row with this key; null where its stacks are equal on both sides, or on one only.
  const Counterpart* counterpart(std::uint32_t key) const {
    const auto found = std::lower_bound(counterparts.begin(), counterparts.end(), key,
                                        [](const Counterpart& one, std::uint32_t k) { return one.key < k; });
    return found != counterparts.end() && found->key == key ? &*found : nullptr;
  }
};

/// Totals of one snapshot of a series and its step from the one before.
struct SeriesStep {
  SnapshotRef snapshot;
  std::int64_t total = 0;
  std::optional<std::int64_t> objects;
  std::int64_t growth = 0;          ///< 0 for the first
  std::vector<FrameView> heaviest;  ///< visible frames of the stack that changed most, leaf first
  std::int64_t heaviest_growth = 0;
  std::string restart;         ///< why a restart is suspected here, "" if not
  bool other_process = false;  ///< because the snapshots say so (pid, mappings), not by the total alone
  bool other_build = false;    ///< a release lies between this snapshot and the one before
};

/// More than two snapshots: totals per step and the first -> last view.
struct SeriesReport {
  std::vector<SeriesStep> steps;
  GrowthReport overall;
};

/// One snapshot's heaviest rows; `value` in the metric's unit.
struct TopRow {
  std::int64_t value = 0;
  std::int64_t objects = 0;
  std::int64_t cumulative = 0;  ///< by != stack
  double error = 0;
  std::uint32_t key = 0;
};
struct TopReport {
  SnapshotRef snapshot;
  DiffOptions options;
  std::string metric;
  std::string unit;
  bool has_objects = false;
  std::vector<TopRow> rows;
  std::vector<StackRef> stacks;  ///< side is always 1
  std::vector<std::string> keys;
  std::shared_ptr<const StackView> view;
  std::int64_t total = 0, total_objects = 0;
  std::int64_t unattributed = 0, filtered = 0;
  Unnamed unnamed;
  Notes notes;
};

/// Callers and callees of the functions that match a regular expression, with their growth.
struct PeekEdge {
  std::string function;
  Change value;
  Change objects;
};
struct PeekFunction {
  std::string function;
  Change flat, cumulative;
  std::vector<PeekEdge> callers;  ///< flat = value of stacks where the function is called by it
  std::vector<PeekEdge> callees;
};
struct PeekReport {
  SnapshotRef baseline;
  SnapshotRef current;
  std::string metric;
  std::string unit;
  std::string regex;
  std::vector<PeekFunction> functions;
  Change total;
  /// Between two builds the comparison by stack, and those of its rows that were matched across them and hold one of
  /// the functions, the largest growth first. Null, and none, otherwise.
  std::shared_ptr<const GrowthReport> by_stack;
  std::vector<std::uint32_t> matched_rows;
};

inline constexpr double kUnknownError = std::numeric_limits<double>::quiet_NaN();

}  // namespace snapdiff
