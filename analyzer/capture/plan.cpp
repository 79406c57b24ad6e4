#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "analyzer/base/environment.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/capture/capture.hpp"

namespace snapdiff::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kWays = {"none", "jemalloc", "tcmalloc", "heaptrack",
                                                   "go",   "node",     "python",   "script"};

/// Which of these texts a file holds; it is read a piece at a time.
std::vector<bool> texts_in(const std::string& file, const std::vector<std::string_view>& texts) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<bool> found(texts.size());
  std::ifstream in(file, std::ios::binary);
  std::string held;
  std::string piece(kPiece, '\0');
  while (in.read(piece.data(), kPiece) || in.gcount() > 0) {
    held.append(piece, 0, static_cast<std::size_t>(in.gcount()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (!found[i]) found[i] = ::memmem(held.data(), held.size(), texts[i].data(), texts[i].size()) != nullptr;
    }
    // The longest text may begin in this piece and end in the next.
    constexpr std::size_t kOverlap = 64;
    if (held.size() > kOverlap) held.erase(0, held.size() - kOverlap);
  }
  return found;
}

/// A library where the loader of this machine has it; "" where it has not.
std::string library_file(std::initializer_list<const char*> names) {
  for (const char* const folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib", "/usr/lib64", "/usr/lib"}) {
    for (const char* const name : names) {
      const std::string file = std::string(folder) + "/" + name;
      if (::access(file.c_str(), R_OK) == 0) return file;
    }
  }
  return {};
}

std::string first_line(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line(128, '\0');
  in.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(in.gcount()));
  return line.substr(0, line.find('\n'));
}

/// "python3.11" of "/usr/bin/python3.11".
std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_python(const std::string& name) {
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string::npos;
}
bool is_node(const std::string& name) { return name == "node" || name == "nodejs"; }

Plan plan_of(Way way, std::string words, std::string library = {}) {
  return {way, {}, std::move(library), std::move(words)};
}

Plan python_plan() {
  return plan_of(Way::python, "Python: a thread writes tracemalloc snapshots; needs Python 3.9 or later");
}
Plan node_plan() { return plan_of(Way::node, "Node.js: the profiler of V8 writes what is live, sampled every 16 KiB"); }

/// "#!/usr/bin/env python3" or none.
Plan script_plan(const std::string& line) {
  const bool names_python = line.find("python") != std::string::npos;
  if (names_python) return python_plan();
  if (line.find("node") != std::string::npos) return node_plan();
  return plan_of(Way::script, "a script: Python and Node.js programs that it starts write snapshots");
}

/// Ways for a program of machine code, the best first.
std::vector<Plan> native_plans(const std::string& file) {
  const std::vector<bool> has = texts_in(
      file, {"\xff Go buildinf:", "net/http/pprof.Index", "<jemalloc>: ", "libjemalloc.so", "libtcmalloc", "/ld-"});
  const bool is_go = has[0], has_pprof = has[1], is_dynamic = has[5];
  std::vector<Plan> out;
  if (is_go && has_pprof) out.push_back(plan_of(Way::go, "Go: its pprof handler is asked on the ports that it opens"));
  if (is_go) return out;
  if (has[2] || has[3]) out.push_back(plan_of(Way::jemalloc, "jemalloc, which the program has: sampled every 128 KiB"));
  if (has[4]) out.push_back(plan_of(Way::tcmalloc, "tcmalloc, which the program has"));
  if (!is_dynamic) return out;
  if (const std::string jemalloc = library_file({"libjemalloc.so.2", "libjemalloc.so"}); !jemalloc.empty())
    out.push_back(plan_of(Way::jemalloc, "jemalloc in place of malloc: sampled every 128 KiB", jemalloc));
  if (const std::string tcmalloc = library_file({"libtcmalloc.so.4", "libtcmalloc.so"}); !tcmalloc.empty())
    out.push_back(plan_of(Way::tcmalloc, "tcmalloc in place of malloc", tcmalloc));
  const std::string heaptrack = program_file("heaptrack");
  const std::string preload =
      heaptrack.empty() ? ""
                        : (fs::path(heaptrack).parent_path() / "../lib/heaptrack/libheaptrack_preload.so").string();
  if (!preload.empty() && ::access(preload.c_str(), R_OK) == 0)
    out.push_back(plan_of(Way::heaptrack, "heaptrack: one recording, what was never freed", preload));
  return out;
}

Plan nothing_for(const std::string& file) {
  const std::string name = last_part(file);
  const std::vector<bool> has = texts_in(file, {"\xff Go buildinf:", "/ld-"});
  if (name == "java")
    return plan_of(Way::none, "nothing is known for Java: take dumps by 'jcmd PID GC.heap_dump heap.1.hprof'");
  if (name == "ruby")
    return plan_of(Way::none, "nothing is known for Ruby: call ObjectSpace.dump_all(output: File.open(...))");
  if (has[0])
    return plan_of(Way::none,
                   "a Go program without pprof: import _ \"net/http/pprof\" and serve it, as by "
                   "http.ListenAndServe(\"localhost:6060\", nil)");
  if (!has[1]) return plan_of(Way::none, "a static program takes no library: link it with jemalloc or tcmalloc");
  return plan_of(Way::none, "no heap profiler is installed; on Debian: apt-get install libjemalloc2");
}

std::vector<Plan> plans_for(const std::string& file) {
  const std::string name = last_part(file);
  if (is_python(name)) return {python_plan()};
  if (is_node(name)) return {node_plan()};
  const std::string line = first_line(file);
  if (line.starts_with("#!")) return {script_plan(line)};
  if (name == "java" || name == "ruby") return {};
  return native_plans(file);
}

}  // namespace

std::string_view to_text(Way way) { return kWays[static_cast<std::size_t>(way)]; }

Result<Plan> plan_for(const std::string& program, const std::string& wanted) {
  const std::string file = program_file(program);
  if (file.empty()) return Error{ErrorCode::io, "no such program, or it cannot be executed", std::nullopt, program};
  const std::vector<Plan> plans = plans_for(file);
  Plan plan = plans.empty() ? nothing_for(file) : plans.front();
  if (!wanted.empty()) {
    const auto found =
        std::find_if(plans.begin(), plans.end(), [&](const Plan& one) { return to_text(one.way) == wanted; });
    if (found == plans.end()) {
      std::string ways;
      for (const Plan& one : plans) ways += (ways.empty() ? "" : ", ") + std::string(to_text(one.way));
      return Error{ErrorCode::usage,
                   "--with " + wanted + " does not go with this program: expected " + (ways.empty() ? "none" : ways),
                   std::nullopt, file};
    }
    plan = *found;
  }
  plan.file = file;
  return plan;
}

}  // namespace snapdiff::capture
