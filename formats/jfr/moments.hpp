#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/base/importer.hpp"
#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/snapshot_builder.hpp"

namespace snapdiff::formats::jfr {

/// Counters at one moment.
struct CounterPoint {
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> collection;                      ///< number of a garbage collection
  std::vector<std::pair<std::uint32_t, std::int64_t>> values;  ///< by number of the counter
};

/// Readings of counters, put together by moment: values of one time, or of one collection, are one point.
class CounterPoints {
 public:
  void add(std::int64_t time_ns, std::optional<std::int64_t> collection, const std::string& name, std::int64_t value);
  /// A collection of the whole heap: what is left after it is live.
  void whole_heap(std::int64_t collection) { whole_.insert(static_cast<std::uint64_t>(collection)); }

  /// Points in order of time, not more than about `most` of them; `left_out` gets how many were dropped.
  std::vector<CounterPoint> take(std::size_t most, std::size_t& left_out);
  /// A value of a point by its name.
  Counter counter(const CounterPoint& point, std::size_t value) const;
  std::size_t names() const { return names_.size(); }
  bool empty() const { return points_.empty(); }

 private:
  std::vector<CounterPoint> points_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> rows_;
  std::unordered_map<std::uint64_t, std::size_t, KeyedHash> of_collection_;
  std::unordered_set<std::uint64_t, KeyedHash> whole_;
};

inline constexpr const char* kHeapAfter = "heap_after_gc";  ///< heap_after_full_gc after one of the whole heap

/// The kinds of rows that events count.
enum class Kind : std::uint8_t {
  old_object,   ///< HotSpot's sample of an object that survives
  live_object,  ///< async-profiler's
  allocated,    ///< an allocation that was sampled, with the bytes since the sample before
  in_buffer,    ///< a thread's buffer, or an object outside of one, at its allocation
};
inline constexpr std::size_t kKinds = 4;

/// A call of malloc or free, in the order of time; size 0: free.
struct NativeCall {
  std::int64_t ticks = 0;
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::uint32_t row = 0;
};

/// The events of a recording so far, and its snapshots.
class Recording {
 public:
  SnapshotBuilder names;  ///< every text, stack and label; all snapshots share its dictionary
  SnapshotFacts facts;    ///< of every snapshot
  CounterPoints counters;

  std::uint32_t row(StackId stack, LabelSetId labels, bool native);
  /// `bytes` < 0: not recorded.
  void add(Kind kind, std::uint32_t row, std::int64_t bytes, std::uint64_t offset);

  void begin_chunk();
  /// `bytes` of the input so far bound how many moments are kept.
  void end_chunk(std::int64_t time_ns, std::vector<NativeCall> calls, std::shared_ptr<const ObjectGraph> graph,
                 std::uint64_t bytes);
  bool empty() const { return rows_.empty() && counters.empty(); }
  /// Hands all snapshots out, oldest first. Throws Failure.
  void give(SnapshotSink& out);

 private:
  struct Sum {
    std::int64_t objects = 0, bytes = 0;
  };
  struct Row {
    StackId stack{};
    LabelSetId labels{};
    bool native = false;
    bool unsized = false;     ///< the size of a live object is not known
    std::uint32_t epoch = 0;  ///< of its live objects
    std::array<Sum, kKinds> sums;
  };
  struct Moment {
    std::int64_t time_ns = 0;
    SampleTable samples;
    std::shared_ptr<const ObjectGraph> graph;
  };
  struct Block {
    std::uint32_t row = 0;
    std::int64_t size = 0;
  };

  static void add_to(Sum& sum, std::int64_t objects, std::int64_t bytes, std::uint64_t offset);
  void apply(std::vector<NativeCall> calls);
  Sum live(const Row& row) const;
  SampleTable samples() const;
  void give_counters(std::vector<CounterPoint>& points, std::vector<Snapshot>& out) const;

  std::vector<Row> rows_;
  HashIndex index_;
  std::unordered_map<std::uint64_t, Block, KeyedHash> blocks_;  // live ones, by address
  std::vector<Moment> moments_;
  std::optional<Moment> late_;      // the newest one, without its rows
  std::size_t moment_rows_ = 0;     // that were looked at
  std::array<bool, kKinds> has_{};  // by kind, of Java's
  bool has_native_ = false;
  bool live_here_ = false;  // live objects came in this chunk
  Kind live_kind_ = Kind::old_object;
  std::uint32_t epoch_ = 0;
  bool is_changed_ = false;  // since the last moment
};

}  // namespace snapdiff::formats::jfr
