#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "snapdiff/growth.hpp"

/// What a series of snapshots shows over time. Everything that prints a trend works from these types.
namespace snapdiff {

/// From this many snapshots on a series can be judged GROWING; below, RISING is the most.
inline constexpr std::size_t kJudgedFrom = 8;

/// Of the largest snapshot. Below 0.2 % of the heap a leak is not worth a word, and among a hundred
/// thousand stacks harmless rises of that size outnumber leaks.
inline constexpr double kFloorShare = .002;

/// Seconds of data from which on rates are given per hour.
inline constexpr double kHourlyFrom = 600;

/// What one series of values shows.
///   word        GROWING, RISING, SATURATING, STEP, SHRINKING, NOISY, FLAT, NEW or GONE; "" for fewer
///               than three known values and for minor ones
///   minor       the values change, but by less than the floor: not judged
///   reason      why, for people, without a full stop
///   p           odds of the climbing shapes, 0..1; over-confident below 8 values
///   slope       least squares, per step, in the values' unit
///   slope_low, slope_high   95 % band; where the series is a random walk it is centred on the mean step
///               instead of the slope
///   rise        slope times (number of values - 1)
///   doublings   jumps that each double the values while the number of objects stays as it is: a table that
///               resizes, whose content still grows. 0 where other rises are among them, or fewer than three
///   by_objects  the word and p come from counts of objects, which scatter less than bytes; slope and
///               rise are still of the values
struct Verdict {
  std::string word;
  std::string reason;
  double p = 0;
  double slope = 0;
  double slope_low = 0;
  double slope_high = 0;
  double rise = 0;
  std::size_t doublings = 0;
  bool by_objects = false;
  bool minor = false;

  /// Distance of the slope to the end of its interval that is nearer to zero: what the slope is at least.
  double band() const { return std::max(0.0, slope >= 0 ? slope - slope_low : slope_high - slope); }
};

/// When the snapshots of a series were taken, and what one step stands for.
///   seconds   since the first, one per snapshot; empty where the inputs hold no usable times
///   step_seconds  mean distance; 0 without times. One step of a slope is this long
///   places    where each snapshot lies, in steps of the mean distance, where the values are judged by it: where
///             snapshots are missing in a regular series, and where the inputs count what the process had done
///             (instructions, bytes allocated) in place of times. Empty: one step apart, as are snapshots taken at
///             no rhythm at all (one per request, say)
///   note      what is wrong with the times, "" when nothing
struct TimeAxis {
  std::vector<double> seconds;
  double step_seconds = 0;
  std::vector<double> places;
  std::string note;

  bool even() const { return places.empty(); }

  /// Growth an hour for a slope a step. Empty without times, and where the snapshots span less than kHourlyFrom:
  /// what a few seconds show says nothing about an hour.
  std::optional<double> per_hour(double slope) const {
    if (seconds.empty() || seconds.back() < kHourlyFrom || step_seconds <= 0) return std::nullopt;
    return slope * 3600 / step_seconds;
  }
};

/// When a climbing total meets a limit.
///   none      no limit was given, or too few snapshots to say
///   reached   it is there
///   never     the slope's 95 % interval includes 0
///   ahead     in `steps` steps, between `soonest` and `latest`
struct Forecast {
  enum class Kind : std::uint8_t { none, reached, never, ahead };
  Kind kind = Kind::none;
  double steps = 0;
  double soonest = 0;
  double latest = 0;
};

/// How the snapshots of a series were made, where the user says so, and what that leaves behind.
///   round_trips  each snapshot follows `loops` repetitions of something that should leave nothing:
///                rows whose objects grew by at least that many between every two snapshots
///   triple       baseline, target, final: rows of which the final snapshot still holds what the
///                target added
///   rows         of series.overall, most kept first
///   kept         by row of series.overall, 0 for all others. round_trips: growth from first to last;
///                triple: what target and final both have beyond the baseline
///   least        likewise. round_trips: objects in the round that left fewest
struct Scenario {
  enum class Kind : std::uint8_t { round_trips, triple };
  Kind kind = Kind::round_trips;
  std::int64_t loops = 0;
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> kept;
  std::vector<std::int64_t> least;
  std::int64_t kept_total = 0;
};

/// Snapshots of one life of a process, from one restart to the next: [first, end).
struct Life {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - first; }
  friend bool operator==(const Life&, const Life&) = default;
};

/// The trend of a series, per row of its first -> last view.
///   series    of the snapshots that were judged: those of one life
///   steps     of all snapshots
///   all       rows of all snapshots, where only a part is judged; null otherwise
///   lives     of all snapshots, one where nothing restarted
///   left_out, left_after  snapshots before and after the judged ones; `restart` says why another life is believed
///   verdicts  parallel to series.overall.rows
///   order     rows of series.overall by rank: GROWING, then RISING, then all others, the heaviest growth first in
///             each; or as they were asked to be sorted
///   whole     of the total
///   scenario  set where one was asked for: its rows are the answer then
struct TrendReport {
  SeriesReport series;
  std::vector<SeriesStep> steps;
  std::shared_ptr<const GrowthReport> all;
  std::vector<Life> lives;
  std::size_t left_out = 0;
  std::size_t left_after = 0;
  std::string restart;
  TimeAxis axis;
  std::vector<Verdict> verdicts;
  std::vector<std::uint32_t> order;
  Verdict whole;
  std::optional<std::int64_t> limit;
  Forecast forecast;
  std::optional<Scenario> scenario;
};

}  // namespace snapdiff
