#pragma once

#include <unordered_map>

#include "analyzer/base/importer.hpp"
#include "formats/metric_log/thinning.hpp"

namespace snapdiff::formats::metric_log {

/// What printed a line; several make a set. The text is part of SnapshotFacts::format_detail.
enum Kind : std::uint16_t {
  kPlain = 1,
  kTorchSharp = 2,
  kMemorySummary = 4,
  kMemoryStats = 8,
  kMemoryInfo = 16,
  kMprof = 32,
  kProfilerTable = 64,
  kPattern = 128,
  kOomMessage = 256,
  kGcLog = 512,
  kCsvTable = 1024,
};

/// Points that a log is kept with at most; beyond, they are thinned() by half. 10 000 points of 7 counters are
/// 15 MB, and more than a chart has columns.
inline constexpr std::size_t kMaxPoints = 10'000;
/// Counters with different names of one log.
inline constexpr std::size_t kMaxSeries = 20'000;

/// One counter as a line says it.
struct Reading {
  std::string name;  ///< with its tags
  std::string unit;
  text::Quantity quantity;
  bool cumulative = false;
  /// Only its unit or its key says that the number is about memory: it counts where it is met again.
  bool is_tentative = false;
};

/// What the line of a reading says beside it.
struct LineFacts {
  std::uint64_t offset = 0;
  std::optional<std::int64_t> time_ns;
  std::optional<std::int64_t> step = {};
  std::vector<std::pair<std::string, std::string>> tags = {};  ///< for every counter of the line
};

/// Whether readings may join those of the lines before.
enum class Joins : std::uint8_t {
  same_step,  ///< yes, unless the step differs or one of their names is there already
  never,      ///< they begin a point
};

/// Collects readings into points (one is one snapshot), compactly and within bounds.
class Recorder {
 public:
  /// The readings of one line or block.
  void record(Kind kind, const LineFacts& line, std::span<const Reading> readings, Joins joins = Joins::same_step);

  /// Takes the readings of the last record() back.
  void undo();

  /// Makes the current point a part of the one before it, if they share no counter.
  void join_with_previous();

  /// Begins another run of the program from `time_ns` on; its counters have the tag `run`, if there is
  /// more than one.
  void begin_run(std::string_view command_line, std::int64_t time_ns);

  /// Of counters that count: see Reading::is_tentative.
  std::size_t reading_count() const { return readings_ - waiting_readings_; }
  std::uint16_t kinds() const { return kinds_; }
  Notes& notes() { return notes_; }
  void set_partial() { partial_ = true; }

  /// The series as recorded so far: (name, first value, last value, growth since the last reset).
  struct Growth {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::uint64_t readings = 0;
    bool was_reset = false;
    bool is_constant = true;
  };
  const Growth* growth(std::string_view name) const;
  template <class Visit>
  void each_series(Visit visit) const {
    for (const Series& one : series_) visit(one.name, one.growth);
  }

  /// All points as snapshots, oldest first. Throws Failure for errors of the sink.
  void give(SnapshotSink& out);

 private:
  using SeriesId = std::uint32_t;
  struct Series {
    std::string name;
    std::string unit;
    bool cumulative = false;
    bool is_tentative = false;  // of all readings so far
    Growth growth;
    std::uint32_t name_id = 0;  // series of one name may differ in their unit
  };
  struct Name {
    std::uint64_t last_point = 0;  // serial of the point that it was last in
    std::uint64_t last_batch = 0;  // number of the record() that it was last in
  };
  struct OpenPoint {
    PointFacts facts;
    std::uint64_t serial = 0;
    std::vector<PointValue> values;
  };
  struct Run {
    std::string command_line;
    std::int64_t begin_ns = 0;
  };

  bool counts(const Series& series) const { return !series.is_tentative || series.growth.readings > 1; }
  Name& name_of(SeriesId series) { return names_[series_[series].name_id]; }
  std::optional<SeriesId> series_of(const Reading& reading, const LineFacts& line);
  bool is_in(SeriesId series, const OpenPoint& point) const;
  void open_point();
  void commit(OpenPoint& point);
  void push(std::size_t level, LogPoint point);
  void keep(LogPoint point);
  void keep_all_waiting();
  void halve();
  void merge(OpenPoint& into, const PointFacts& facts, std::span<const PointValue> values);
  std::vector<std::uint32_t> order() const;
  void drop_lone_tag(std::string_view tag_of_process);
  std::size_t run_of(const PointFacts& facts) const;
  Snapshot snapshot_of(std::size_t point, const std::shared_ptr<const Dictionary>& dictionary) const;

  struct Slot {
    std::uint64_t merge = 0;  // number of the merge() that wrote it
    std::size_t at = 0;
  };

  std::vector<Series> series_;
  std::vector<Slot> slot_;  // by series: its place in the point that is merged into
  std::uint64_t merges_ = 0;
  std::uint64_t batches_ = 0;
  std::unordered_map<std::string, SeriesId, KeyedHash> ids_;  // by name and unit
  std::vector<Name> names_;
  std::unordered_map<std::string, std::uint32_t, KeyedHash> name_ids_;
  std::vector<SeriesId> scratch_;
  OpenPoint current_, previous_;
  // Points that wait for the rest of their group; those of [i + 1] are older than those of [i] and stand for twice
  // as many of the log.
  std::vector<std::vector<LogPoint>> waiting_;
  std::size_t stride_ = 1;  // points of the log that one of points_ stands for
  std::uint64_t next_serial_ = 1;
  std::uint64_t points_seen_ = 0;
  std::size_t last_batch_ = 0;
  std::vector<LogPoint> points_;
  std::size_t values_ = 0;  // of points_, together
  std::vector<Run> runs_;
  std::size_t readings_ = 0;
  std::size_t waiting_readings_ = 0;  // single ones of tentative counters
  std::uint16_t kinds_ = 0;
  bool partial_ = false;
  Notes notes_;
};

std::string kinds_text(std::uint16_t kinds);

}  // namespace snapdiff::formats::metric_log
