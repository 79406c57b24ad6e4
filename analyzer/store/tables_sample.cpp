#include <algorithm>

#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/tables_values.hpp"

namespace snapdiff::store {
namespace {

class SampleTableView {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE sample(snapshot INTEGER, stack INTEGER, labels TEXT, metric TEXT, value INTEGER,"
      " label_set INTEGER)";
  static bool plan(IndexPlan& plan) {
    const bool snapshot = plan.take(0, SQLITE_INDEX_CONSTRAINT_EQ);
    const bool metric = plan.take(3, SQLITE_INDEX_CONSTRAINT_EQ);
    const bool stack = plan.take(1, SQLITE_INDEX_CONSTRAINT_EQ);
    if (!stack) plan.take_bounds(1);
    // A snapshot is decoded whole the first time, and then kept.
    std::int64_t rows = snapshot ? 100'000 : 2'000'000;
    if (metric) rows /= 4;
    plan.sorted_by(0);  // without which SQLite sorts all rows to group them
    plan.expect(stack ? rows / 10'000 : rows, stack && snapshot ? 1'000.0 : static_cast<double>(rows));
    return true;
  }

  explicit SampleTableView(Session& session) : session_(session) {}

  void filter(Arguments& arguments) {
    sqlite3_value* const snapshot = arguments.take();
    sqlite3_value* const metric = arguments.take();
    stacks_ = arguments.take_range();
    metric_.reset();
    if (metric != nullptr && sqlite3_value_type(metric) == SQLITE_TEXT) {
      metric_ = text_of(metric);
    }
    snapshots_ = snapshots_of(session_.db(), "SELECT id FROM snapshot ORDER BY id", snapshot);
    next_snapshot_ = 0;
    table_.reset();
    open_next();
  }

  bool at_end() const { return table_ == nullptr; }
  std::int64_t rowid() const { return rowid_of(snapshot_, row_ * table_->columns.size() + columns_[column_]); }

  void next() {
    if (++column_ < columns_.size()) return;
    column_ = 0;
    if (++row_ < last_row_) return;
    open_next();
  }

  void column(Output& out, int column) {
    const Column& values = table_->columns[columns_[column_]];
    switch (column) {
      case 0: return out.integer(snapshot_);
      case 1: return out.integer(static_cast<std::int64_t>(table_->stack[row_]));
      case 2: return out.text(labels());
      case 3: return out.text(values.type.name);
      case 4: return values.is_known(row_) ? out.integer(values.value[row_]) : out.null();
      default: return out.integer(static_cast<std::int64_t>(table_->labels[row_]));
    }
  }

 private:
  /// The next snapshot that has a row to show.
  void open_next() {
    table_.reset();
    while (next_snapshot_ < snapshots_.size()) {
      snapshot_ = snapshots_[next_snapshot_++];
      auto table = session_.samples(snapshot_);
      columns_.clear();
      for (std::size_t c = 0; c < table->columns.size(); ++c) {
        if (!metric_ || *metric_ == table->columns[c].type.name) columns_.push_back(c);
      }
      const auto place = [&](StackId id, bool behind) {
        const auto at = behind ? std::upper_bound(table->stack.begin(), table->stack.end(), id)
                               : std::lower_bound(table->stack.begin(), table->stack.end(), id);
        return static_cast<std::size_t>(at - table->stack.begin());
      };
      row_ = place(StackId{stacks_.low}, false);
      last_row_ = place(StackId{stacks_.high}, true);
      column_ = 0;
      if (row_ >= last_row_ || columns_.empty()) continue;
      table_ = std::move(table);
      return;
    }
  }

  /// "key=value, key=number unit"
  std::string labels() {
    const Catalog& catalog = session_.catalog();
    const auto id = static_cast<std::uint32_t>(table_->labels[row_]);
    const std::uint32_t row = catalog.label_sets.row_or_fail(id, "label set");
    const StringTable& strings = catalog.dictionary().strings;
    std::string text;
    for (const Label& label : catalog.dictionary().labels.labels(LabelSetId{row})) {
      if (!text.empty()) text += ", ";
      text += strings[label.key];
      text += '=';
      text += label.is_number ? std::to_string(label.number) : std::string(strings[label.text]);
      if (label.is_number && !strings[label.unit].empty()) (text += ' ') += strings[label.unit];
    }
    return text;
  }

  Session& session_;
  std::vector<std::int64_t> snapshots_;
  std::optional<std::string> metric_;
  Arguments::Range stacks_;
  std::size_t next_snapshot_ = 0;
  std::int64_t snapshot_ = 0;
  std::shared_ptr<const SampleTable> table_;  // null at the end
  std::vector<std::size_t> columns_;
  std::size_t row_ = 0;
  std::size_t last_row_ = 0;
  std::size_t column_ = 0;
};

}  // namespace

void register_sample_table(const std::shared_ptr<Session>& session) {
  VirtualTable<SampleTableView>::register_with(session, "sample");
}

}  // namespace snapdiff::store
