#include "analyzer/capture/snapshots.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/capture/capture.hpp"

namespace snapdiff::capture {
namespace {

namespace fs = std::filesystem;

/// Entries of a folder whose names are numbers.
std::vector<std::string> numbers_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos) out.push_back(std::move(name));
  }
  return out;
}

pid_t parent_of(const std::string& process) {
  std::ifstream in("/proc/" + process + "/stat");
  std::string text;
  std::getline(in, text);
  const std::size_t name_end = text.rfind(')');  // the name may hold anything
  return name_end == std::string::npos || name_end + 4 > text.size() ? 0 : std::atoi(text.c_str() + name_end + 4);
}

/// The process and all that it started, as far as they are its descendants.
std::vector<pid_t> family_of(pid_t process) {
  std::multimap<pid_t, pid_t> children;
  for (const std::string& one : numbers_in("/proc")) children.emplace(parent_of(one), std::atoi(one.c_str()));
  std::vector<pid_t> out{process};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [begin, end] = children.equal_range(out[i]);
    for (auto child = begin; child != end; ++child) out.push_back(child->second);
  }
  return out;
}

std::set<std::string> sockets_of(pid_t process) {
  std::set<std::string> out;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd/";
  for (const std::string& one : numbers_in(folder)) {
    char text[64];
    const ssize_t size = ::readlink((folder + one).c_str(), text, sizeof text);
    const std::string target(text, size > 0 ? static_cast<std::size_t>(size) : 0);
    if (target.starts_with("socket:[")) out.insert(target.substr(8, target.size() - 9));
  }
  return out;
}

/// The address of a line of /proc/PID/net/tcp, as it is asked from this machine.
std::string server(const std::string& local, bool is_v6) {
  const std::size_t colon = local.find(':');
  const auto port = std::to_string(std::strtoul(local.c_str() + colon + 1, nullptr, 16));
  if (is_v6) return "http://localhost:" + port;
  const std::uint64_t bytes = std::strtoul(local.substr(0, colon).c_str(), nullptr, 16);  // the first one is the lowest
  if (bytes == 0) return "http://127.0.0.1:" + port;
  std::string out = "http://";
  for (unsigned shift = 0; shift < 32; shift += 8)
    out += (shift == 0 ? "" : ".") + std::to_string(bytes >> shift & 255);
  return out + ":" + port;
}

}  // namespace

std::vector<std::string> servers_of(pid_t process) {
  constexpr std::string_view kListening = "0A";
  std::vector<std::string> out;
  for (const pid_t one : family_of(process)) {
    const std::set<std::string> sockets = sockets_of(one);
    if (sockets.empty()) continue;
    for (const bool is_v6 : {false, true}) {
      std::ifstream in("/proc/" + std::to_string(one) + (is_v6 ? "/net/tcp6" : "/net/tcp"));
      for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
        words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
        if (state == kListening && sockets.contains(inode)) out.push_back(server(local, is_v6));
      }
    }
  }
  return out;
}

void Dumps::sweep(bool keep, bool ended) {
  struct Dump {
    std::uint64_t number;
    std::string path;
    bool is_complete;
  };
  std::map<std::string, std::vector<Dump>> dumps;  // by process
  std::error_code failure;
  for (fs::directory_iterator entry(from_, failure), end; !failure && entry != end; entry.increment(failure)) {
    // "heap.PID.NUMBER.i0.heap" of jemalloc, "heap.NUMBER.heap" of tcmalloc
    const std::string name = entry->path().filename().string();
    std::vector<std::string> parts;
    std::istringstream in(name);
    for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
    if (parts.size() < 3) continue;
    struct stat facts {};
    if (::stat(entry->path().c_str(), &facts) != 0) continue;
    const auto age = std::chrono::system_clock::now().time_since_epoch() - std::chrono::seconds(facts.st_mtim.tv_sec) -
                     std::chrono::nanoseconds(facts.st_mtim.tv_nsec);
    // Dumps are written in one go, in milliseconds: one that is unchanged for so long is whole.
    const bool is_complete = ended || age > std::chrono::milliseconds(200);
    const bool has_process = parts.size() > 3;
    dumps[has_process ? parts[1] : "0"].push_back(
        {std::strtoull(parts[has_process ? 2 : 1].c_str(), nullptr, 10), entry->path().string(), is_complete});
  }
  for (auto& [process, all] : dumps) {
    std::sort(all.begin(), all.end(), [](const Dump& a, const Dump& b) { return a.number < b.number; });
    const auto newest = std::find_if(all.rbegin(), all.rend(), [](const Dump& one) { return one.is_complete; });
    if (newest == all.rend()) continue;
    const auto last = static_cast<std::size_t>(all.rend() - newest) - 1;
    for (std::size_t i = 0; i < last; ++i) ::unlink(all[i].path.c_str());
    if (!keep) continue;
    if (const Result<std::string> path = next_file(to_, "heap-" + process, ".heap"); path)
      std::rename(all[last].path.c_str(), path->c_str());
  }
}

bool is_of_run(std::string_view file_name) {
  if (!file_name.starts_with("heap-")) return false;
  const std::string_view process = file_name.substr(5, file_name.find('.') - 5);
  return !process.empty() && process.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<ProcessFiles> files_by_process(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> found;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!is_of_run(name) || name.ends_with(".part")) continue;
    found[name.substr(5, name.find('.') - 5)].push_back(entry->path().string());
  }
  std::vector<ProcessFiles> out;
  for (auto& [process, files] : found) {
    std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;  // numbers may have more than four digits
    });
    out.push_back({process, std::move(files)});
  }
  std::sort(out.begin(), out.end(), [](const ProcessFiles& a, const ProcessFiles& b) {
    if (a.files.size() != b.files.size()) return a.files.size() > b.files.size();
    return std::strtoull(a.process.c_str(), nullptr, 10) > std::strtoull(b.process.c_str(), nullptr, 10);
  });
  return out;
}

}  // namespace snapdiff::capture
