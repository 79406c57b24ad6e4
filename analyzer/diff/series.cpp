#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analyzer/diff/diff.hpp"
#include "analyzer/diff/make_report.hpp"
#include "analyzer/diff/row_order.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::diff {
namespace {

constexpr double kCollapse = 0.3;  // of the total before: more than any collection of garbage is likely to free

constexpr double kCertain = 4;   // standard errors of sampling
constexpr std::size_t kEnd = 2;  // snapshots: the dump at exit, and one while the process ends

// A restart undoes all that had grown since the start, of several rows; a collection leaves what is in use.
constexpr double kUndone = 0.1;     // of that growth is left at most
constexpr double kMuchGrown = 0.2;  // of the total before: less comes and goes anyhow
constexpr double kSeveral = 0.9;    // of that growth: one row has less
constexpr std::size_t kAgain = 2;   // lives of kJudgedFrom snapshots that end so; a burst ends once
constexpr std::string_view kAllGone = "all that had grown is gone";

/// Below this many stacks two snapshots of one program may share none by chance.
constexpr std::size_t kFewStacks = 5;

/// Which sides have no row in common with the one before, though both have some.
std::vector<bool> strangers(const Comparison& c) {
  constexpr std::uint32_t kNever = 0xffffffff;
  std::vector<std::uint32_t> last(c.unit_count(), kNever);  // by row: the last side that has it
  std::vector<bool> out(c.sides.size(), false);
  for (std::uint32_t s = 0; s < c.sides.size(); ++s) {
    bool shared = false;
    for (const std::uint32_t unit : c.unit_of_entry[s]) {
      std::uint32_t& at = last[c.row_of(unit)];
      shared = shared || (at != kNever && at + 1 == s);
      at = s;
    }
    out[s] = s > 0 && !shared && c.unit_of_entry[s].size() >= kFewStacks && c.unit_of_entry[s - 1].size() >= kFewStacks;
  }
  return out;
}

/// Whether both are moments of one file that records one process from its start to its end, however much that frees.
bool one_recording(const SnapshotFacts& before, const SnapshotFacts& after) {
  const std::string& producer = before.producer;
  const bool records =
      producer == "pytorch" || producer == "massif" || producer == "dhat" || producer.starts_with("heaptrack");
  return records && from_one_file(before, after);
}

/// Whether totals since the start did not fall: both snapshots come from one process.
bool goes_on(const Comparison& c, const Side& before, const Side& after) {
  const Column* const a = allocations_beside(*before.ref.snapshot, c.metric);
  const Column* const b = allocations_beside(*after.ref.snapshot, c.metric);
  if (a == nullptr || b == nullptr) return false;
  const auto sum = [](const Column& column) {
    return std::accumulate(column.value.begin(), column.value.end(), 0.0,
                           [](double so_far, std::int64_t value) { return so_far + static_cast<double>(value); });
  };
  const double allocated = sum(*a);
  return allocated > 0 && sum(*b) >= allocated;
}

/// Whether the total fell, by far more than sampling may show.
bool collapsed(const Side& before, const Side& after) {
  const auto was = static_cast<double>(before.total), is = static_cast<double>(after.total);
  if (was <= 0 || is >= kCollapse * was) return false;
  const double period = before.blur.kind == Blur::Kind::known ? before.blur.period : 0;
  return was - is > kCertain * std::sqrt(std::max(0.0, period * (was + is)));
}

/// Notes why the snapshot may be of another process than the one before, if anything says so. A series that ends with a
/// collapse is at its end, whatever process it is.
void find_restart(const Comparison& c, std::size_t s, bool stranger, bool undone, SeriesStep& step) {
  const Side& before = c.sides[s - 1];
  const Side& after = c.sides[s];
  const bool at_end = s + kEnd >= c.sides.size() && c.sides.size() > kEnd + 2;
  const bool one_file = one_recording(before.ref.snapshot->facts, after.ref.snapshot->facts);
  if (!one_file) {
    step.restart = other_process(*before.ref.snapshot, *after.ref.snapshot);
    if (step.restart.empty() && stranger) step.restart = "not one stack in common with the one before: another program";
  }
  step.other_process = !step.restart.empty();
  // A device trace ends with its program, and its peak is what is looked at.
  if (step.other_process || (one_file && before.ref.snapshot->allocator != nullptr)) return;
  if (!at_end && (one_file || goes_on(c, before, after))) return;
  if (collapsed(before, after)) {
    step.restart = "total fell below 30 % of the one before";
  } else if (undone && !one_file) {
    step.restart = kAllGone;
  }
}

/// One burst is not a restart: growth has to go again and again, each time after a life that is long enough to be
/// judged.
void forget_bursts(std::vector<SeriesStep>& steps) {
  std::size_t long_lives = 0, first = 0;
  for (std::size_t s = 1; s < steps.size(); ++s) {
    if (steps[s].restart.empty()) continue;
    if (steps[s].restart == kAllGone && s - first >= kJudgedFrom) ++long_lives;
    first = s;
  }
  if (long_lives >= kAgain) return;
  for (SeriesStep& step : steps) {
    if (step.restart == kAllGone) step.restart.clear();
  }
}

/// The row of stacks that changed most from side `s - 1` to `s`, by its values there.
struct Heaviest {
  std::uint32_t unit = 0;
  std::int64_t growth = 0;
};

class StepFinder {
 public:
  explicit StepFinder(const Comparison& c)
      : c_(c), order_(c.dictionaries), before_(c.unit_count()), after_(c.unit_count()), start_(c.unit_count()) {
    add(0, after_);
    add(0, start_);
  }

  /// After step(s): whether what had grown since the last start is gone, of more than one row.
  bool undone(std::size_t s) const {
    if (s < start_at_ + kEnd) return false;
    double grown = 0, kept = 0, most = 0;
    for (const std::uint32_t entry_unit : c_.unit_of_entry[s - 1]) {
      const std::uint32_t unit = c_.row_of(entry_unit);
      const auto base = static_cast<double>(start_[unit]), was = static_cast<double>(before_[unit]);
      if (was <= base) continue;
      grown += was - base;
      most = std::max(most, was - base);
      kept += std::clamp(static_cast<double>(after_[unit]) - base, 0.0, was - base);
    }
    return grown >= kMuchGrown * std::abs(static_cast<double>(c_.sides[s - 1].total)) && kept <= kUndone * grown &&
           most < kSeveral * grown;
  }

  /// The snapshot is the first of another life.
  void start(std::size_t s) {
    clear(start_at_, start_);
    add(s, start_);
    start_at_ = s;
  }

  /// Call with s = 1, 2, ... in turn. Looks at rows of the two snapshots alone.
  Heaviest step(std::size_t s) {
    if (s > 1) clear(s - 2, before_);
    before_.swap(after_);
    add(s, after_);
    Heaviest most;
    bool any = false;
    for (const std::size_t side : {s - 1, s}) {
      for (const std::uint32_t entry_unit : c_.unit_of_entry[side]) {
        const std::uint32_t unit = c_.row_of(entry_unit);
        std::int64_t growth = 0;
        if (__builtin_sub_overflow(after_[unit], before_[unit], &growth) || growth == 0) continue;
        if (any && unit == most.unit) continue;
        const bool heavier = !any || magnitude(growth) > magnitude(most.growth);
        const bool as_heavy = any && magnitude(growth) == magnitude(most.growth);
        if (!heavier && !(as_heavy && is_before(unit, most.unit))) continue;
        most = {unit, growth};
        any = true;
      }
    }
    return most;
  }

 private:
  /// By their texts; as they are numbered where these are equal.
  bool is_before(std::uint32_t a, std::uint32_t b) const {
    const int compared = order_.compare(c_.frames[a], c_.frames[b]);
    return compared != 0 ? compared < 0 : a < b;
  }
  void add(std::size_t s, std::vector<std::int64_t>& sums) const {
    for (std::size_t entry = 0; entry < c_.unit_of_entry[s].size(); ++entry) {
      std::int64_t& sum = sums[c_.row_of(c_.unit_of_entry[s][entry])];
      // group() has found out whether the rows fit; here an overflow only costs the example.
      if (__builtin_add_overflow(sum, c_.sides[s].value[entry], &sum)) sum = std::numeric_limits<std::int64_t>::max();
    }
  }
  void clear(std::size_t s, std::vector<std::int64_t>& sums) const {
    for (const std::uint32_t unit : c_.unit_of_entry[s]) sums[c_.row_of(unit)] = 0;
  }

  const Comparison& c_;
  FrameOrder order_;
  std::vector<std::int64_t> before_, after_, start_;
  std::size_t start_at_ = 0;
};

}  // namespace

Result<SeriesReport> diff_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                                 std::optional<double> object_floor) {
  if (snapshots.size() < 2) {
    return Error{ErrorCode::usage,
                 std::string("too few snapshots: found ") + std::to_string(snapshots.size()) + ", expected at least 2"};
  }
  Result<Comparison> comparison = compare(snapshots, options);
  if (!comparison) return std::move(comparison).error();
  const Comparison& c = *comparison;
  const bool wanted = snapshots.size() > 2 || object_floor.has_value();
  Result<GrowthReport> overall = make_report(c, {.series = {wanted, object_floor}, .by_stack = true});
  if (!overall) return std::move(overall).error();

  SeriesReport series;
  series.overall = std::move(*overall);
  StepFinder finder(c);
  const std::vector<bool> is_stranger = strangers(c);
  for (std::size_t s = 0; s < c.sides.size(); ++s) {
    const Side& side = c.sides[s];
    SeriesStep step;
    step.snapshot = side.ref;
    step.total = side.total;
    if (c.has_objects) step.objects = side.total_objects;
    if (s > 0) {
      const Side& before = c.sides[s - 1];
      if (__builtin_sub_overflow(side.total, before.total, &step.growth)) {
        return beyond_64_bits("growth of " + c.metric + " in a step");
      }
      step.other_build = !c.other_build.empty() && c.other_build[s] != 0;
      const Heaviest heaviest = finder.step(s);
      find_restart(c, s, is_stranger[s], finder.undone(s), step);
      if (!step.restart.empty()) finder.start(s);
      step.heaviest_growth = heaviest.growth;
      if (heaviest.growth != 0) {
        const VisibleFrames& frames = c.frames[heaviest.unit];
        for (const FrameId frame : frames.frames()) {
          step.heaviest.push_back(frame_view(c.dictionary_of(frames), frame));
        }
      }
    }
    series.steps.push_back(std::move(step));
  }
  forget_bursts(series.steps);
  return series;
}

}  // namespace snapdiff::diff
