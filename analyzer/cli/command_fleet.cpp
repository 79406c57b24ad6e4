#include <array>

#include "analyzer/base/nearest.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/fleet_answers.hpp"

namespace snapdiff::cli {
namespace {

struct FleetWord {
  std::string_view name;
  int (*run)(const FleetQuestion&);
};
constexpr std::array kFleetWords = {FleetWord{"init", fleet_init},
                                    FleetWord{"list", fleet_list},
                                    FleetWord{"info", fleet_info},
                                    FleetWord{"diff", fleet_diff},
                                    FleetWord{"trend", fleet_trend},
                                    FleetWord{"gate", fleet_gate},
                                    FleetWord{"outliers", fleet_outliers},
                                    FleetWord{"pull", fleet_pull},
                                    FleetWord{"rm", fleet_rm},
                                    FleetWord{"sql", fleet_sql}};

}  // namespace

int run_fleet(const Arguments& arguments) {
  FleetQuestion asked;
  CommandLine line("Questions over the snapshots of many machines (push sends them).",
                   "fleet init|list|info|diff|trend|gate|outliers|pull|rm|sql [options]\n\n"
                   "  init      make the tables     list   services, versions, instances\n"
                   "  info      what the servers hold\n"
                   "  diff      growth per stack between two moments, on how many instances\n"
                   "  trend     leak or not, over the sum of the instances\n"
                   "  gate      fail when growth breaks a budget\n"
                   "  outliers  which instance differs\n"
                   "  pull      into a store of one's own (-o); then every command works\n"
                   "  rm        takes the snapshots of a service, instance or time out\n"
                   "  sql       a query of one's own, in the servers' dialect\n\n"
                   "  TIME is '2026-11-01 12:00' (UTC), @SECONDS, or 14d, 36h, 30m before now",
                   {"snapdiff fleet diff --service api --from '2026-11-01 12:00' --to +24h",
                    "snapdiff fleet trend --service api --since 14d --step 1h",
                    "snapdiff fleet pull --service api --instance h123 --since 2d -o incident.db"});
  add_options(line, asked.options, kTakesOperands | kTakesView | kTakesRows | kTakesForm | kAsksFleet);
  add_connection(line, asked.servers);
  line.text("--service", "NAME", asked.servers.service, "of this service");
  line.text("--instance", "NAME", asked.servers.instance, "of this instance");
  line.text("--version", "TEXT", asked.servers.version, "of this build");
  line.texts("--label", "K=V", asked.servers.labels, "with this label; repeatable");
  line.text("--since", "TIME", asked.servers.since, "snapshots from this time on");
  line.text("--from", "TIME", asked.servers.from, "the earlier moment (the first snapshots); rm: from this\ntime on");
  line.text("--to", "TIME", asked.servers.to, "the later one (the last); +24h is after --from; rm: up\nto this time");
  line.text("--step", "DURATION", asked.servers.step, "trend, gate: length of a step, 5m or 1h (as they were\ntaken)");
  line.size("--limit", asked.limit, 1, "trend: say when the total will reach this");
  line.size("--floor", asked.floor, 0, "trend: stacks that change less are one row");
  line.text("-o", "FILE", asked.options.output, "pull: the store to write");
  line.count("--keep", asked.keep_days, {1, 20'000}, "init: days that samples are kept (30)");
  line.count("--keep-hourly", asked.keep_hourly_days, {1, 20'000}, "init: days that hourly values are kept (400)");
  line.flag("--on-cluster", asked.on_cluster, "init: one statement for all servers, with a keeper");
  line.flag("--print", asked.print, "init: show the statements, ask nobody");
  add_gate_options(line, asked.gate);
  if (const auto code = line.parse(arguments)) return *code;
  std::vector<std::string> words;
  words.reserve(std::size(kFleetWords));
  for (const FleetWord& word : kFleetWords) words.emplace_back(word.name);
  if (asked.options.operands.empty())
    fail({ErrorCode::usage, "fleet needs a question: init, list, info, diff, trend, gate, outliers, pull, rm or sql"});
  asked.word = asked.options.operands.front();
  asked.words.assign(asked.options.operands.begin() + 1, asked.options.operands.end());
  asked.terminal = look_at_terminal(asked.options.no_color);
  for (const FleetWord& word : kFleetWords) {
    if (word.name != asked.word) continue;
    if (word.name != "sql" && !asked.words.empty())
      fail({ErrorCode::usage, "fleet " + asked.word + " takes no operands: found '" + asked.words.front() + "'"});
    try {
      return word.run(asked);
    } catch (const Failure& failure) {
      return fail_of_fleet(failure.error);
    }
  }
  fail({ErrorCode::usage, "fleet " + asked.word + ": no such question" + did_you_mean(asked.word, words)});
}

}  // namespace snapdiff::cli
