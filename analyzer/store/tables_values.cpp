#include "analyzer/store/tables_values.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/base/default_metric.hpp"

namespace snapdiff::store {

std::string text_of(sqlite3_value* value) {
  if (value == nullptr || sqlite3_value_type(value) == SQLITE_NULL) return {};
  const unsigned char* const text = sqlite3_value_text(value);
  if (text == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::int64_t integer_of(sqlite3_value* value, const char* expected) {
  if (value == nullptr || sqlite3_value_type(value) != SQLITE_INTEGER) fail(ErrorCode::usage, expected);
  return sqlite3_value_int64(value);
}

bool plan_call(IndexPlan& plan, int argument, int metric, std::int64_t rows) {
  if (plan.comes_later(argument) || plan.comes_later(metric)) return false;
  if (!plan.take(argument, SQLITE_INDEX_CONSTRAINT_EQ, true)) {
    plan.without_arguments();
    return true;
  }
  // SQLite also offers alone the terms that halves of an OR share. Without their metrics that would be the default one.
  const bool in_halves = !plan.take(metric, SQLITE_INDEX_CONSTRAINT_EQ, true) && plan.uses(metric);
  plan.expect(rows, in_halves ? 1e18 : 1'000'000);
  return true;
}

const Column* find_column(const SampleTable& table, std::string_view metric) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                               [metric](const Column& column) { return column.type.name == metric; });
  return at == table.columns.end() ? nullptr : &*at;
}

std::optional<std::string> choose_metric(sqlite3* db, std::span<const std::int64_t> snapshots,
                                         std::span<const std::shared_ptr<const SampleTable>> tables,
                                         const std::string& wanted) {
  std::vector<MetricList> metrics;
  metrics.reserve(tables.size());
  for (const auto& table : tables) metrics.push_back(metric_list(table->columns, {}));
  if (!wanted.empty()) {
    const bool in_all = std::all_of(tables.begin(), tables.end(),
                                    [&](const auto& table) { return find_column(*table, wanted) != nullptr; });
    return in_all ? std::optional(wanted) : std::nullopt;
  }
  Statement select(db, "SELECT default_metric FROM snapshot WHERE id = ?");
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (select.bind(1, snapshots[i]).step()) metrics[i].named = select.text(0);
    select.reset();
  }
  std::string chosen = default_metric(metrics);
  return chosen.empty() ? std::nullopt : std::optional(std::move(chosen));
}

std::vector<std::int64_t> snapshots_of(sqlite3* db, const std::string& select_sql, sqlite3_value* wanted) {
  std::vector<std::int64_t> ids;
  const bool one = wanted != nullptr && sqlite3_value_type(wanted) == SQLITE_INTEGER;
  const std::int64_t id = one ? sqlite3_value_int64(wanted) : 0;
  Statement select(db, select_sql);
  while (select.step()) {
    if (!one || select.integer(0) == id) ids.push_back(select.integer(0));
  }
  return ids;
}

std::string pool_text(const PoolId& pool) {
  return "(" + std::to_string(pool.first) + ", " + std::to_string(pool.second) + ")";
}

}  // namespace snapdiff::store
