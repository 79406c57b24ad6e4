#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/tables_values.hpp"
#include "analyzer/store/virtual_table.hpp"
#include "analyzer/trend/verdict.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::store {
namespace {

/// trend(series, metric): a row per stack with its values at every snapshot of the series judged.
class TrendTable {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE trend(stack INTEGER, verdict TEXT, p REAL, slope REAL, slope_low REAL, slope_high REAL,"
      " first INTEGER, last INTEGER, growth INTEGER, reason TEXT, snapshots INTEGER, metric TEXT,"
      " series TEXT HIDDEN, wanted TEXT HIDDEN)";
  static constexpr int kSeries = 12;
  static constexpr int kWanted = 13;

  static bool plan(IndexPlan& plan) { return plan_call(plan, kSeries, kWanted, 25'000); }

  explicit TrendTable(Session& session) : session_(session) {}

  void filter(Arguments& arguments) {
    sqlite3_value* const name = arguments.take();
    if (name == nullptr) fail(ErrorCode::usage, "trend(series) needs the name of a series");
    name_ = text_of(name);
    const std::string wanted = text_of(arguments.take());
    stacks_.clear();
    at_ = 0;
    const std::vector<std::int64_t> snapshots = snapshots_of(name_);
    std::vector<std::shared_ptr<const SampleTable>> tables;
    tables.reserve(snapshots.size());
    for (const std::int64_t id : snapshots) tables.push_back(session_.samples(id));
    count_ = tables.size();
    if (count_ == 0) return;
    metric_ = choose(snapshots, tables, wanted);
    call_ = session_.call_number(std::to_string(name_.size()) + ' ' + name_ + metric_);
    add_values(snapshots, tables);
  }

  bool at_end() const { return at_ == stacks_.size(); }
  std::int64_t rowid() const { return rowid_of(call_, at_); }
  void next() { ++at_; }

  void column(Output& out, int column) {
    const std::int64_t* const values = values_.data() + rows_[at_] * count_;
    const bool judged = (column > 0 && column < 6) || column == 9;
    // A value that the input does not know is not zero: such a stack has no trend.
    if ((judged || (column > 5 && column < 9)) && unknown_[rows_[at_]] != 0) return out.null();
    if (judged) judge_row(values);
    switch (column) {
      case 0: return out.integer(static_cast<std::int64_t>(stacks_[at_]));
      case 1: return out.text_or_null(count_ < kJudgedFrom ? std::string_view() : std::string_view(verdict_.word));
      case 2: return out.real(verdict_.p);
      case 3: return out.real(verdict_.slope);
      case 4: return out.real(verdict_.slope_low);
      case 5: return out.real(verdict_.slope_high);
      case 6: return out.integer(values[0]);
      case 7: return out.integer(values[count_ - 1]);
      case 8: {
        std::int64_t growth = 0;
        if (!checked_sub(values[count_ - 1], values[0], growth))
          fail(ErrorCode::limit,
               "growth of stack " + std::to_string(index_of(stacks_[at_])) + " does not fit in 64 bits");
        return out.integer(growth);
      }
      case 9: return out.text_or_null(verdict_.reason);
      case 10: return out.integer(static_cast<std::int64_t>(count_));
      case 11: return out.text(metric_);
      case kSeries: return out.text(name_);
      default: return out.text(metric_);
    }
  }

 private:
  std::vector<std::int64_t> snapshots_of(const std::string& name) {
    const std::optional<SeriesOrder> order = read_order_of(session_.db(), name);
    if (!order) fail(ErrorCode::usage, "trend(series): no series '" + name + "' in the store");
    std::vector<std::int64_t> ids;
    for (const SnapshotId id : order->snapshots) ids.push_back(static_cast<std::int64_t>(id));
    return ids;
  }

  std::string choose(std::span<const std::int64_t> snapshots,
                     std::span<const std::shared_ptr<const SampleTable>> tables, const std::string& wanted) {
    if (auto metric = choose_metric(session_.db(), snapshots, tables, wanted)) return *std::move(metric);
    fail(ErrorCode::usage, !wanted.empty()
                               ? "trend(series, metric): no metric '" + wanted + "' in every snapshot of the series"
                               : "trend(series): the snapshots have no default metric in common, name one");
  }

  /// Stacks in order of their ids, their values a row of count_ each.
  void add_values(const std::vector<std::int64_t>& snapshots,
                  const std::vector<std::shared_ptr<const SampleTable>>& tables) {
    struct Listed {
      std::size_t snapshots = 0;  // that leave rows out, but not this one
      std::size_t last = 0;
    };
    std::vector<Listed> listed;  // by row of values_
    std::size_t incomplete = 0;
    std::unordered_map<std::uint32_t, std::size_t> row_of;
    values_.clear();
    unknown_.clear();
    std::vector<double> totals(count_, 0);
    for (std::size_t s = 0; s < tables.size(); ++s) {
      const Column& column = *find_column(*tables[s], metric_);
      unit_ = column.type.unit;
      const bool leaves_out = !is_complete(session_.db(), snapshots[s]);
      incomplete += leaves_out ? 1 : 0;
      for (std::size_t row = 0; row < tables[s]->size(); ++row) {
        const StackId stack = tables[s]->stack[row];
        const auto [entry, added] = row_of.try_emplace(static_cast<std::uint32_t>(stack), stacks_.size());
        if (added) {
          stacks_.push_back(stack);
          values_.resize(values_.size() + count_, 0);
          unknown_.push_back(0);
          listed.emplace_back();
        }
        if (Listed& mine = listed[entry->second]; leaves_out && mine.last != s + 1) {
          mine.last = s + 1;
          ++mine.snapshots;
        }
        if (!column.is_known(row)) unknown_[entry->second] = 1;
        std::int64_t& value = values_[entry->second * count_ + s];
        if (!checked_add(value, column.value[row], value))
          fail(ErrorCode::limit, "value of stack " + std::to_string(index_of(stack)) + " does not fit in 64 bits");
        totals[s] += static_cast<double>(column.value[row]);
      }
    }
    for (std::size_t row = 0; row < listed.size(); ++row) {
      if (listed[row].snapshots != incomplete) unknown_[row] = 1;
    }
    rows_.resize(stacks_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = i;
    std::sort(rows_.begin(), rows_.end(), [&](std::size_t a, std::size_t b) { return stacks_[a] < stacks_[b]; });
    std::sort(stacks_.begin(), stacks_.end());
    double most = 0;
    for (const double total : totals) most = std::max(most, std::abs(total));
    floor_ = kFloorShare * most;
    judged_ = rows_.size();
  }

  void judge_row(const std::int64_t* values) {
    if (judged_ == at_) return;
    judged_ = at_;
    numbers_.assign(values, values + count_);
    verdict_ = trend::judge(numbers_, 0, floor_, unit_);
  }

  Session& session_;
  std::string name_;
  std::string metric_;
  std::string unit_;
  std::size_t count_ = 0;
  std::vector<StackId> stacks_;
  std::vector<std::size_t> rows_;  // of values_, by place in stacks_
  std::vector<std::int64_t> values_;
  std::vector<std::uint8_t> unknown_;  // by row of values_
  std::vector<double> numbers_;
  double floor_ = 0;
  std::size_t at_ = 0;
  std::int64_t call_ = 0;
  std::size_t judged_ = 0;  // the place verdict_ is of
  Verdict verdict_;
};

}  // namespace

void register_trend_table(const std::shared_ptr<Session>& session) {
  VirtualTable<TrendTable>::register_with(session, "trend");
}

}  // namespace snapdiff::store
