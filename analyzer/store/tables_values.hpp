#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/virtual_table.hpp"
#include "snapdiff/snapshot.hpp"

/// Arguments that several virtual tables read, and the columns that they share.
namespace snapdiff::store {

/// The text of an argument; "" where there is none, or NULL.
std::string text_of(sqlite3_value* value);

/// The integer of an argument. Throws usage, `expected`, for anything else.
std::int64_t integer_of(sqlite3_value* value, const char* expected);

/// Plans a table that is called as NAME(argument, metric), both in hidden columns and the second one optional; see
/// T::plan of virtual_table.hpp.
bool plan_call(IndexPlan& plan, int argument, int metric, std::int64_t rows);

/// The column called `metric`, or null.
const Column* find_column(const SampleTable& table, std::string_view metric);

/// The metric that is wanted, for "" the default one (snapdiff/default_metric.hpp). Nothing unless all tables have it.
/// `tables` are those of `snapshots`.
std::optional<std::string> choose_metric(sqlite3* db, std::span<const std::int64_t> snapshots,
                                         std::span<const std::shared_ptr<const SampleTable>> tables,
                                         const std::string& wanted);

/// What `select_sql` gives, ids of snapshots in ascending order; only `wanted`, where that is an integer.
std::vector<std::int64_t> snapshots_of(sqlite3* db, const std::string& select_sql, sqlite3_value* wanted);

/// "(0, 1)", as the label `pool` has it.
std::string pool_text(const PoolId& pool);

}  // namespace snapdiff::store
