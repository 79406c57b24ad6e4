#include <algorithm>

#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/store_schema.hpp"
#include "analyzer/store/tables_values.hpp"
#include "analyzer/store/virtual_table.hpp"

namespace snapdiff::store {
namespace {

/// Common to both tables: walks the segments, or the blocks, of all snapshots or of one; of all segments or of some.
class AllocatorScan {
 public:
  /// The first row of a segment, which may be the one after the last.
  using FirstRow = std::size_t (*)(const AllocatorTables&, std::size_t segment);
  AllocatorScan(Session& session, FirstRow first_row) : session_(session), first_row_(first_row) {}

  static bool plan(IndexPlan& plan, std::int64_t rows) {
    const bool snapshot = plan.take(0, SQLITE_INDEX_CONSTRAINT_EQ);
    const bool segment = plan.take(1, SQLITE_INDEX_CONSTRAINT_EQ);
    if (!segment) plan.take_bounds(1);
    if (snapshot) rows /= 20;
    if (segment) rows /= 500;
    plan.expect(rows, static_cast<double>(rows));
    return true;
  }

  void filter(Arguments& arguments) {
    sqlite3_value* const snapshot = arguments.take();
    segments_ = arguments.take_range();
    snapshots_ = snapshots_of(session_.db(), "SELECT snapshot FROM allocator ORDER BY snapshot", snapshot);
    next_ = 0;
    open_next();
  }
  void next() {
    if (++row_ == end_) open_next();
  }
  bool at_end() const { return tables_ == nullptr; }
  std::int64_t rowid() const { return rowid_of(snapshot(), row_); }

 protected:
  std::int64_t snapshot() const { return snapshots_[next_ - 1]; }

  std::shared_ptr<const AllocatorTables> tables_;  // null at the end
  AllocatorFacts facts_;
  std::size_t row_ = 0;

 private:
  void open_next() {
    for (tables_.reset(); next_ < snapshots_.size();) {
      auto tables = session_.allocator_tables(snapshots_[next_++]);
      if (tables == nullptr) continue;
      const std::size_t segments = tables->segments.size_rows();
      row_ = first_row_(*tables, std::min<std::size_t>(segments_.low, segments));
      end_ = first_row_(*tables, std::min<std::size_t>(std::size_t{segments_.high} + 1, segments));
      if (row_ >= end_) continue;
      if (facts_of_ != snapshot()) {
        if (auto stored = read_allocator(session_.db(), snapshot())) facts_ = std::move(stored->facts);
        facts_of_ = snapshot();
      }
      tables_ = std::move(tables);
      return;
    }
  }

  Session& session_;
  FirstRow first_row_;
  Arguments::Range segments_;
  std::vector<std::int64_t> snapshots_;
  std::size_t next_ = 0;
  std::int64_t facts_of_ = 0;  // a join starts again for every row of the other table
  std::size_t end_ = 0;
};

std::int64_t plain(std::uint64_t value) { return static_cast<std::int64_t>(value); }

void put_stack(Output& out, StackId stack) { stack == StackId{} ? out.null() : out.integer(plain(index_of(stack))); }

class SegmentView : public AllocatorScan {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE segment(snapshot INTEGER, segment INTEGER, device INTEGER, address INTEGER, size INTEGER,"
      " allocated INTEGER, active INTEGER, requested INTEGER, stream INTEGER, pool TEXT, small INTEGER,"
      " expandable INTEGER, blocks INTEGER, stack INTEGER)";
  static bool plan(IndexPlan& plan) { return AllocatorScan::plan(plan, 10'000); }

  explicit SegmentView(Session& session)
      : AllocatorScan(session, [](const AllocatorTables&, std::size_t segment) { return segment; }) {}
  void column(Output& out, int column) {
    const SegmentTable& table = tables_->segments;
    const auto stated = [&out](std::int64_t bytes) { bytes < 0 ? out.null() : out.integer(bytes); };
    const auto flag = [&](std::uint8_t bit) { out.integer((table.flags[row_] & bit) != 0 ? 1 : 0); };
    switch (column) {
      case 0: return out.integer(snapshot());
      case 1: return out.integer(plain(row_));
      case 2: return (table.flags[row_] & kSegmentHost) != 0 ? out.null() : out.integer(table.device[row_]);
      case 3: return out.integer(plain(table.address[row_]));
      case 4: return out.integer(table.size[row_]);
      case 5: return stated(table.stated_allocated[row_]);
      case 6: return stated(table.stated_active[row_]);
      case 7: return stated(table.stated_requested[row_]);
      case 8:
        if (table.stream[row_] >= facts_.streams.size()) fail(ErrorCode::malformed, "segment of an unknown stream");
        return out.integer(plain(facts_.streams[table.stream[row_]]));
      case 9:
        if (table.pool[row_] >= facts_.pools.size()) fail(ErrorCode::malformed, "segment of an unknown pool");
        return out.text(pool_text(facts_.pools[table.pool[row_]]));
      case 10: return flag(kSegmentSmall);
      case 11: return flag(kSegmentExpandable);
      case 12: return out.integer(plain(table.block_begin[row_ + 1] - table.block_begin[row_]));
      default: return put_stack(out, table.stack[row_]);
    }
  }
};

class BlockView : public AllocatorScan {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE block(snapshot INTEGER, segment INTEGER, address INTEGER, size INTEGER, requested INTEGER,"
      " state TEXT, stack INTEGER)";
  static bool plan(IndexPlan& plan) { return AllocatorScan::plan(plan, 1'000'000); }

  explicit BlockView(Session& session)
      : AllocatorScan(session, [](const AllocatorTables& tables, std::size_t segment) {
          return static_cast<std::size_t>(tables.segments.block_begin[segment]);
        }) {}
  void column(Output& out, int column) {
    constexpr std::string_view kStates[] = {"allocated", "pending", "inactive"};
    const BlockTable& table = tables_->blocks;
    switch (column) {
      case 0: return out.integer(snapshot());
      case 1: return out.integer(table.segment[row_]);
      case 2: return out.integer(plain(table.address[row_]));
      case 3: return out.integer(table.size[row_]);
      case 4: return out.integer(table.requested[row_]);
      case 5: return out.text(kStates[static_cast<std::size_t>(table.state[row_])]);
      default: return put_stack(out, table.stack[row_]);
    }
  }
};

}  // namespace

void register_allocator_tables(const std::shared_ptr<Session>& session) {
  VirtualTable<SegmentView>::register_with(session, "segment");
  VirtualTable<BlockView>::register_with(session, "block");
}

}  // namespace snapdiff::store
