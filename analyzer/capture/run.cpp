#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "analyzer/base/environment.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/capture/capture.hpp"
#include "analyzer/capture/script_texts.hpp"
#include "analyzer/capture/snapshots.hpp"

namespace snapdiff::capture {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Variables = std::map<std::string, std::string>;

/// `text` before the user's own value of a variable, or behind it.
std::string before_own(const char* name, const std::string& text, char separator) {
  const std::string value(environment(name));
  return value.empty() ? text : text + separator + value;
}
std::string behind_own(const char* name, const std::string& text, char separator) {
  const std::string value(environment(name));
  return value.empty() ? text : value + separator + text;
}

/// Files that only live as long as the program.
class Workplace {
 public:
  explicit Workplace(std::string path) : path_(std::move(path)) {
    if (::mkdir(path_.c_str(), 0700) != 0)
      fail({ErrorCode::io, std::string("cannot make the folder: ") + std::strerror(errno), std::nullopt, path_});
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream out(file(name), std::ios::binary);
    out << text;
    if (!out.flush()) fail({ErrorCode::io, "cannot write", std::nullopt, file(name)});
    return file(name);
  }

 private:
  std::string path_;
};

/// jemalloc counts bytes, not seconds: a dump for every MiB a second of this pace; of those that come faster one a tick
/// is kept. From 1 MiB to 64 MiB.
int dump_distance(std::chrono::milliseconds every) {
  const std::int64_t mib = std::clamp<std::int64_t>(every.count() / 1000, 1, 64);
  return 20 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(mib))) - 1;
}

/// Variables that are set for the program.
Variables variables_for(const RunRequest& request, const Workplace& place) {
  Variables out;
  const Way way = request.plan.way;
  const std::string seconds = std::to_string(static_cast<double>(request.every.count()) / 1000);
  if (!request.plan.library.empty()) out["LD_PRELOAD"] = before_own("LD_PRELOAD", request.plan.library, ':');
  if (way == Way::jemalloc) {
    const std::string conf = "prof:true,prof_active:true,prof_final:true,lg_prof_sample:17,lg_prof_interval:" +
                             std::to_string(dump_distance(request.every)) + ",prof_prefix:" + place.file("heap");
    // Rust and others give the functions of jemalloc a prefix; the variable has it, too.
    for (const char* const name : {"MALLOC_CONF", "_RJEM_MALLOC_CONF", "JE_MALLOC_CONF"})
      out[name] = behind_own(name, conf, ',');
  }
  if (way == Way::tcmalloc) {
    out["HEAPPROFILE"] = place.file("heap");
    out["HEAP_PROFILE_TIME_INTERVAL"] = std::to_string(std::max<std::int64_t>(request.every.count() / 1000, 1));
  }
  if (way == Way::heaptrack) out["DUMP_HEAPTRACK_OUTPUT"] = place.file("recording");
  if (way == Way::python || way == Way::script) {
    place.write("sitecustomize.py", script_text("sitecustomize.py"));
    out["PYTHONPATH"] = before_own("PYTHONPATH", place.file(""), ':');
  }
  if (way == Way::node || way == Way::script) {
    const std::string script = place.write("preload.cjs", script_text("preload.cjs"));
    out["NODE_OPTIONS"] = behind_own("NODE_OPTIONS", "--require \"" + script + "\"", ' ');
  }
  if (way == Way::python || way == Way::node || way == Way::script) {
    out["SNAPDIFF_RUN_FOLDER"] = fs::absolute(request.folder).string();
    out["SNAPDIFF_RUN_EVERY"] = seconds;
  }
  return out;
}

/// Signals that concern the program are waited for, not handled.
class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&held_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&held_, signal);
    ::sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  /// The signal that came; 0 where none did in this time.
  int wait(std::chrono::milliseconds time) const {
    const timespec wanted{time.count() / 1000, time.count() % 1000 * 1'000'000};
    const int signal = ::sigtimedwait(&held_, nullptr, &wanted);
    return signal < 0 ? 0 : signal;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t held_{}, before_{};
};

/// Starts the program. Throws io where it cannot be executed.
pid_t start(const RunRequest& request, const Variables& variables, const HeldSignals& signals) {
  std::vector<char*> words;
  for (const std::string& word : request.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0)
    fail({ErrorCode::io, std::string("cannot make a pipe: ") + std::strerror(errno), std::nullopt, {}});
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGBUS}) ::signal(signal, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &signals.before(), nullptr);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(request.plan.file.c_str(), words.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t told = ::write(report[1], &why, sizeof why);
    ::_exit(127);
  }
  ::close(report[1]);
  int why = child < 0 ? errno : 0;
  if (child >= 0 && ::read(report[0], &why, sizeof why) != static_cast<ssize_t>(sizeof why)) why = 0;
  ::close(report[0]);
  if (why == 0) return child;
  if (child > 0) ::waitpid(child, nullptr, 0);
  fail({ErrorCode::io, std::string("cannot be started: ") + std::strerror(why), std::nullopt, request.plan.file});
}

/// Go's handler, which is looked for until it answers.
class GoProfiles {
 public:
  GoProfiles(const RunRequest& request, pid_t process) : request_(request), process_(process), url_(request.url) {}

  void take() {
    const Result<std::string> path = next_file(request_.folder, "heap-" + std::to_string(process_), ".pb.gz");
    if (!path) return;
    std::vector<std::string> urls{url_};
    if (url_.empty()) {
      urls = servers_of(process_);
      for (std::string& url : urls) url += "/debug/pprof/heap?gc=1";  // dead objects do not count
    }
    for (const std::string& url : urls) {
      const Result<std::uint64_t> size = fetch({url, {}, std::uint64_t{1} << 30, 20}, *path);
      if (!size) {
        trouble_ = size.error().text();
        continue;
      }
      if (url_.empty()) request_.said("reads " + url);
      url_ = url;
      return;
    }
    if (urls.empty()) trouble_ = "the program listens on no port";
  }
  /// Why there is no snapshot.
  const std::string& trouble() const { return trouble_; }

 private:
  const RunRequest& request_;
  pid_t process_;
  std::string url_;
  std::string trouble_;
};

/// heaptrack's own format of a recording, out of what its library wrote.
void interpret(const RunRequest& request, const Workplace& place, pid_t process) {
  const std::string tool = (fs::path(request.plan.library).parent_path() / "libexec/heaptrack_interpret").string();
  const std::string part = request.folder + "/recording.part";
  const pid_t child = ::fork();
  if (child == 0) {
    const int in = ::open(place.file("recording").c_str(), O_RDONLY);
    const int out = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int null = ::open("/dev/null", O_WRONLY);
    if (in < 0 || out < 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(null, 2) < 0) ::_exit(127);
    ::execl(tool.c_str(), tool.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = -1;
  if (child > 0) ::waitpid(child, &status, 0);
  if (status == 0)
    std::rename(part.c_str(), (request.folder + "/heap-" + std::to_string(process) + ".0001.heaptrack").c_str());
  else
    ::unlink(part.c_str());
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Result<RunResult> run(const RunRequest& request) {
  return guarded([&]() -> RunResult {
    const Workplace place(fs::absolute(request.folder).string() + "/.run");
    const HeldSignals signals;
    const pid_t child = start(request, variables_for(request, place), signals);
    const Way way = request.plan.way;
    GoProfiles go(request, child);
    Dumps dumps(place.file(""), request.folder);
    const bool has_dumps = way == Way::jemalloc || way == Way::tcmalloc;
    int status = 0;
    for (auto next = Clock::now() + request.every; ::waitpid(child, &status, WNOHANG) != child;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
      const int signal = signals.wait(std::clamp(left, std::chrono::milliseconds(1), std::chrono::milliseconds(1000)));
      if (signal == SIGTERM || signal == SIGHUP) ::kill(child, signal);
      const bool is_time = Clock::now() >= next;
      if (has_dumps) dumps.sweep(is_time, false);
      if (is_time && way == Way::go) go.take();
      while (is_time && next <= Clock::now()) next += request.every;
    }
    if (has_dumps) dumps.sweep(true, true);
    if (way == Way::heaptrack) interpret(request, place, child);
    RunResult out;
    out.exit_code = exit_code_of(status);
    std::vector<ProcessFiles> found = files_by_process(request.folder);
    if (found.empty() && !go.trouble().empty()) request.said("no snapshot: " + printable(go.trouble()));
    if (!found.empty()) {
      out.files = std::move(found.front().files);
      out.others = found.size() - 1;
    }
    return out;
  });
}

bool wait_unless_interrupted(std::chrono::milliseconds time) {
  static const sigset_t signals = [] {
    sigset_t out;
    ::sigemptyset(&out);
    for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&out, signal);
    ::sigprocmask(SIG_BLOCK, &out, nullptr);
    return out;
  }();
  const timespec wanted{time.count() / 1000, time.count() % 1000 * 1'000'000};
  return ::sigtimedwait(&signals, nullptr, &wanted) < 0;
}

}  // namespace snapdiff::capture
