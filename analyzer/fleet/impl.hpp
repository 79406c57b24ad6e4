#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/fleet/fleet.hpp"
#include "analyzer/fleet/http.hpp"
#include "analyzer/fleet/row_binary.hpp"
#include "analyzer/fleet/sql_text.hpp"

namespace snapdiff::fleet {

/// Ids in one list of a statement.
inline constexpr std::size_t kIdsAtOnce = 20'000;

struct Fleet::Impl {
  Connection to;
  std::vector<Client> clients;

  bool is_schema_known = false;

  Client& client() { return clients.front(); }
  std::string table(std::string_view name) const { return identifier(to.database) + "." + std::string(name); }

  /// "host:port" of every replica of the cluster, in order of the shards.
  Result<std::vector<std::string>> shards();
  /// Whether some shard of the cluster is on several servers.
  Result<bool> has_replicas();
  /// Whether the tables of all servers are of this schema; asked for once. Errors: incompatible, where they are older,
  /// newer or not there.
  Status check_schema();
  /// The same of one server, before tables are made: none, or these.
  Status check_schema_before_init(Client& server);
  /// Errors: usage, where the server knows no such cluster, with those that it knows.
  Status check_cluster();
  /// An error of a statement, with the shards that do not answer.
  Error with_dead_shards(Error error);

  /// Rows of an answer in RowBinary, one call each; `on_row` reads its columns.
  template <class OnRow>
  Status rows(std::string_view name, const std::string& query, OnRow on_row) {
    Status read = client().read(name, query + " FORMAT RowBinary", [&](std::string_view bytes) -> Result<std::size_t> {
      std::size_t used = 0;
      while (used < bytes.size()) {
        RowReader reader(bytes.substr(used));
        const Status row = on_row(reader);
        if (reader.is_bad()) return Error{ErrorCode::malformed, "a length in the answer is beyond its limit"};
        if (!reader.whole()) break;
        if (!row) return row.error();
        used += reader.position();
      }
      return used;
    });
    return read ? ok() : with_dead_shards(std::move(read).error());
  }

  /// The rows that `select`, which ends in a column, gives for these ids; some thousands of them a statement.
  template <class Id, class OnRow>
  Status rows_of(std::string_view name, const std::string& select, std::span<const Id> ids, OnRow on_row) {
    for (std::size_t begin = 0; begin < ids.size(); begin += kIdsAtOnce) {
      const auto some = ids.subspan(begin, std::min(kIdsAtOnce, ids.size() - begin));
      if (Status read = rows(name, select + " IN (" + list_of(some) + ")", on_row); !read) return read;
    }
    return ok();
  }
};

}  // namespace snapdiff::fleet
