#include "analyzer/store/tables_values.hpp"

#include <algorithm>

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
  // What halves of an OR have in common SQLite also offers alone. Without their metrics that would be the default one.
  const bool in_halves = !plan.take(metric, SQLITE_INDEX_CONSTRAINT_EQ, true) && plan.uses(metric);
  plan.expect(rows, in_halves ? 1e18 : 1'000'000);
  return true;
}

const Column* find_column(const SampleTable& table, std::string_view metric) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                               [metric](const Column& column) { return column.type.name == metric; });
  return at == table.columns.end() ? nullptr : &*at;
}

std::optional<std::string> choose_metric(std::span<const std::shared_ptr<const SampleTable>> tables,
                                         const std::string& wanted) {
  const auto everywhere = [&](std::string_view metric) {
    return std::all_of(tables.begin(), tables.end(),
                       [&](const auto& table) { return find_column(*table, metric) != nullptr; });
  };
  if (!wanted.empty()) return everywhere(wanted) ? std::optional(wanted) : std::nullopt;
  if (everywhere("inuse_space")) return "inuse_space";
  for (const Column& column : tables.front()->columns) {
    if (column.type.unit == "bytes" && !column.type.name.ends_with(kHalfUnitEnding) && everywhere(column.type.name))
      return column.type.name;
  }
  return std::nullopt;
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
