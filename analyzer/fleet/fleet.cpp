#include "analyzer/fleet/fleet.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/fleet/impl.hpp"
#include "analyzer/fleet/query_guard.hpp"
#include "analyzer/fleet/tables.hpp"

namespace snapdiff::fleet {
namespace {

/// "22.8.1.2097" is from 22.8 on.
bool is_modern(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, failed] = std::from_chars(version.data(), end, major);
  if (failed != std::errc{} || dot == end || *dot != '.') return false;
  std::from_chars(dot + 1, end, minor);
  return major > 22 || (major == 22 && minor >= 8);
}

std::string version_of(Client& client) {
  std::string version = client.text("version", "SELECT version() FORMAT TSV");
  while (!version.empty() && version.back() == '\n') version.pop_back();
  if (version.size() > 64) fail({ErrorCode::malformed, "the version of the server is longer than 64 bytes"});
  return version;
}

/// Values of one line of tab-separated text, unescaped; nothing for \N.
std::vector<std::optional<std::string>> split_line(std::string_view line) {
  std::vector<std::optional<std::string>> out;
  std::string text;
  bool is_null = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i == line.size() || line[i] == '\t') {
      out.push_back(is_null ? std::nullopt : std::optional(std::move(text)));
      text.clear();
      is_null = false;
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      constexpr std::string_view kLetters = "bfrnt0N";
      constexpr std::string_view kMeaning{"\b\f\r\n\t\0\0", 7};
      const std::size_t found = kLetters.find(line[++i]);
      is_null = is_null || line[i] == 'N';
      if (line[i] != 'N') text += found == std::string_view::npos ? line[i] : kMeaning[found];
    } else {
      text += line[i];
    }
  }
  return out;
}

/// Of several rows of one snapshot the newest stands, which may take it out. Of two pushes at once, that may both have
/// committed, one is the snapshot, the same one for every reader.
bool stands_before(const Committed& a, const Committed& b) { return a.nth != b.nth ? a.nth > b.nth : a.push < b.push; }

/// Conditions for all rows of the snapshots that have one in the slice: which of them stands is known only from all.
/// A snapshot has one service and one instance, and lies on one shard; its rows may differ in all else.
std::string rows_of_snapshots(const std::string& table, const Slice& slice) {
  std::string same = "1";
  std::string own;
  const auto require = [](std::string& where, std::string_view column, const std::string& value) {
    if (!value.empty()) where += " AND " + std::string(column) + " = " + literal(value);
  };
  require(same, "service", slice.service);
  require(same, "instance_name", slice.instance);
  require(same, "metric", slice.metric);
  require(own, "version", slice.version);
  for (const auto& [key, value] : slice.labels)
    own +=
        " AND vals[indexOf(keys, " + literal(key) + ")] = " + literal(value) + " AND has(keys, " + literal(key) + ")";
  if (slice.since_ns) own += " AND ts_ns >= " + std::to_string(*slice.since_ns);
  if (slice.until_ns) own += " AND ts_ns <= " + std::to_string(*slice.until_ns);
  if (own.empty()) return same;
  return same + " AND snapshot IN (SELECT snapshot FROM " + table + " WHERE " + same + own + ")";
}

/// Whether the row that stands is in the slice, too.
bool is_in(const Slice& slice, const Committed& one) {
  const auto has = [&](const std::pair<std::string, std::string>& label) {
    return std::find(one.labels.begin(), one.labels.end(), label) != one.labels.end();
  };
  return (slice.version.empty() || one.version == slice.version) &&
         std::all_of(slice.labels.begin(), slice.labels.end(), has) &&
         (!slice.since_ns || one.ts_ns >= *slice.since_ns) && (!slice.until_ns || one.ts_ns <= *slice.until_ns);
}

bool is_number_type(std::string_view type) {
  return type.find("Int") != std::string_view::npos || type.find("Float") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> Fleet::Impl::shards() {
  return client().lines("shards",
                        "SELECT concat(host_address, ':', toString(port)) FROM system.clusters WHERE cluster = " +
                            literal(to.cluster) + " ORDER BY shard_num, replica_num FORMAT TSV");
}

Error Fleet::Impl::with_dead_shards(Error error) {
  if (error.code != ErrorCode::io) return error;
  const Result<std::vector<std::string>> all = guarded([&] { return shards(); });
  if (!all) return error;
  std::string dead;
  for (const std::string& shard : *all) {
    const std::string query = "SELECT 1 FROM remote(" + literal(shard) + ", system, one) FORMAT TSV";
    if (!guarded([&] { client().text("shard", query); })) dead += (dead.empty() ? "" : ", ") + shard;
  }
  if (!dead.empty()) error.message += "; no answer from " + dead;
  return error;
}

Fleet::Fleet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Fleet::Fleet(Fleet&&) noexcept = default;
Fleet& Fleet::operator=(Fleet&&) noexcept = default;
Fleet::~Fleet() = default;

Result<Fleet> Fleet::open(Connection to) {
  if (to.urls.empty())
    return Error{ErrorCode::usage, "no server: expected --url or SNAPDIFF_FLEET_URL, e.g. http://127.0.0.1:8123"};
  for (const std::string* const name : {&to.database, &to.cluster}) {
    if (!is_name(*name))
      return Error{ErrorCode::usage,
                   "found '" + *name + "', expected a name of letters, digits and underscores, at most 64"};
  }
  const auto breaks_header = [](const std::string& text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  };
  if (breaks_header(to.user) || breaks_header(to.password))
    return Error{ErrorCode::usage, "the user or the password holds a line break or a NUL"};
  auto impl = std::make_unique<Impl>();
  for (std::string& url : to.urls) {
    Result<std::string> checked = checked_url(url);
    if (!checked) return std::move(checked).error();
    url = *checked;
    impl->clients.emplace_back(to, url);
  }
  impl->to = std::move(to);
  return Fleet(std::move(impl));
}

bool Fleet::Impl::has_replicas() {
  const std::string count = client().text(
      "replicas",
      "SELECT countIf(replica_num > 1) FROM system.clusters WHERE cluster = " + literal(to.cluster) + " FORMAT TSV");
  return !count.starts_with("0");
}

Status Fleet::init(const Layout& layout) {
  return guarded([&] {
    impl_->check_cluster();
    if (impl_->has_replicas() && !layout.on_cluster)
      fail(ErrorCode::usage, "shards of cluster '" + impl_->to.cluster +
                                 "' have replicas: expected --on-cluster, which makes tables that a keeper keeps "
                                 "equal; of others each replica would hold a part of the rows");
    const std::size_t servers = layout.on_cluster ? 1 : impl_->clients.size();
    for (std::size_t i = 0; i < servers; ++i) impl_->check_schema_before_init(impl_->clients[i]);
    for (std::size_t i = 0; i < servers; ++i) {
      Client& client = impl_->clients[i];
      const std::string version = version_of(client);
      for (const std::string& statement : statements(impl_->to, layout, is_modern(version))) {
        const std::string name = statement.substr(0, statement.find(" ("));
        client.text(name.substr(0, 80), statement);
      }
    }
    // Each shard must have them: a shard without would refuse every later statement.
    try {
      impl_->client().text("check of all shards", "SELECT count() FROM " + impl_->table("sample"));
    } catch (Failure& failure) {
      failure.error.message += "; give the addresses of all servers to init: --url http://a:8123,http://b:8123";
      throw;
    }
  });
}

Result<std::vector<Committed>> Fleet::list(const Slice& slice) {
  return guarded([&] {
    impl_->check_schema();
    std::map<std::pair<Hash128, std::string>, Committed> found;
    impl_->rows("snapshots",
                "SELECT snapshot, push, nth, service, metric, unit, instance_name, version, keys, "
                "vals, ts_ns, restart, period, state, "
                "rows, total, objects FROM " +
                    impl_->table("snapshot") + " WHERE " + rows_of_snapshots(impl_->table("snapshot"), slice),
                [&](RowReader& row) {
                  Committed one;
                  one.snapshot = row.hash();
                  one.push = row.number<std::uint64_t>();
                  one.nth = row.number<std::uint64_t>();
                  one.service = row.text();
                  one.metric = row.text();
                  one.unit = row.text();
                  one.instance = row.text();
                  one.version = row.text();
                  std::vector<std::string> keys = row.texts();
                  std::vector<std::string> values = row.texts();
                  for (std::size_t i = 0; i < std::min(keys.size(), values.size()); ++i)
                    one.labels.emplace_back(std::move(keys[i]), std::move(values[i]));
                  one.ts_ns = row.number<std::uint64_t>();
                  one.restart = row.number<std::uint32_t>();
                  one.period = row.number<std::uint64_t>();
                  const auto state = row.number<std::uint8_t>();
                  one.partial = (state & kPartial) != 0;
                  one.incomplete = (state & kIncomplete) != 0;
                  one.has_time = (state & kOwnTime) != 0;
                  one.removed = (state & kRemoved) != 0;
                  one.rows = row.number<std::uint32_t>();
                  one.total = row.number<std::int64_t>();
                  one.objects = row.number<std::int64_t>();
                  if (!row.whole()) return;
                  const auto key = std::pair(one.snapshot, one.metric);
                  const auto [place, is_new] = found.try_emplace(key, one);
                  if (!is_new && stands_before(one, place->second)) place->second = std::move(one);
                });
    std::vector<Committed> out;
    for (auto& [key, one] : found) {
      if (!one.removed && is_in(slice, one)) out.push_back(std::move(one));
    }
    std::sort(out.begin(), out.end(), [](const Committed& a, const Committed& b) {
      return std::tie(a.service, a.instance, a.ts_ns, a.nth, a.metric, a.push) <
             std::tie(b.service, b.instance, b.ts_ns, b.nth, b.metric, b.push);
    });
    return out;
  });
}

Result<ServerFacts> Fleet::facts() {
  return guarded([&] {
    impl_->check_schema();
    ServerFacts out;
    out.version = version_of(impl_->client());
    out.modern = is_modern(out.version);
    const auto count = [&](std::string_view name, const std::string& query, auto&... into) {
      impl_->rows(name, query, [&](RowReader& row) { ((into = row.number<std::uint64_t>()), ...); });
    };
    const std::string cluster = literal(impl_->to.cluster);
    count("servers", "SELECT toUInt64(uniqExact(shard_num)) FROM system.clusters WHERE cluster = " + cluster,
          out.shards);
    count("samples", "SELECT toUInt64(count()) FROM " + impl_->table("sample"), out.sample_rows);
    count("snapshots",
          "SELECT toUInt64(sum(r)), toUInt64(uniqExact(snapshot)) FROM (SELECT snapshot, metric, argMax(rows, nth) AS "
          "r, argMax(state, nth) AS last FROM " +
              impl_->table("snapshot") + " GROUP BY snapshot, metric) WHERE bitAnd(last, " + std::to_string(kRemoved) +
              ") = 0",
          out.committed_rows, out.snapshots);
    count("stacks", "SELECT toUInt64(uniqExact(stack)) FROM " + impl_->table("stack"), out.stacks);
    count("frames", "SELECT toUInt64(uniqExact(frame)) FROM " + impl_->table("frame"), out.frames);
    count("parts",
          "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE active AND database = " +
              literal(impl_->to.database) + " AND table = 'sample_local'",
          out.stored_bytes);
    return out;
  });
}

Status Fleet::sql(std::string_view query, const std::function<void(std::span<const std::string>)>& on_columns,
                  const std::function<void(std::span<const QueryCell>)>& on_row) {
  return guarded([&] {
    value_or_throw(check_query(query, impl_->to.database));
    std::string text(query);
    while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) text.pop_back();
    std::vector<bool> is_number;
    std::size_t line_number = 0;
    // The answer is read line by line: names, types, then rows.
    impl_->client().read(
        "sql", text + "\nFORMAT TabSeparatedWithNamesAndTypes",
        [&](std::string_view bytes) {
          std::size_t used = 0;
          for (std::size_t end; (end = bytes.find('\n', used)) != std::string_view::npos; used = end + 1) {
            const auto values = split_line(bytes.substr(used, end - used));
            if (line_number++ == 0) {
              std::vector<std::string> names;
              names.reserve(values.size());
              for (const auto& value : values) names.push_back(value.value_or(""));
              on_columns(names);
            } else if (line_number == 2) {
              for (const auto& value : values) is_number.push_back(is_number_type(value.value_or("")));
            } else {
              std::vector<QueryCell> cells;
              for (std::size_t i = 0; i < values.size(); ++i)
                cells.push_back({values[i], i < is_number.size() && is_number[i]});
              on_row(cells);
            }
          }
          return used;
        },
        "&readonly=2");
  });
}

}  // namespace snapdiff::fleet
