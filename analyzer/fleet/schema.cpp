#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/fleet/impl.hpp"
#include "analyzer/fleet/tables.hpp"

namespace snapdiff::fleet {
namespace {

[[noreturn]] void refuse(const Client& client, const std::string& what) {
  fail({ErrorCode::incompatible, what, std::nullopt, "server " + client.url()});
}

[[noreturn]] void refuse_schema(const Client& client, const std::string& database, const std::string& found,
                                bool is_newer) {
  const std::string known = std::to_string(kSchema);
  if (is_newer)
    refuse(client, "tables of database '" + database + "' have schema " + found + ", this snapdiff knows " + known +
                       ": expected a newer snapdiff");
  refuse(client, "tables of database '" + database + "' were made by an earlier snapdiff: found " + found +
                     ", expected schema " + known +
                     "; 'snapdiff fleet init --database NAME' makes new ones, a push of the files fills them");
}

void check_number(const Client& client, const std::string& database, const std::string& number) {
  if (number == std::to_string(kSchema)) return;
  const bool is_newer = number.size() > 1 || number > std::to_string(kSchema);
  refuse_schema(client, database, is_newer ? number : "schema " + number, is_newer);
}

/// Which of the two tables a server has, "sample_local" and "schema_local".
std::vector<std::string> tables_there(Client& client, const std::string& database) {
  return client.lines("tables", "SELECT name FROM system.tables WHERE database = " + literal(database) +
                                    " AND name IN ('sample_local', 'schema_local') ORDER BY name FORMAT TSV");
}

}  // namespace

void Fleet::Impl::check_schema() {
  if (is_schema_known) return;
  const std::string query = "SELECT DISTINCT number FROM " + table("schema") + " ORDER BY number FORMAT TSV";
  const Result<std::vector<std::string>> numbers = guarded([&] { return client().lines("schema", query); });
  if (!numbers) {
    const auto there = guarded([&] { return tables_there(client(), to.database); });
    if (there && there->empty())
      refuse(client(), "no tables in database '" + to.database + "'; 'snapdiff fleet init' makes them");
    if (there && there->back() != "schema_local") refuse_schema(client(), to.database, "no schema number", false);
    fail(with_dead_shards(numbers.error()));
  }
  for (const std::string& number : *numbers) check_number(client(), to.database, number);
  is_schema_known = true;
}

void Fleet::Impl::check_schema_before_init(Client& server) {
  const std::vector<std::string> there = tables_there(server, to.database);
  if (there.empty()) return;
  if (there.back() != "schema_local") refuse_schema(server, to.database, "no schema number", false);
  const auto numbers = server.lines("schema", "SELECT number FROM " + table("schema_local") + " FORMAT TSV");
  check_number(server, to.database, numbers.empty() ? "0" : numbers.front());
}

void Fleet::Impl::check_cluster() {
  const std::vector<std::string> there =
      client().lines("clusters", "SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster FORMAT TSV");
  if (std::find(there.begin(), there.end(), to.cluster) != there.end()) return;
  std::string list;
  for (const std::string& name : there) list += (list.empty() ? "" : ", ") + name;
  fail({ErrorCode::usage,
        "no cluster '" + to.cluster +
            "' in its configuration: expected its shards in remote_servers, or --cluster with one of: " +
            (list.empty() ? "none" : list),
        std::nullopt, "server " + client().url()});
}

}  // namespace snapdiff::fleet
