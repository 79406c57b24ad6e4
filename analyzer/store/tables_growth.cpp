#include <algorithm>
#include <unordered_map>

#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/tables_values.hpp"
#include "analyzer/store/virtual_table.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::store {
namespace {

/// One metric that both snapshots have.
struct Shared {
  const Column* baseline;
  const Column* current;
};

/// A stack's value on one side: the sum over its label sets, none where one of them is unknown.
using Sum = std::optional<std::int64_t>;

class GrowthTable {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE growth(stack INTEGER, metric TEXT, baseline INTEGER, current INTEGER, growth INTEGER,"
      " class TEXT, \"from\" INTEGER HIDDEN, \"to\" INTEGER HIDDEN)";
  static constexpr int kFrom = 6;
  static constexpr int kTo = 7;

  static bool plan(IndexPlan& plan) {
    if (plan.comes_later(kFrom) || plan.comes_later(kTo)) return false;
    const bool from = plan.take(kFrom, SQLITE_INDEX_CONSTRAINT_EQ, true);
    const bool to = plan.take(kTo, SQLITE_INDEX_CONSTRAINT_EQ, true);
    if (!from || !to) {
      plan.without_arguments();
      return true;
    }
    const bool metric = plan.take(1, SQLITE_INDEX_CONSTRAINT_EQ);
    plan.expect(metric ? 25'000 : 100'000, metric ? 25'000.0 : 100'000.0);
    return true;
  }

  explicit GrowthTable(Session& session) : session_(session) {}

  void filter(Arguments& arguments) {
    from_ = integer_of(arguments.take(), "growth(from, to) needs two snapshot ids");
    to_ = integer_of(arguments.take(), "growth(from, to) needs two snapshot ids");
    sqlite3_value* const metric = arguments.take();
    call_ = session_.call_number(std::to_string(from_) + " " + std::to_string(to_));
    baseline_ = session_.samples(from_);
    current_ = session_.samples(to_);
    absent_ = {is_complete(session_.db(), from_) ? Sum(0) : Sum(), is_complete(session_.db(), to_) ? Sum(0) : Sum()};
    regroup();
    shared_.clear();
    for (const Column& column : baseline_->columns) {
      if (column.type.name.ends_with(kHalfUnitEnding)) continue;  // rounding does not grow
      if (metric != nullptr && sqlite3_value_type(metric) == SQLITE_TEXT &&
          column.type.name != reinterpret_cast<const char*>(sqlite3_value_text(metric)))
        continue;
      for (const Column& other : current_->columns) {
        if (other.type == column.type) shared_.push_back({&column, &other});
      }
    }
    sums_.resize(shared_.size());
    b_ = 0;
    c_ = 0;
    read_stack();
  }

  bool at_end() const { return at_end_; }
  std::int64_t rowid() const {
    const auto metric = static_cast<std::size_t>(shared_[metric_].baseline - baseline_->columns.data());
    return rowid_of(call_, rows_before_ * baseline_->columns.size() + metric);
  }
  void next() {
    if (++metric_ == shared_.size()) read_stack();
  }

  void column(Output& out, int column) {
    const auto& [baseline, current] = sums_[metric_];
    const auto put = [&out](const Sum& sum) { sum ? out.integer(*sum) : out.null(); };
    switch (column) {
      case 0: return out.integer(shown_.empty() ? static_cast<std::int64_t>(stack_) : shown_.at(stack_));
      case 1: return out.text(shared_[metric_].baseline->type.name);
      case 2: return put(baseline);
      case 3: return put(current);
      case 4: return baseline && current ? out.integer(growth(*baseline, *current)) : out.null();
      case 5: return baseline && current ? out.text(row_class(*baseline, *current)) : out.null();
      case kFrom: return out.integer(from_);
      default: return out.integer(to_);
    }
  }

 private:
  static std::string_view row_class(std::int64_t baseline, std::int64_t current) {
    if (baseline == current) return "same";
    if (baseline == 0) return "new";
    if (current == 0) return "gone";
    return current > baseline ? "grew" : "shrank";
  }

  std::int64_t growth(std::int64_t baseline, std::int64_t current) const {
    std::int64_t difference = 0;
    if (!checked_sub(current, baseline, difference))
      fail(ErrorCode::limit, "growth of stack " + std::to_string(index_of(stack_)) + " does not fit in 64 bits");
    return difference;
  }

  /// Where builds differ, a row is several stacks: the tables get numbers of rows in the place of stacks. A row is
  /// shown as its first stack of the current side, or of the baseline where it has none there.
  void regroup() {
    shown_.clear();
    std::optional<MatchedStacks> matched;
    if (session_.match) matched = session_.match(from_, to_);
    if (!matched) return;
    std::uint32_t next = 0;
    for (const auto* side : {&matched->baseline, &matched->current}) {
      for (const auto& [stack, row] : *side) next = std::max(next, row + 1);
    }
    std::unordered_map<std::uint32_t, std::uint32_t> alone;  // stacks of no row, by id: equal ones are one
    const auto renumbered = [&](const SampleTable& table,
                                const std::unordered_map<std::uint32_t, std::uint32_t>& rows) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
      order.reserve(table.size());
      for (std::uint32_t i = 0; i < table.size(); ++i) {
        const auto stack = static_cast<std::uint32_t>(table.stack[i]);
        const auto found = rows.find(stack);
        const std::uint32_t row = found != rows.end() ? found->second : alone.try_emplace(stack, next).first->second;
        if (row == next) ++next;
        shown_.try_emplace(StackId{row}, std::int64_t{stack});
        order.emplace_back(row, i);
      }
      std::sort(order.begin(), order.end());
      auto out = std::make_shared<SampleTable>();
      for (const auto& [row, i] : order) out->stack.push_back(StackId{row});
      for (const Column& column : table.columns) {
        Column& to = out->columns.emplace_back(Column{column.type, {}, {}, column.half_unit});
        for (const auto& [row, i] : order) {
          to.value.push_back(column.value[i]);
          if (!column.known.empty()) to.known.push_back(column.known[i]);
        }
      }
      return std::shared_ptr<const SampleTable>(std::move(out));
    };
    current_ = renumbered(*current_, matched->current);
    baseline_ = renumbered(*baseline_, matched->baseline);
  }

  void add(Sum& sum, const Column& column, std::size_t row) const {
    if (!column.is_known(row)) {
      sum.reset();
    } else if (sum && !checked_add(*sum, column.value[row], *sum)) {
      fail(ErrorCode::limit, "value of stack " + std::to_string(index_of(stack_)) + " does not fit in 64 bits");
    }
  }

  /// The next stack of either side, all its label sets together.
  void read_stack() {
    metric_ = 0;
    const std::vector<StackId>& before = baseline_->stack;
    const std::vector<StackId>& after = current_->stack;
    at_end_ = shared_.empty() || (b_ == before.size() && c_ == after.size());
    if (at_end_) return;
    rows_before_ = b_ + c_;
    stack_ = b_ == before.size() ? after[c_] : c_ == after.size() ? before[b_] : std::min(before[b_], after[c_]);
    const bool in_baseline = b_ < before.size() && before[b_] == stack_;
    const bool in_current = c_ < after.size() && after[c_] == stack_;
    const std::pair<Sum, Sum> start(in_baseline ? Sum(0) : absent_.first, in_current ? Sum(0) : absent_.second);
    std::fill(sums_.begin(), sums_.end(), start);
    for (; b_ < before.size() && before[b_] == stack_; ++b_) {
      for (std::size_t m = 0; m < shared_.size(); ++m) add(sums_[m].first, *shared_[m].baseline, b_);
    }
    for (; c_ < after.size() && after[c_] == stack_; ++c_) {
      for (std::size_t m = 0; m < shared_.size(); ++m) add(sums_[m].second, *shared_[m].current, c_);
    }
  }

  Session& session_;
  std::int64_t from_ = 0;
  std::int64_t to_ = 0;
  std::shared_ptr<const SampleTable> baseline_;
  std::shared_ptr<const SampleTable> current_;
  std::unordered_map<StackId, std::int64_t> shown_;  // by row; empty: each stack is a row
  std::vector<Shared> shared_;
  std::vector<std::pair<Sum, Sum>> sums_;
  std::pair<Sum, Sum> absent_;  // what a stack has on a side that does not list it
  StackId stack_{};
  std::size_t b_ = 0;
  std::size_t c_ = 0;
  std::size_t metric_ = 0;
  bool at_end_ = true;
  std::size_t rows_before_ = 0;  // of both sides, before stack_
  std::int64_t call_ = 0;
};

}  // namespace

void register_growth_table(const std::shared_ptr<Session>& session) {
  VirtualTable<GrowthTable>::register_with(session, "growth");
}

}  // namespace snapdiff::store
