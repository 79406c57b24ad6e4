#include "analyzer/fleet/missing_rows.hpp"

#include <map>

namespace snapdiff::fleet {
namespace {

constexpr std::size_t kMostNamed = 3;

/// "127.0.0.1:9000 has 12 rows, 127.0.0.1:9001 has 0". Throws where a shard cannot be asked by itself.
std::string rows_by_shard(Fleet::Impl& from, const std::string& where) {
  std::string out;
  for (const std::string& shard : from.shards()) {
    from.rows("rows of a shard",
              "SELECT toUInt64(count()) FROM remote(" + literal(shard) + ", " + identifier(from.to.database) +
                  ", sample_local) WHERE " + where,
              [&](RowReader& row) {
                const auto rows = row.number<std::uint64_t>();
                if (row.whole()) out += (out.empty() ? "" : ", ") + shard + " has " + std::to_string(rows);
              });
  }
  return out;
}

}  // namespace

Error missing_rows(Fleet::Impl& from, const std::vector<const Committed*>& members, const std::string& metric,
                   const std::string& where) {
  struct Found {
    std::int64_t value = 0;
    std::uint64_t rows = 0;
  };
  std::map<std::uint64_t, Found> found;
  from.rows("rows of each snapshot",
            "SELECT push, sum(value), toUInt64(count()) FROM " + from.table("sample") + " WHERE " + where +
                " AND metric = " + literal(metric) + " GROUP BY push",
            [&](RowReader& row) {
              const auto push = row.number<std::uint64_t>();
              Found one;
              one.value = row.number<std::int64_t>();
              one.rows = row.number<std::uint64_t>();
              if (row.whole()) found[push] = one;
            });
  std::string text;
  std::size_t lacking = 0;
  for (const Committed* const member : members) {
    if (member->metric != metric) continue;
    const Found& one = found[member->push];
    if (one.rows == member->rows && one.value == member->total) continue;
    if (++lacking > kMostNamed) continue;
    text += "; " + member->service + " " + member->instance + " at " + std::to_string(member->ts_ns / 1'000'000'000) +
            " has " + std::to_string(one.rows) + " of " + std::to_string(member->rows) + " rows, " +
            std::to_string(one.value) + " of " + std::to_string(member->total) + " of " + metric;
  }
  if (lacking > kMostNamed) text += "; " + std::to_string(lacking - kMostNamed) + " more";
  const Result<std::string> shards = guarded([&] { return rows_by_shard(from, where); });
  if (shards && !shards->empty()) text += "; rows per shard: " + *shards;
  return {ErrorCode::internal,
          "the servers have other rows than were pushed" + text +
              "; expected all: restore the data of the shards, or see 'Rows that are lost' in analyzer/fleet/README.md",
          std::nullopt, "server " + from.client().url()};
}

}  // namespace snapdiff::fleet
