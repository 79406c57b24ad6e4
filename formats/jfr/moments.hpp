#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/base/validate.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::jfr {

/// Points of a series, as in logs.
constexpr std::size_t kMostPoints = 10'000;

/// Counters that all moments with rows get, together; beyond, only the last one has them.
constexpr std::size_t kMostMomentCounters = std::size_t{1} << 18;

/// Rows that are looked at for all moments but the last, beside one for every two bytes that were read: a row takes 48.
constexpr std::size_t kFreeRows = std::size_t{1} << 18;

constexpr std::string_view kSampled = "samples, not scaled up to all allocations";

constexpr std::string_view kOldOnly = "samples, not scaled up: HotSpot keeps at most some hundred surviving objects";

/// Counters at one moment.
struct CounterPoint {
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> collection;                      ///< number of a garbage collection
  std::vector<std::pair<std::uint32_t, std::int64_t>> values;  ///< by number of the counter
};

inline constexpr const char* kHeapAfter = "heap_after_gc";  ///< heap_after_full_gc after one of the whole heap

/// Readings of counters, put together by moment: values of one time, or of one collection, are one point.
class CounterPoints {
 public:
  void add(std::int64_t time_ns, std::optional<std::int64_t> collection, const std::string& name, std::int64_t value) {
    const auto [known, is_new] = rows_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    const std::uint32_t row = known->second;
    std::size_t at = points_.size();
    if (collection) {
      at = of_collection_.try_emplace(static_cast<std::uint64_t>(*collection), at).first->second;
    } else if (!points_.empty() && points_.back().time_ns == time_ns && !points_.back().collection) {
      at = points_.size() - 1;
    }
    const auto has = [&](const CounterPoint& point) {
      return std::any_of(point.values.begin(), point.values.end(), [&](const auto& each) { return each.first == row; });
    };
    // Few counters have one time: more are another writer's, and searching them all would cost the square.
    constexpr std::size_t kMostOfOne = 256;
    if (at < points_.size() && (points_[at].values.size() >= kMostOfOne || has(points_[at]))) at = points_.size();
    if (at == points_.size()) {
      points_.push_back({time_ns, collection, {}});
      if (collection) of_collection_[static_cast<std::uint64_t>(*collection)] = at;
    }
    points_[at].values.emplace_back(row, value);
  }

  /// A collection of the whole heap: what is left after it is live.
  void whole_heap(std::int64_t collection) { whole_.insert(static_cast<std::uint64_t>(collection)); }

  /// Points in order of time, not more than about `most` of them; `left_out` gets how many were dropped.
  std::vector<CounterPoint> take(std::size_t most, std::size_t& left_out) {
    std::vector<CounterPoint> points = std::move(points_);
    std::stable_sort(points.begin(), points.end(),
                     [](const CounterPoint& a, const CounterPoint& b) { return a.time_ns < b.time_ns; });
    left_out = 0;
    if (points.size() <= most) return points;
    // Points of one kind have the same first counter: of each kind every n-th stays, and the last one.
    const std::size_t stride = (points.size() + most - 1) / most;
    std::vector<std::size_t> met(names_.size()), last(names_.size());
    for (std::size_t i = 0; i < points.size(); ++i) last[points[i].values.front().first] = i;
    std::vector<CounterPoint> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::uint32_t kind = points[i].values.front().first;
      if (met[kind]++ % stride == 0 || last[kind] == i) kept.push_back(std::move(points[i]));
    }
    left_out = points.size() - kept.size();
    return kept;
  }

  /// A value of a point by its name.
  Counter counter(const CounterPoint& point, std::size_t value) const {
    const auto& [row, number] = point.values[value];
    std::string name = names_[row];
    if (name == kHeapAfter && point.collection && whole_.contains(static_cast<std::uint64_t>(*point.collection)))
      name = "heap_after_full_gc";
    return {std::move(name), number, "bytes", false, 0};
  }

  std::size_t names() const { return names_.size(); }
  bool empty() const { return points_.empty(); }

 private:
  std::vector<CounterPoint> points_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> rows_;
  std::unordered_map<std::uint64_t, std::size_t, KeyedHash> of_collection_;
  std::unordered_set<std::uint64_t, KeyedHash> whole_;
};

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

  std::uint32_t row(StackId stack, LabelSetId labels, bool native) {
    const std::uint64_t hash = mix64(std::uint64_t{index_of(stack)} << 32 | index_of(labels));
    const auto [at, is_new] = index_.intern(
        hash, rows_.size(), [&](std::uint32_t r) { return rows_[r].stack == stack && rows_[r].labels == labels; });
    if (is_new) rows_.push_back({stack, labels, native, false, 0, {}});
    return at;
  }

  /// `bytes` < 0: not recorded.
  void add(Kind kind, std::uint32_t at, std::int64_t bytes, std::uint64_t offset) {
    Row& row = rows_[at];
    const bool is_live = kind <= Kind::live_object && !row.native;
    if (is_live) {
      // Each dump lists all survivors: the list before it is over.
      if (!live_here_) {
        ++epoch_;
        live_here_ = true;
        live_kind_ = kind;
      }
      live_kind_ = std::max(live_kind_, kind);
      if (row.epoch != epoch_) {
        row.sums[0] = row.sums[1] = {};
        row.unsized = false;
        row.epoch = epoch_;
      }
      row.unsized = row.unsized || bytes < 0;
    }
    has_[static_cast<std::size_t>(kind)] = has_[static_cast<std::size_t>(kind)] || !row.native;
    is_changed_ = true;
    add_to(row.sums[static_cast<std::size_t>(kind)], 1, std::max<std::int64_t>(bytes, 0), offset);
  }

  void begin_chunk() { live_here_ = false; }
  /// `bytes` of the input so far bound how many moments are kept.
  void end_chunk(std::int64_t time_ns, std::vector<NativeCall> calls, std::shared_ptr<const ObjectGraph> graph,
                 std::uint64_t bytes) {
    const bool has_calls = !calls.empty();
    apply(std::move(calls));
    if (!live_here_ && !has_calls) return;
    moment_rows_ += rows_.size();
    if (!moments_.empty() && moment_rows_ > kFreeRows + bytes / 2) {
      if (late_) facts.notes.add(Severity::data_loss, "moments with very many rows, left out for later ones");
      late_ = Moment{time_ns, {}, std::move(graph)};
      is_changed_ = true;
      return;
    }
    moments_.push_back({time_ns, samples(), std::move(graph)});
    is_changed_ = false;
  }

  bool empty() const { return rows_.empty() && counters.empty(); }
  /// Hands all snapshots out, oldest first. Throws Failure.
  void give(SnapshotSink& out) {
    if (is_changed_) {
      if (late_) moments_.push_back(std::move(*late_));
      if (moments_.empty()) moments_.push_back({facts.taken_at_ns.value_or(0), {}, nullptr});
      moments_.back().samples = samples();
    }
    if (!moments_.empty()) facts.notes.add(Severity::info, has_[0] && !has_[1] ? kOldOnly : kSampled);
    std::size_t left_out = 0;
    std::vector<CounterPoint> points = counters.take(kMostPoints, left_out);
    if (left_out > 0)
      facts.notes.add(Severity::info, "moments of counters left out, evenly, of a long recording", std::nullopt,
                      left_out);
    if (!moments_.empty() && !points.empty())
      facts.notes.add(Severity::info, "also holds " + std::to_string(points.size()) +
                                          " moments with counters alone: --counters compares them");
    std::vector<Snapshot> all;
    give_counters(points, all);
    std::unordered_map<std::string, Counter> last;
    std::size_t next = 0;
    for (Moment& moment : moments_) {
      for (; next < points.size() && points[next].time_ns <= moment.time_ns; ++next) {
        for (const Counter& counter : all[next].facts.counters) last[counter.name] = counter;
      }
      Snapshot snapshot;
      snapshot.facts = facts;
      snapshot.facts.taken_at_ns = moment.time_ns;
      snapshot.samples = std::move(moment.samples);
      snapshot.graph = std::move(moment.graph);
      if (&moment == &moments_.back() || last.size() * moments_.size() <= kMostMomentCounters) {
        for (const auto& [name, counter] : last) snapshot.facts.counters.push_back(counter);
        std::sort(snapshot.facts.counters.begin(), snapshot.facts.counters.end(),
                  [](const Counter& a, const Counter& b) { return a.name < b.name; });
      }
      all.push_back(std::move(snapshot));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Snapshot& a, const Snapshot& b) { return *a.facts.taken_at_ns < *b.facts.taken_at_ns; });
    const Snapshot dictionary = value_or_throw(names.finish());
    for (Snapshot& snapshot : all) {
      snapshot.dictionary = dictionary.dictionary;
      if (&snapshot != &all.back() && snapshot.samples.columns.empty()) {
        snapshot.facts.notes = {};
        snapshot.facts.partial = false;
      }
      if (snapshot.column("inuse_objects") != nullptr && snapshot.column("inuse_space") == nullptr)
        snapshot.facts.default_metric = "inuse_objects";
      value_or_throw(validate_samples(snapshot));
      formats::give(out, std::move(snapshot));
    }
  }

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

  static void add_to(Sum& sum, std::int64_t objects, std::int64_t bytes, std::uint64_t offset) {
    if (!checked_add(sum.objects, objects, sum.objects) || !checked_add(sum.bytes, bytes, sum.bytes))
      fail(ErrorCode::limit, "bytes of one stack are beyond 2^63-1, expected them to fit in 64 bits", offset);
  }

  /// A freed block was live before, or its allocation was not recorded.
  void apply(std::vector<NativeCall> calls) {
    std::stable_sort(calls.begin(), calls.end(),
                     [](const NativeCall& a, const NativeCall& b) { return a.ticks < b.ticks; });
    for (const NativeCall& call : calls) {
      if (const auto block = blocks_.find(call.address); block != blocks_.end()) {
        Sum& sum = rows_[block->second.row].sums[static_cast<std::size_t>(Kind::live_object)];
        --sum.objects;
        sum.bytes -= block->second.size;
        blocks_.erase(block);
      }
      if (call.size == 0) continue;
      blocks_[call.address] = {call.row, call.size};
      add_to(rows_[call.row].sums[static_cast<std::size_t>(Kind::live_object)], 1, call.size, 0);
    }
    has_native_ = has_native_ || !calls.empty();
    is_changed_ = is_changed_ || !calls.empty();
  }

  Sum live(const Row& row) const {
    if (row.native) return row.sums[static_cast<std::size_t>(Kind::live_object)];
    return row.epoch == epoch_ ? row.sums[static_cast<std::size_t>(live_kind_)] : Sum{};
  }

  /// The rows as they are now.
  SampleTable samples() const {
    const bool has_live = has_[0] || has_[1] || has_native_;
    // Of both, buffers are all that was allocated, and samples are taken of the same.
    const Kind allocated = has_[static_cast<std::size_t>(Kind::in_buffer)] ? Kind::in_buffer : Kind::allocated;
    const bool has_allocated = has_[2] || has_[3] || has_native_;
    SampleTable table;
    if (has_live) {
      table.columns.push_back({{"inuse_objects", "count"}, {}, {}, 0});
      table.columns.push_back({{"inuse_space", "bytes"}, {}, {}, 0});
    }
    if (has_allocated) {
      table.columns.push_back({{"alloc_samples", "count"}, {}, {}, 0});
      table.columns.push_back({{"alloc_space", "bytes"}, {}, {}, 0});
    }
    std::vector<std::uint32_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(rows_[a].stack, rows_[a].labels) < std::pair(rows_[b].stack, rows_[b].labels);
    });
    std::vector<std::uint8_t> sized;
    for (const std::uint32_t at : order) {
      const Row& row = rows_[at];
      const Sum held = live(row);
      const Sum made = row.sums[static_cast<std::size_t>(row.native ? Kind::in_buffer : allocated)];
      const std::int64_t values[] = {held.objects, held.bytes, made.objects, made.bytes};
      if (std::all_of(std::begin(values), std::end(values), [](std::int64_t value) { return value == 0; })) continue;
      table.stack.push_back(row.stack);
      table.labels.push_back(row.labels);
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        table.columns[i].value.push_back(values[has_live ? i : i + 2]);
      const bool is_known = row.native || held.objects == 0 || !row.unsized;
      sized.push_back(is_known ? 1 : 0);
      if (has_live && !is_known) table.columns[1].value.back() = 0;
    }
    if (!has_live) return table;
    // HotSpot before 19 records no sizes: then there is nothing to say of bytes.
    std::size_t known = 0, live = 0;
    for (std::size_t i = 0; i < sized.size(); ++i) {
      live += table.columns[0].value[i] != 0 ? 1U : 0U;
      known += table.columns[0].value[i] != 0 && sized[i] != 0 ? 1U : 0U;
    }
    if (known == 0 && live > 0) {
      table.columns.erase(table.columns.begin() + 1);
    } else if (known < live) {
      table.columns[1].known = std::move(sized);
    }
    return table;
  }

  void give_counters(std::vector<CounterPoint>& points, std::vector<Snapshot>& out) const {
    for (const CounterPoint& point : points) {
      Snapshot snapshot;
      snapshot.facts = facts;
      snapshot.facts.taken_at_ns = point.time_ns;
      for (std::size_t i = 0; i < point.values.size(); ++i)
        snapshot.facts.counters.push_back(counters.counter(point, i));
      out.push_back(std::move(snapshot));
    }
  }

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
