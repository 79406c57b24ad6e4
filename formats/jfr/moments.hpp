#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/importer.hpp"
#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "formats/jfr/counter_points.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats::jfr {

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
