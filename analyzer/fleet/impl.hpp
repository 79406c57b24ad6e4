#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/fleet/fleet.hpp"
#include "analyzer/fleet/http.hpp"
#include "analyzer/fleet/row_binary.hpp"
#include "analyzer/fleet/sql_text.hpp"

namespace snapdiff::fleet {

/// Ids in one list of a statement.
inline constexpr std::size_t kIdsAtOnce = 20'000;

/// Where `text` is among `all`; it is put at their end where it is not there yet.
inline std::uint32_t place_of(const std::string& text, std::vector<std::string>& all) {
  const auto found = std::find(all.begin(), all.end(), text);
  const auto place = static_cast<std::uint32_t>(found - all.begin());
  if (found == all.end()) all.push_back(text);
  return place;
}

/// Its members throw Failure.
struct Fleet::Impl {
  Connection to;
  std::vector<Client> clients;

  bool is_schema_known = false;

  Client& client() { return clients.front(); }
  std::string table(std::string_view name) const { return identifier(to.database) + "." + std::string(name); }

  /// "host:port" of every replica of the cluster, in order of the shards.
  std::vector<std::string> shards();
  /// Whether some shard of the cluster is on several servers.
  bool has_replicas();
  /// Whether the tables of all servers are of this schema; asked for once. Throws incompatible, where they are older,
  /// newer or not there.
  void check_schema();
  /// The same of one server, before tables are made: none, or these.
  void check_schema_before_init(Client& server);
  /// Throws usage, where the server knows no such cluster, with those that it knows.
  void check_cluster();
  /// An error of a statement, with the shards that do not answer.
  Error with_dead_shards(Error error);
  /// Runs a statement whose failure names them.
  template <class Statement>
  void naming_dead_shards(Statement statement) {
    try {
      statement();
    } catch (Failure& failure) {
      fail(with_dead_shards(std::move(failure.error)));
    }
  }

  /// Rows of an answer in RowBinary, one call each; `on_row` reads its columns, and throws only of a whole row.
  template <class OnRow>
  void rows(std::string_view name, const std::string& query, OnRow on_row) {
    const auto read = [&](std::string_view bytes) {
      std::size_t used = 0;
      while (used < bytes.size()) {
        RowReader reader(bytes.substr(used));
        on_row(reader);
        if (reader.is_bad()) fail(ErrorCode::malformed, "a length in the answer is beyond its limit");
        if (!reader.whole()) break;
        used += reader.position();
      }
      return used;
    };
    naming_dead_shards([&] { client().read(name, query + " FORMAT RowBinary", read); });
  }

  /// The rows that `select`, which ends in a column, gives for these ids; some thousands of them a statement.
  template <class Id, class OnRow>
  void rows_of(std::string_view name, const std::string& select, std::span<const Id> ids, OnRow on_row) {
    for (std::size_t begin = 0; begin < ids.size(); begin += kIdsAtOnce) {
      const auto some = ids.subspan(begin, std::min(kIdsAtOnce, ids.size() - begin));
      rows(name, select + " IN (" + list_of(some) + ")", on_row);
    }
  }
};

}  // namespace snapdiff::fleet
