#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <span>

#include "analyzer/base/words.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/fleet_options.hpp"
#include "analyzer/session/read_files.hpp"

namespace snapdiff::cli {
namespace {

/// A clock that is farther ahead than this is off.
constexpr std::int64_t kMostAheadNs = 3'600'000'000'000;
constexpr std::int64_t kEarliestNs = 946'684'800'000'000'000;  // the year 2000

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void warn_of_clock(const LoadedSnapshot& item) {
  const auto taken = item.ref.snapshot->facts.taken_at_ns;
  if (!taken) return;
  const auto now = static_cast<std::int64_t>(current_time_ns());
  if (*taken >= kEarliestNs && *taken <= now + kMostAheadNs) return;
  const std::string time = *taken < 0 ? "before 1970" : moment_text(static_cast<std::uint64_t>(*taken));
  say("warning: " + escape_for_terminal(item.ref.ref) + ": the clock was off: taken at " + time + ", it is " +
      moment_text(static_cast<std::uint64_t>(now)) + "; pushed with that time");
}

Status push_all(Loaded& loaded, const session::Request& request, const fleet::Origin& origin, fleet::Fleet& to,
                fleet::Pushed& sum) {
  return session::for_some(loaded, request, [&](std::span<LoadedSnapshot> some) -> Status {
    std::vector<const Snapshot*> snapshots;
    for (const LoadedSnapshot& item : some) {
      warn_of_clock(item);
      snapshots.push_back(item.ref.snapshot.get());
    }
    const Result<fleet::Pushed> pushed = to.push(snapshots, origin);
    if (!pushed) return pushed.error();
    sum.snapshots += pushed->snapshots;
    sum.present += pushed->present;
    sum.expired += pushed->expired;
    sum.rows += pushed->rows;
    sum.stacks += pushed->stacks;
    sum.frames += pushed->frames;
    sum.bytes += pushed->bytes;
    return ok();
  });
}

std::string summary(const fleet::Pushed& pushed, const fleet::Origin& origin, double seconds) {
  const auto count = [](std::uint64_t number) { return count_text(number); };
  char time[32];
  std::snprintf(time, sizeof time, " in %.1f s", seconds);
  return "push    " + counted(pushed.snapshots, "snapshot") + " of " +
         escape_for_terminal(origin.service + ", " + origin.instance) +
         (pushed.present > 0 ? ", " + count(pushed.present) + " pushed before" : "") + ": " + count(pushed.rows) +
         " rows, " + count(pushed.stacks) + " new stacks, " + count(pushed.frames) + " frames, " +
         bytes_text(static_cast<std::int64_t>(pushed.bytes)) + " sent" + time;
}

}  // namespace

int run_push(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Options options;
  FleetOptions servers;
  CommandLine line("Send snapshots of this machine to the servers of a fleet.",
                   "push [options] --service NAME FILE...\n\n"
                   "  FILE is a file, a directory of snapshots, or - (stdin); what was pushed\n"
                   "  before is not sent again",
                   {"snapdiff push heaps/ --service api --version \"$GIT_SHA\"",
                    "snapdiff push /var/heaps --service api --label region=eu --url https://ch1:8443"});
  add_options(line, options, kTakesOperands | kReadsFiles | kTakesSymbols);
  add_connection(line, servers);
  line.text("--service", "NAME", servers.service, "what runs there");
  line.text("--instance", "NAME", servers.instance, "which of its processes (the name of this host)");
  line.text("--version", "TEXT", servers.version, "which build of it");
  line.texts("--label", "K=V", servers.labels, "a label for each snapshot; repeatable");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "push needs at least one file, see --help"});
  if (servers.service.empty()) fail({ErrorCode::usage, "push needs --service NAME: what runs there"});
  fleet::Origin origin{servers.service, servers.instance.empty() ? host_name() : servers.instance, servers.version, {}};
  if (origin.instance.empty()) fail({ErrorCode::usage, "this host has no name; expected --instance NAME"});
  origin.labels = label_pairs(servers.labels);
  const std::vector<session::Operand> operands = value_or_throw(session::parse_operands(options.operands));
  fleet::Fleet to = connect(servers);

  const session::Request request = request_of(options, look_at_terminal(options.no_color));
  fleet::Pushed sum;
  int code = kExitDone;
  for (const session::Operand& operand : operands) {
    Result<Loaded> loaded =
        session::load_operands({operand}, request, true, store::Parts::rows, session::kMostRowBytes);
    if (!loaded) {
      say_error(loaded.error());
      code = kExitBadInput;
      continue;
    }
    if (const int partial = tell_notes(*loaded, options); partial != kExitDone) {
      code = partial;
      continue;
    }
    const Status pushed =
        session::in_stage(request.watch, "pushing", [&] { return push_all(*loaded, request, origin, to, sum); });
    if (!pushed) {
      say(summary(sum, origin, 0) + "; not all: the push can be repeated");
      return fail_of_fleet(pushed.error());
    }
  }
  if (sum.expired > 0)
    say("warning: " + std::to_string(sum.expired) +
        " snapshots are older than the servers keep and are not there; 'snapdiff fleet init --keep' says how long");
  if (sum.snapshots + sum.present > 0)
    say(summary(sum, origin, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  return code;
}

}  // namespace snapdiff::cli
