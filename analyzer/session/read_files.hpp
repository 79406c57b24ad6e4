#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/session/load.hpp"

/// Reads files side by side, with as many threads as there are cores.
namespace snapdiff::session {

/// One file to read; `optional` ones (found in a directory) may be something else than a snapshot.
struct Job {
  std::string path;
  std::string point;
  bool optional = false;
  std::size_t operand = 0;
  bool counters = false;  ///< as Request::counters
};

/// What a file held; `lacks_rows`: of its one snapshot only the facts and the columns' types were kept.
struct ReadFile {
  Result<std::vector<Snapshot>> snapshots;
  bool lacks_rows = false;
};
using ReadResults = std::vector<std::optional<ReadFile>>;

/// Results in the order of the jobs, all of them set. Once rows of `most_row_bytes` are held, files that hold one
/// snapshot give its facts alone.
ReadResults read_all(const std::vector<Job>& jobs, const Request& request, std::size_t most_row_bytes);

/// Reads the files again of which only the facts were kept. Errors: those of reading; io where one has changed since.
Status read_rows(std::span<LoadedSnapshot> snapshots, const Request& request);

/// Rows that are held of the files of one operand, where they are dealt with one after the other: those of a folder of
/// 60 snapshots of 40 000 stacks. What is beyond is read once more when it is its turn.
inline constexpr std::size_t kMostRowBytes = std::size_t{64} << 20;

/// Deals with all snapshots in their order, some at a time and with their rows, and lets go of them.
/// Errors: those of read_rows() and of `work`.
Status for_some(Loaded& loaded, const Request& request, const std::function<Status(std::span<LoadedSnapshot>)>& work);

}  // namespace snapdiff::session
