#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/fleet/impl.hpp"
#include "analyzer/fleet/tables.hpp"

namespace snapdiff::fleet {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1)
    out.emplace_back(text.substr(begin, end - begin));
  return out;
}

Error refused(const Client& client, const std::string& what) {
  return Error{ErrorCode::incompatible, what, std::nullopt, "server " + client.url()};
}

Error other_schema(const Client& client, const std::string& database, const std::string& found, bool is_newer) {
  const std::string known = std::to_string(kSchema);
  if (is_newer)
    return refused(client, "tables of database '" + database + "' have schema " + found + ", this snapdiff knows " +
                               known + ": expected a newer snapdiff");
  return refused(client, "tables of database '" + database + "' were made by an earlier snapdiff: found " + found +
                             ", expected schema " + known +
                             "; 'snapdiff fleet init --database NAME' makes new ones, a push of the files fills them");
}

Status check_number(const Client& client, const std::string& database, const std::string& number) {
  if (number == std::to_string(kSchema)) return ok();
  const bool is_newer = number.size() > 1 || number > std::to_string(kSchema);
  return other_schema(client, database, is_newer ? number : "schema " + number, is_newer);
}

/// Which of the two tables a server has, "sample_local" and "schema_local".
Result<std::vector<std::string>> tables_there(Client& client, const std::string& database) {
  const Result<std::string> names =
      client.text("tables", "SELECT name FROM system.tables WHERE database = " + literal(database) +
                                " AND name IN ('sample_local', 'schema_local') ORDER BY name FORMAT TSV");
  if (!names) return names.error();
  return lines_of(*names);
}

}  // namespace

Status Fleet::Impl::check_schema() {
  if (is_schema_known) return ok();
  const Result<std::string> numbers =
      client().text("schema", "SELECT DISTINCT number FROM " + table("schema") + " ORDER BY number FORMAT TSV");
  if (!numbers) {
    const Result<std::vector<std::string>> there = tables_there(client(), to.database);
    if (there && there->empty())
      return refused(client(), "no tables in database '" + to.database + "'; 'snapdiff fleet init' makes them");
    if (there && there->back() != "schema_local") return other_schema(client(), to.database, "no schema number", false);
    return with_dead_shards(numbers.error());
  }
  for (const std::string& number : lines_of(*numbers)) {
    if (Status checked = check_number(client(), to.database, number); !checked) return checked;
  }
  is_schema_known = true;
  return ok();
}

Status Fleet::Impl::check_schema_before_init(Client& server) {
  const Result<std::vector<std::string>> there = tables_there(server, to.database);
  if (!there) return there.error();
  if (there->empty()) return ok();
  if (there->back() != "schema_local") return other_schema(server, to.database, "no schema number", false);
  const Result<std::string> number =
      server.text("schema", "SELECT number FROM " + table("schema_local") + " FORMAT TSV");
  if (!number) return number.error();
  return check_number(server, to.database, lines_of(*number).empty() ? "0" : lines_of(*number).front());
}

Status Fleet::Impl::check_cluster() {
  const Result<std::string> names =
      client().text("clusters", "SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster FORMAT TSV");
  if (!names) return names.error();
  const std::vector<std::string> there = lines_of(*names);
  if (std::find(there.begin(), there.end(), to.cluster) != there.end()) return ok();
  std::string list;
  for (const std::string& name : there) list += (list.empty() ? "" : ", ") + name;
  return Error{ErrorCode::usage,
               "no cluster '" + to.cluster +
                   "' in its configuration: expected its shards in remote_servers, or --cluster with one of: " +
                   (list.empty() ? "none" : list),
               std::nullopt, "server " + client().url()};
}

}  // namespace snapdiff::fleet
