#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/base/words.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/fleet_answers.hpp"
#include "analyzer/cli/fleet_series.hpp"
#include "analyzer/cli/query_answer.hpp"
#include "analyzer/store/store.hpp"

namespace snapdiff::cli {
namespace {

std::string count_of(std::uint64_t number) { return count_text(number); }

QueryCell text_cell(const std::string& text) { return {text, false}; }
QueryCell number_cell(std::uint64_t number) { return {std::to_string(number), true}; }

}  // namespace

std::vector<fleet::Committed> rows_of_slice(fleet::Fleet& from, const FleetQuestion& asked) {
  fleet::Slice slice;
  slice.service = asked.servers.service;
  slice.instance = asked.servers.instance;
  slice.version = asked.servers.version;
  slice.labels = label_pairs(asked.servers.labels);
  slice.since_ns = moment_of("--since", asked.servers.since);
  // Questions about two moments look around them; elsewhere they bound what is taken.
  if (asked.word == "rm") {
    if (const auto first = moment_of("--from", asked.servers.from)) slice.since_ns = first;
    slice.until_ns = moment_of("--to", asked.servers.to, slice.since_ns);
  }
  std::vector<fleet::Committed> rows = value_or_throw(from.list(slice));
  const bool is_all = slice.service.empty() && slice.instance.empty() && slice.version.empty() &&
                      slice.labels.empty() && !slice.since_ns && !slice.until_ns;
  if (rows.empty() && is_all)
    fail({ErrorCode::usage, "no snapshot is there yet: 'snapdiff push FILE --service NAME' sends some"});
  if (rows.empty())
    fail({ErrorCode::usage,
          "no snapshot of this service, instance, version, label and time; 'snapdiff fleet list' "
          "shows what there is"});
  return rows;
}

int fleet_init(const FleetQuestion& asked) {
  const fleet::Layout layout{asked.keep_days, asked.keep_hourly_days, asked.on_cluster};
  if (asked.print) {
    fleet::Connection to;
    to.database = asked.servers.database;
    to.cluster = asked.servers.cluster;
    std::string text;
    for (const bool modern : {false, true}) {
      text += modern ? "\n-- servers from 22.8 on\n" : "-- servers from 18.16 on\n";
      for (const std::string& statement : fleet::statements(to, layout, modern)) text += statement + ";\n";
    }
    value_or_throw(print_data(text));
    return kExitDone;
  }
  fleet::Fleet to = connect(asked.servers);
  value_or_throw(to.init(layout));
  const fleet::ServerFacts facts = value_or_throw(to.facts());
  say("tables are there: ClickHouse " + escape_for_terminal(facts.version) + ", " + counted(facts.shards, "shard") +
      ", " + (facts.modern ? "modern" : "base") + " level" +
      (facts.modern ? "" : "; nothing is removed by itself: drop old partitions (analyzer/fleet/README.md)"));
  return kExitDone;
}

int fleet_list(const FleetQuestion& asked) {
  fleet::Fleet from = connect(asked.servers);
  const auto rows = rows_of_slice(from, asked);
  struct Group {
    std::set<std::string> instances;
    std::set<Hash128> snapshots;
    std::uint64_t first = UINT64_MAX, last = 0, rows = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const fleet::Committed& row : rows) {
    Group& group = groups[{row.service, row.version}];
    group.instances.insert(row.instance);
    group.snapshots.insert(row.snapshot);
    group.first = std::min(group.first, row.ts_ns);
    group.last = std::max(group.last, row.ts_ns);
    group.rows += row.rows;
  }
  PrintedTable table(asked.options);
  table.columns(std::vector<std::string>{"service", "version", "instances", "snapshots", "rows", "first", "last"});
  for (const auto& [key, group] : groups)
    table.row(std::vector<QueryCell>{text_cell(key.first), text_cell(key.second), number_cell(group.instances.size()),
                                     number_cell(group.snapshots.size()), number_cell(group.rows),
                                     text_cell(moment_text(group.first)), text_cell(moment_text(group.last))});
  table.end();
  return kExitDone;
}

int fleet_info(const FleetQuestion& asked) {
  fleet::Fleet from = connect(asked.servers);
  const fleet::ServerFacts facts = value_or_throw(from.facts());
  PrintedTable table(asked.options);
  table.columns(std::vector<std::string>{"what", "value"});
  table.row(std::vector<QueryCell>{text_cell("server"), text_cell("ClickHouse " + facts.version)});
  table.row(std::vector<QueryCell>{text_cell("level"), text_cell(facts.modern ? "modern" : "base")});
  for (const auto& [name, number] :
       {std::pair("shards", facts.shards), std::pair("snapshots", facts.snapshots),
        std::pair("committed rows", facts.committed_rows), std::pair("rows", facts.sample_rows),
        std::pair("stacks", facts.stacks), std::pair("frames", facts.frames),
        std::pair("bytes of samples on this server", facts.stored_bytes)})
    table.row(std::vector<QueryCell>{text_cell(name), number_cell(number)});
  if (facts.sample_rows > facts.committed_rows)
    say("note: " + count_of(facts.sample_rows - facts.committed_rows) +
        " rows are of pushes that were not finished, or were taken out; no answer counts them");
  table.end();
  return kExitDone;
}

int fleet_sql(const FleetQuestion& asked) {
  const std::string query = query_of(asked.words, "fleet sql");
  fleet::Fleet from = connect(asked.servers);
  PrintedTable table(asked.options);
  value_or_throw(from.sql(
      query, [&](std::span<const std::string> names) { table.columns(names); },
      [&](std::span<const QueryCell> row) { table.row(row); }));
  table.end();
  return kExitDone;
}

int fleet_rm(const FleetQuestion& asked) {
  if (asked.servers.service.empty())
    fail({ErrorCode::usage,
          "fleet rm needs --service NAME, and --instance, --version, --from or --to for a part of it"});
  fleet::Fleet from = connect(asked.servers);
  const auto rows = rows_of_slice(from, asked);
  std::set<Hash128> snapshots;
  std::set<std::string> instances;
  std::uint64_t first = UINT64_MAX, last = 0;
  for (const fleet::Committed& row : rows) {
    snapshots.insert(row.snapshot);
    instances.insert(row.instance);
    first = std::min(first, row.ts_ns);
    last = std::max(last, row.ts_ns);
  }
  value_or_throw(from.remove(rows));
  say("rm      " + counted(snapshots.size(), "snapshot") + " of " + escape_for_terminal(asked.servers.service) + ", " +
      counted(instances.size(), "instance") + ", " + moment_text(first) + " to " + moment_text(last) +
      ": taken out; a push of their files brings them back");
  return kExitDone;
}

int fleet_pull(const FleetQuestion& asked) {
  const std::string path = asked.options.output.empty() ? asked.options.db : asked.options.output;
  if (path.empty()) fail({ErrorCode::usage, "fleet pull needs -o FILE: the store to write"});
  fleet::Fleet from = connect(asked.servers);
  const auto rows = rows_of_slice(from, asked);
  // A snapshot is all of its metrics, of which some snapshots lack some: the first row of each stands for it in order.
  std::map<std::pair<std::string, std::string>, std::vector<fleet::Step>> series;
  std::map<std::uint64_t, std::vector<const fleet::Committed*>> members;
  std::vector<fleet::Committed> first_rows;
  for (const fleet::Committed& row : rows) {
    std::vector<const fleet::Committed*>& of_snapshot = members[row.push];
    if (of_snapshot.empty()) {
      first_rows.push_back(row);
      first_rows.back().metric.clear();
    }
    of_snapshot.push_back(&row);
  }
  for (const InstanceSeries& instance : instance_series(first_rows, {})) {
    for (const fleet::Committed* const one : instance.snapshots)
      series[{instance.service, instance.instance}].push_back({members[one->push]});
  }
  store::Store store = value_or_throw(store::Store::open(path, store::Access::create));
  std::size_t added = 0;
  for (const auto& [key, steps] : series) {
    constexpr std::size_t kAtOnce = 64;
    for (std::size_t begin = 0; begin < steps.size(); begin += kAtOnce) {
      const auto some = std::span(steps).subspan(begin, std::min(kAtOnce, steps.size() - begin));
      const std::vector<Snapshot> snapshots = value_or_throw(from.fetch(some));
      for (const Snapshot& snapshot : snapshots) {
        const store::Imported stored = value_or_throw(store.add(snapshot, key.first + "/" + key.second));
        added += stored.was_present ? 0U : 1U;
      }
    }
  }
  say("pull    " + counted(added, "snapshot") + " of " + counted(series.size(), "instance") + " into " +
      escape_for_terminal(path));
  return kExitDone;
}

}  // namespace snapdiff::cli
