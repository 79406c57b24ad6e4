#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/capture/capture.hpp"
#include "analyzer/cli/addresses.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/gate_answer.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/report/text_tools.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/naming.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::cli {
namespace {

namespace fs = std::filesystem;

struct WatchOptions {
  std::string until;  // growing, limit, ""
  std::optional<std::int64_t> limit;
};

/// Files of a folder that are unchanged between two looks.
class NewFiles {
 public:
  explicit NewFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Paths that were not given out before, the oldest first.
  std::vector<std::string> look() {
    struct Found {
      timespec time;
      std::string path;
    };
    std::vector<Found> found;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> seen;
    std::error_code failure;
    for (fs::directory_iterator entry(folder_, failure), end; !failure && entry != end; entry.increment(failure)) {
      const std::string path = entry->path().string();
      struct stat facts {};
      if (entry->path().filename().string().starts_with('.') || path.ends_with(".part") || given_.contains(path) ||
          ::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0)
        continue;
      const std::pair<std::int64_t, std::int64_t> state{facts.st_size,
                                                        facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
      const auto before = seen_.find(path);
      if (before != seen_.end() && before->second == state) found.push_back({facts.st_mtim, path});
      seen.emplace(path, state);
    }
    if (failure) fail({ErrorCode::io, "cannot list: " + failure.message(), std::nullopt, folder_});
    seen_ = std::move(seen);
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      if (a.time.tv_sec != b.time.tv_sec) return a.time.tv_sec < b.time.tv_sec;
      return a.time.tv_nsec != b.time.tv_nsec ? a.time.tv_nsec < b.time.tv_nsec : a.path < b.path;
    });
    std::vector<std::string> out;
    for (Found& one : found) {
      given_.insert(one.path);
      out.push_back(std::move(one.path));
    }
    return out;
  }

 private:
  std::string folder_;
  std::set<std::string> given_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> seen_;  // of the last look: size and time
};

/// The snapshots so far, and a line about them after each.
class Watched {
 public:
  Watched(const Options& options, WatchOptions wanted)
      : options_(options),
        wanted_(std::move(wanted)),
        terminal_(look_at_terminal(options.no_color)),
        view_(diff_options(options)),
        request_(request_of(options, terminal_)) {
    request_.watch = {};  // a line a snapshot is enough
  }

  std::size_t size() const { return snapshots_.size(); }

  /// True where --until is met.
  bool add(const std::string& path) {
    session::Request request = request_;
    if (!session::wants_names(request) && capture::is_of_run(fs::path(path).filename().string()))
      request.sysroot = "/";  // a program of this machine, as 'snapdiff run' answers about it
    Result<Loaded> loaded =
        session::load_operands({session::Operand{path, session::PathOperand{path, "", false}}}, request, false);
    if (!loaded) {
      say("warning: left out: " + escape_for_terminal(loaded.error().text()));
      return false;
    }
    for (LoadedSnapshot& one : loaded->snapshots) snapshots_.push_back(std::move(one));
    return tell();
  }

  /// What the gate says of all. Its exit code.
  int judge() const {
    if (wanted_.until == "limit") return reached_ ? kExitGateBreached : kExitDone;
    if (snapshots_.size() < 2)
      fail({ErrorCode::usage,
            "not judged: found " + std::to_string(snapshots_.size()) + " snapshots, expected 2 or more"});
    GateOptions none;
    session::GateRules rules = value_or_throw(session::gate_rules(none));
    const GateReport report =
        judge_gate(value_or_throw(session::gate_series(refs(), view_, false)), none, std::move(rules));
    const report::Style style = style_of(options_, terminal_);
    value_or_throw(print_report("\n" + report::write_gate(report, style), style.form));
    return exit_code_of_gate(report);
  }

 private:
  std::vector<SnapshotRef> refs() const {
    std::vector<SnapshotRef> out;
    for (const LoadedSnapshot& one : snapshots_) out.push_back(one.ref);
    return out;
  }

  static std::string clock() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    char text[16];
    std::strftime(text, sizeof text, "%H:%M:%S", &local);
    return text;
  }

  /// "12:03:10  heap.0007     12.3 MiB   +240 KiB  GROWING  main.leak  main.go:33"
  bool tell() {
    const std::vector<SnapshotRef> all = refs();
    std::string verdict, culprit, unit;
    Change total;
    const Status judged = guarded([&] {
      if (all.size() == 1) {
        const Column* const column = session::main_column(*all.front().snapshot);
        if (column == nullptr) fail({ErrorCode::unsupported, "counters alone: 'snapdiff trend' judges them"});
        total.baseline = total.current = session::total_of(*column);
        unit = column->type.unit;
        return;
      }
      std::shared_ptr<const Story> story;
      if (all.size() == 2) {
        const GrowthReport report = value_or_throw(session::compare_two(all[0], all[1], view_));
        total = report.total;
        unit = report.unit;
        story = report.story;
      } else {
        const TrendReport trend = value_or_throw(session::judge_series(all, view_, wanted_.limit));
        total = trend.series.overall.total;
        unit = trend.series.overall.unit;
        story = trend.series.overall.story;
      }
      if (story == nullptr) return;
      verdict = story->verdict;
      if (!story->culprits.empty())
        culprit = report::plain_text(story->culprits.front().text.name) + "  " +
                  report::plain_text(story->culprits.front().text.place);
    });
    if (!judged) {
      say("warning: not judged: " + escape_for_terminal(judged.error().text()));
      return false;
    }
    const auto padded = [](std::string text, std::size_t width, bool right) {
      if (text.size() < width) text.insert(right ? 0 : text.size(), width - text.size(), ' ');
      return text + "  ";
    };
    std::string text = padded(clock(), 8, false) + padded(fs::path(all.back().ref).filename().string(), 12, false) +
                       padded(value_text(total.current, unit), 9, true) +
                       padded(all.size() == 1 ? "" : value_text(total.growth(), unit, true), 9, true) +
                       padded(verdict.empty() ? "-" : verdict, 9, false) + culprit;
    text.resize(text.find_last_not_of(' ') + 1);
    value_or_throw(print_data(escape_for_terminal(text) + "\n"));
    reached_ = wanted_.limit && total.current >= *wanted_.limit;
    return wanted_.until == "limit" ? reached_ : wanted_.until == "growing" && verdict == "GROWING";
  }

  const Options& options_;
  WatchOptions wanted_;
  Terminal terminal_;
  DiffOptions view_;
  session::Request request_;
  std::vector<LoadedSnapshot> snapshots_;
  bool reached_ = false;
};

/// True where --until was met, false where the count was reached or somebody interrupted.
bool watch(const Options& options, Watched& watched) {
  const std::string& place = options.operands.front();
  const std::size_t most = options.count.value_or(static_cast<std::size_t>(-1));
  if (capture::is_address(place)) {
    const auto every = options.every.value_or(std::chrono::seconds(10));
    for (std::size_t tries = 0; tries < most; ++tries) {
      if (tries > 0 && !capture::wait_unless_interrupted(every)) return false;
      if (watched.add(fetch_snapshot(place, options))) return true;
    }
    return false;
  }
  NewFiles files(place);
  for (;;) {
    for (const std::string& path : files.look()) {
      if (watched.add(path)) return true;
      if (watched.size() >= most) return false;
    }
    if (!capture::wait_unless_interrupted(options.every.value_or(std::chrono::milliseconds(500)))) return false;
  }
}

}  // namespace

int run_watch(const Arguments& arguments) {
  Options options;
  WatchOptions wanted;
  CommandLine line("A line for each snapshot that comes into a folder or from an address.",
                   "watch DIR|URL [options]\n\n"
                   "  A line has the total, its growth, the verdict (8 snapshots or more) and the\n"
                   "  first culprit. With --until the exit code is that of 'snapdiff gate': 1 as soon\n"
                   "  as it is met, else what the gate says of all at the end. A line comes every 500ms\n"
                   "  at most; an address is read every 10s. Addresses in files of 'snapdiff run' are\n"
                   "  named from the binaries that they record",
                   {"snapdiff watch heaps/ --until growing",
                    "snapdiff watch http://localhost:6060/debug/pprof/heap --every 30s --until limit --limit 2GiB"});
  add_options(line, options, kTakesOperands | kFetches | kTakesView | kReadsFiles | kTakesSymbols);
  line.text("--until", "X", wanted.until, "growing|limit: ends there").choices({"growing", "limit"});
  line.size("--limit", wanted.limit, 1, "the total that --until limit ends at");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.size() != 1)
    fail({ErrorCode::usage, "watch takes one folder or address: found " + std::to_string(options.operands.size())});
  if ((wanted.until == "limit") != wanted.limit.has_value())
    fail({ErrorCode::usage, "--until limit and --limit SIZE: found one of them, expected both"});
  if (!capture::is_address(options.operands.front()) && !fs::is_directory(options.operands.front()))
    fail({ErrorCode::usage, "watch takes a folder or an address", std::nullopt, options.operands.front()});
  Watched watched(options, wanted);
  const bool met = watch(options, watched);
  if (wanted.until.empty()) return kExitDone;
  const int code = watched.judge();
  return met ? kExitGateBreached : code;
}

}  // namespace snapdiff::cli
