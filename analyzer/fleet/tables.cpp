#include "analyzer/fleet/tables.hpp"

#include "analyzer/fleet/fleet.hpp"
#include "analyzer/fleet/sql_text.hpp"

namespace snapdiff::fleet {
namespace {

/// Days that samples outlive their commit rows: bytes of a snapshot that is listed are never taken for missing.
constexpr std::int64_t kSamplesLonger = 2;

constexpr std::string_view kByStack = "reinterpretAsUInt64(substring(stack, 1, 8))";

/// One table as it is on each server, and how its rows are spread over them.
struct Table {
  std::string name, columns, engine, order, shard_by;
};

class Statements {
 public:
  Statements(const Connection& to, const Layout& layout, bool modern) : to_(to), layout_(layout), modern_(modern) {}

  std::vector<std::string> all() {
    out_.push_back("CREATE DATABASE IF NOT EXISTS " + identifier(to_.database) + on_cluster());
    add_schema();
    for (const Table& table : tables()) add(table);
    add_views();
    return std::move(out_);
  }

 private:
  std::string on_cluster() const { return layout_.on_cluster ? " ON CLUSTER " + identifier(to_.cluster) : ""; }
  std::string name(std::string_view table) const { return identifier(to_.database) + "." + std::string(table); }

  /// Values that differ little from row to row; older servers know no codecs.
  std::string small_steps(std::string_view type) const {
    return std::string(type) + (modern_ ? " CODEC(Delta, ZSTD(1))" : "");
  }
  /// Ids that repeat in runs.
  std::string repeating(std::string_view type) const { return std::string(type) + (modern_ ? " CODEC(ZSTD(1))" : ""); }
  std::string kept(std::string_view column, std::int64_t days) const {
    return modern_ ? " TTL " + std::string(column) + " + toIntervalDay(" + std::to_string(days) + ")" : "";
  }
  /// Replicated where a keeper serves all servers; its macros name the shard and the replica.
  std::string engine(std::string_view kind, std::string_view table, std::string_view argument = {}) const {
    if (!layout_.on_cluster) return std::string(kind) + "(" + std::string(argument) + ")";
    return "Replicated" + std::string(kind) + "('/clickhouse/tables/{shard}/" + to_.database + "/" +
           std::string(table) + "', '{replica}'" + (argument.empty() ? "" : ", ") + std::string(argument) + ")";
  }

  std::vector<Table> tables() const {
    const std::string ts = small_steps("DateTime");
    const std::string number = small_steps("Int64");
    return {
        {"snapshot",
         "snapshot FixedString(16), push UInt64, nth UInt64, service String, metric String, unit String, instance "
         "UInt64, instance_name String, version String, keys Array(String), vals Array(String), ts DateTime, ts_ns "
         "UInt64, restart UInt32, period UInt64, state UInt8, rows UInt32, total Int64, objects Int64, facts String",
         engine("ReplacingMergeTree", "snapshot") + " PARTITION BY toYYYYMM(ts)",
         "(service, metric, ts, instance, snapshot)" + kept("ts", layout_.keep_days),
         "reinterpretAsUInt64(substring(snapshot, 1, 8))"},
        {"stack", "stack FixedString(16), frames Array(FixedString(16)), seen Date",
         engine("ReplacingMergeTree", "stack", "seen"), "stack", std::string(kByStack)},
        {"frame",
         "frame FixedString(16), function String, system_name String, file String, start_line Int32, line Int32, "
         "column Int32, module String, build_id String, offset UInt64, flags UInt8",
         engine("ReplacingMergeTree", "frame"), "frame", "reinterpretAsUInt64(substring(frame, 1, 8))"},
        {"label",
         "label UInt64, keys Array(String), texts Array(String), numbers Array(Int64), units Array(String), is_number "
         "Array(UInt8)",
         engine("ReplacingMergeTree", "label"), "label", "label"},
        {"sample",
         "service String, metric String, hour DateTime, stack " + repeating("FixedString(16)") +
             ", instance UInt64, ts " + ts + ", label " + repeating("UInt64") + ", push " + repeating("UInt64") +
             ", value " + number + ", objects " + number + ", known UInt8",
         engine("MergeTree", "sample") + " PARTITION BY toDate(hour)",
         // The label before the instance: what follows each other is one series, whose values differ little.
         "(service, metric, hour, stack, label, instance, ts)" + kept("hour", layout_.keep_days + kSamplesLonger),
         std::string(kByStack)},
        {"sample_hour",
         "service String, metric String, hour DateTime, stack FixedString(16), instance UInt64, label UInt64, last "
         "AggregateFunction(argMax, Int64, DateTime), last_objects AggregateFunction(argMax, Int64, DateTime), least "
         "AggregateFunction(min, Int64), most AggregateFunction(max, Int64)",
         engine("AggregatingMergeTree", "sample_hour") + " PARTITION BY toYYYYMM(hour)",
         "(service, metric, hour, stack, instance, label)" + kept("hour", layout_.keep_hourly_days),
         std::string(kByStack)},
        {"service_hour",
         "service String, metric String, hour DateTime, version String, instance UInt64, last "
         "AggregateFunction(argMax, Int64, DateTime), least AggregateFunction(min, Int64), most "
         "AggregateFunction(max, Int64)",
         engine("AggregatingMergeTree", "service_hour") + " PARTITION BY toYYYYMM(hour)",
         "(service, metric, hour, version, instance)" + kept("hour", layout_.keep_hourly_days), "instance"},
    };
  }

  /// The first to be made: a view that says the number. It holds no row that could be lost or come twice.
  void add_schema() {
    out_.push_back("CREATE VIEW IF NOT EXISTS " + name("schema_local") + on_cluster() + " AS SELECT toUInt32(" +
                   std::to_string(kSchema) + ") AS number");
    add_over_servers("schema", "number", " (number UInt32)");
  }

  void add(const Table& table) {
    out_.push_back("CREATE TABLE IF NOT EXISTS " + name(table.name) + "_local" + on_cluster() + " (" + table.columns +
                   ") ENGINE = " + table.engine + " ORDER BY " + table.order);
    add_over_servers(table.name, table.shard_by, " AS " + name(table.name) + "_local");
  }

  void add_over_servers(const std::string& table, const std::string& shard_by, const std::string& columns) {
    out_.push_back("CREATE TABLE IF NOT EXISTS " + name(table) + on_cluster() + columns + " ENGINE = Distributed(" +
                   identifier(to_.cluster) + ", " + identifier(to_.database) + ", " + table + "_local, " + shard_by +
                   ")");
  }

  /// States that do not change when a push is repeated: a largest, a smallest, a last value.
  void add_views() {
    const auto view = [&](std::string_view table, std::string_view what, std::string_view from, std::string_view key) {
      out_.push_back("CREATE MATERIALIZED VIEW IF NOT EXISTS " + name(table) + "_view" + on_cluster() + " TO " +
                     name(table) + "_local AS SELECT " + std::string(what) + " FROM " + name(from) + " GROUP BY " +
                     std::string(key));
    };
    view("sample_hour",
         "service, metric, hour, stack, instance, label, argMaxState(value, ts) AS last, argMaxState(objects, ts) AS "
         "last_objects, minState(value) AS least, maxState(value) AS most",
         "sample_local", "service, metric, hour, stack, instance, label");
    view("service_hour",
         "service, metric, toStartOfHour(ts) AS hour, version, instance, argMaxState(total, ts) AS last, "
         "minState(total) AS least, maxState(total) AS most",
         "snapshot_local", "service, metric, hour, version, instance");
  }

  const Connection& to_;
  const Layout& layout_;
  bool modern_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> statements(const Connection& to, const Layout& layout, bool modern) {
  return Statements(to, layout, modern).all();
}

}  // namespace snapdiff::fleet
