#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/base/failure.hpp"
#include "analyzer/capture/capture.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/terminal.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::size_t kShownRows = 5;  // the answer is read below the program's own output

/// Whether snapshots of this way hold addresses, which the files of this machine name.
bool has_addresses(capture::Way way) {
  return way == capture::Way::jemalloc || way == capture::Way::tcmalloc || way == capture::Way::heaptrack;
}

/// The answer about the files, as the commands give it; addresses are named from the files that are recorded.
int answer(const std::vector<std::string>& files, capture::Way way, const std::string& db) {
  std::vector<std::string> words = files;
  words.push_back("-n" + std::to_string(kShownRows));
  words.push_back("--db=" + (db.empty() ? ":memory:" : db));
  if (has_addresses(way)) words.emplace_back("--sysroot=/");
  if (files.size() > 2) return run_trend({words});
  return files.size() == 2 ? run_diff({words}) : run_top({words});
}

}  // namespace

int run_run(const Arguments& arguments) {
  std::vector<std::string> program;
  std::optional<std::chrono::milliseconds> every;
  std::string folder, with, url, db;
  CommandLine line("Run a program so that it leaves snapshots, then say what grew.",
                   "run [options] -- PROGRAM [ARGUMENT...]\n\n"
                   "  Knows programs with jemalloc, tcmalloc or plain malloc (C, C++, Rust), Go with\n"
                   "  its pprof handler, Node.js, Python from 3.9 on, and scripts that start them.\n"
                   "  The answer goes to stderr, when the program ends or Ctrl-C ends it. Exit: that\n"
                   "  of the program",
                   {"snapdiff run -- ./service --port 8080", "snapdiff run --every 2s --into heaps -- python3 app.py"});
  line.operands(program);
  line.duration("--every", every, "time between two snapshots (10s)");
  line.text("--into", "DIR", folder, "a new folder for them (heaps-PROGRAM)");
  line.text("--with", "NAME", with, "jemalloc|tcmalloc|heaptrack|go|node|python|script (the\nbest there is)")
      .choices({"jemalloc", "tcmalloc", "heaptrack", "go", "node", "python", "script"});
  line.text("--url", "URL", url, "where Go's handler answers (the ports that it opens)");
  line.text("--db", "PATH", db, "store that keeps the snapshots, too");
  if (const auto code = line.parse(arguments)) return *code;
  if (program.empty()) fail({ErrorCode::usage, "run: found no program, expected one behind --, as in: -- ./app"});

  capture::RunRequest request;
  request.plan = value_or_throw(capture::plan_for(program.front(), with));
  request.words = program;
  request.url = url;
  if (every) request.every = *every;
  request.said = [](const std::string& text) { say("snapdiff: " + escape_for_terminal(text)); };
  if (request.plan.way == capture::Way::none) {
    say_error({ErrorCode::unsupported, "no snapshots of " + program.front() + ": " + request.plan.words});
    return kExitBadInput;
  }
  const std::string name = std::filesystem::path(program.front()).filename().string();
  request.folder = value_or_throw(capture::new_folder(folder.empty() ? "heaps-" + name : folder));
  request.said(request.plan.words);
  const capture::RunResult result = value_or_throw(capture::run(request));

  // The standard output is the program's.
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  say("snapdiff: exit " + std::to_string(result.exit_code) + ", " + std::to_string(result.files.size()) +
      (result.files.size() == 1 ? " snapshot in " : " snapshots in ") + escape_for_terminal(request.folder) +
      (result.others == 0 ? "" : ", " + std::to_string(result.others) + " more processes: 'snapdiff overview DIR'"));
  if (result.files.empty()) {
    say("snapdiff: nothing to judge; --every 1s takes more, 'snapdiff run --help' says of whom");
    std::filesystem::remove(request.folder);
    return result.exit_code;
  }
  const Status told = guarded([&] { answer(result.files, request.plan.way, db); });
  if (!told) say_error(told.error());
  say("snapdiff: the same later: snapdiff trend " + escape_for_terminal(request.folder) +
      (has_addresses(request.plan.way) ? " --sysroot /" : ""));
  return result.exit_code;
}

}  // namespace snapdiff::cli
