#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/result.hpp"

/// Where snapshot files come from while a program is alive: it is started so that it leaves them, or an address is
/// read. Nothing here reads a snapshot.
namespace snapdiff::capture {

/// The part of a program that leaves its snapshots.
///   script  programs of Python and Node that it starts
enum class Way { none, jemalloc, tcmalloc, heaptrack, go, node, python, script };
std::string_view to_text(Way way);

/// How a program can be made to leave snapshots.
///   file     the program
///   library  loaded into it ahead of others; "" = none
///   words    what is done; of `none` why nothing is, and what to install
struct Plan {
  Way way = Way::none;
  std::string file;
  std::string library;
  std::string words;
};

/// Looks at the program and at what this machine has. `wanted`: a word of to_text(), "" = the best there is. Errors: io
/// (no such program), usage (the wanted way does not go).
Result<Plan> plan_for(const std::string& program, const std::string& wanted);

/// An address and how it is read.
///   headers       lines, "Name: value"
///   most_bytes    a larger answer is an error
///   most_seconds  a later one, too
struct Address {
  std::string url;
  std::vector<std::string> headers;
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::int64_t most_seconds = 60;
};

bool is_address(std::string_view text);
/// "heaps-localhost-6060".
std::string folder_for(const Address& address);

/// Reads an address into a file, which appears whole or not at all. A redirect is followed on the same host alone.
/// Returns its bytes. Errors about the address: usage, io, limit.
Result<std::uint64_t> fetch(const Address& address, const std::string& path);

/// "FOLDER/heap.0007.pb.gz": the next free number among the files of the folder, which is made.
Result<std::string> next_file(const std::string& folder, std::string_view stem, std::string_view ending);

/// A folder of this name, or with .2, .3 after it, that was not there. Errors: io.
Result<std::string> new_folder(const std::string& name);

/// One run of a program.
///   url    where Go's pprof answers; "" = the ports that it listens on are asked
///   said   gets a line at each stage
struct RunRequest {
  Plan plan;
  std::vector<std::string> words;  ///< the program and its arguments
  std::string folder;              ///< is there
  std::chrono::milliseconds every{10'000};
  std::string url;
  std::function<void(const std::string&)> said;
};

///   exit_code  of the program; 128 + the signal that ended it
///   files      of the process that left most snapshots, oldest first
///   others     processes that left snapshots beside it
struct RunResult {
  int exit_code = 0;
  std::vector<std::string> files;
  std::size_t others = 0;
};

/// Runs it to its end. SIGINT, which a terminal sends to both, is the program's; SIGTERM and SIGHUP are passed on.
/// Errors: io.
Result<RunResult> run(const RunRequest& request);

/// Whether run() names a file so: "heap-4711.0007.heap". Its addresses are those of binaries of this machine.
bool is_of_run(std::string_view file_name);

/// Sleeps; false where SIGINT or SIGTERM came, from the first call on.
bool wait_unless_interrupted(std::chrono::milliseconds time);

}  // namespace snapdiff::capture
