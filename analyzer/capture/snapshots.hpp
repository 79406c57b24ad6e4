#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Ports and files of a running program, seen from outside.
namespace snapdiff::capture {

/// "http://127.0.0.1:6060" of each port that the process or one that it started listens on.
std::vector<std::string> servers_of(pid_t process);

/// Dumps that an allocator writes by the bytes that were allocated. One a tick is kept.
class Dumps {
 public:
  /// `from`: a folder of the dumps alone; `to`: where those that are kept go, as heap-PID.NNNN.heap.
  Dumps(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  /// Removes all but the newest of each process. `keep`: those are moved, too; `ended`: no dump is still written.
  void sweep(bool keep, bool ended);

 private:
  std::string from_, to_;
};

/// Snapshot files of one process.
struct ProcessFiles {
  std::string process;  // its number, in digits
  std::vector<std::string> files;
};

/// Files of a folder called heap-PID.NNNN.*, by process; most files first, then the process that began last.
std::vector<ProcessFiles> files_by_process(const std::string& folder);

}  // namespace snapdiff::capture
