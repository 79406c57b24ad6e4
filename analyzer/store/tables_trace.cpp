#include <algorithm>
#include <optional>

#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/store_schema.hpp"
#include "analyzer/store/tables_values.hpp"
#include "analyzer/store/virtual_table.hpp"

namespace snapdiff::store {
namespace {

/// trace_event: streams over the events of all traces. A range of events begins at its chunk.
class TraceEventView {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE trace_event(snapshot INTEGER, device INTEGER, event INTEGER, action TEXT, address INTEGER,"
      " size INTEGER, device_free INTEGER, stream INTEGER, pool TEXT, stack INTEGER, time_us INTEGER)";
  static bool plan(IndexPlan& plan) {
    const bool snapshot = plan.take(0, SQLITE_INDEX_CONSTRAINT_EQ);
    const bool event = plan.take(2, SQLITE_INDEX_CONSTRAINT_EQ);
    const bool bounded = !event && plan.take_bounds(2);
    const std::int64_t rows = snapshot ? 1'000'000 : 10'000'000;
    plan.expect(event ? 1 : bounded ? rows / 100 : rows, static_cast<double>(event || bounded ? rows / 100 : rows));
    return true;
  }

  explicit TraceEventView(Session& session) : session_(session) {}

  void filter(Arguments& arguments) {
    sqlite3_value* const snapshot = arguments.take();
    range_ = arguments.take_range();
    snapshots_ = snapshots_of(session_.db(), "SELECT snapshot FROM allocator ORDER BY snapshot", snapshot);
    next_snapshot_ = 0;
    traces_.clear();
    next_trace_ = 0;
    chunk_.reset();
    number_ = 0;
    at_end_ = false;
    index_ = end_ = 0;
    move();
  }
  bool at_end() const { return at_end_; }
  std::int64_t rowid() const { return rowid_of(traces_[next_trace_ - 1].id, index_); }
  void next() {
    ++index_;
    move();
  }

  void column(Output& out, int column) {
    constexpr std::string_view kActions[] = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                             "segment_free", "segment_map",    "segment_unmap",  "oom",
                                             "snapshot",     "unknown"};
    const StoredTrace& trace = traces_[next_trace_ - 1];
    const bool is_oom = event_.action == TraceAction::oom;
    switch (column) {
      case 0: return out.integer(snapshots_[next_snapshot_ - 1]);
      case 1: return trace.host ? out.null() : out.integer(trace.device);
      case 2: return out.integer(static_cast<std::int64_t>(index_));
      case 3: return out.text(kActions[static_cast<std::size_t>(event_.action)]);
      case 4: return is_oom ? out.null() : out.integer(static_cast<std::int64_t>(event_.address));
      case 5: return out.integer(event_.size);
      case 6: return is_oom ? out.integer(static_cast<std::int64_t>(event_.address)) : out.null();
      case 7: return out.integer(static_cast<std::int64_t>(state_.facts.streams[event_.stream]));
      case 8: return out.text(pool_text(state_.facts.pools[event_.pool]));
      case 9:
        return event_.stack == StackId{} ? out.null()
                                         : out.integer(std::int64_t{state_.stacks[index_of(event_.stack) - 1]});
      default: return event_.time_us == kNoTime ? out.null() : out.integer(event_.time_us);
    }
  }

 private:
  /// To event index_ of the trace, or to the first one of the next trace that has some in the range.
  void move() {
    while (index_ == end_) {
      if (!open_next_trace()) {
        at_end_ = true;
        return;
      }
    }
    const std::int64_t number = static_cast<std::int64_t>(index_ / kChunkRows);
    const StoredTrace& trace = traces_[next_trace_ - 1];
    naming("trace chunk " + std::to_string(number) + " of trace " + std::to_string(trace.id), [&] {
      if (!chunk_ || number != number_) {
        chunk_.emplace(read_trace_chunk(session_.db(), trace.id, number));
        number_ = number;
        read_ = static_cast<std::size_t>(number) * kChunkRows;
      }
      for (; read_ <= index_; ++read_) {
        if (!chunk_->next(event_)) fail(ErrorCode::malformed, "it ends early");
      }
      if (event_.stream >= state_.facts.streams.size() || event_.pool >= state_.facts.pools.size() ||
          index_of(event_.stack) > state_.stacks.size())
        fail(ErrorCode::malformed, "event names a stream, pool or stack that does not exist");
    });
  }

  bool open_next_trace() {
    chunk_.reset();
    while (next_trace_ == traces_.size()) {
      if (next_snapshot_ == snapshots_.size()) return false;
      const std::int64_t snapshot = snapshots_[next_snapshot_++];
      traces_ = read_traces(session_.db(), snapshot);
      next_trace_ = 0;
      if (auto state = read_allocator(session_.db(), snapshot)) state_ = *std::move(state);
    }
    const StoredTrace& trace = traces_[next_trace_++];
    end_ = static_cast<std::size_t>(std::min<std::uint64_t>(trace.events, std::uint64_t{range_.high} + 1));
    index_ = std::min<std::size_t>(range_.low, end_);
    return true;
  }

  Session& session_;
  Arguments::Range range_;
  std::vector<std::int64_t> snapshots_;
  std::size_t next_snapshot_ = 0;
  StoredAllocator state_;
  std::vector<StoredTrace> traces_;
  std::size_t next_trace_ = 0;
  std::optional<EventChunkReader> chunk_;
  std::int64_t number_ = 0;  // of chunk_
  std::size_t read_ = 0;     // events of the trace up to where chunk_ has been read
  TraceEvent event_;
  std::size_t index_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = true;
};

}  // namespace

void register_trace_table(const std::shared_ptr<Session>& session) {
  VirtualTable<TraceEventView>::register_with(session, "trace_event");
}

}  // namespace snapdiff::store
