#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/cli/load.hpp"

/// Reads files side by side, with as many threads as there are cores.
namespace snapdiff::cli {

/// One file to read; `optional` ones (found in a directory) may be something else than a snapshot.
struct Job {
  std::string path;
  std::string point;
  bool optional = false;
  std::size_t operand = 0;
};

/// What a file held; `lacks_rows`: of its one snapshot only the facts and the columns' types were kept.
struct ReadFile {
  Result<std::vector<Snapshot>> snapshots;
  bool lacks_rows = false;
};
using ReadResults = std::vector<std::optional<ReadFile>>;

/// Results in the order of the jobs, all of them set. Once rows of `most_row_bytes` are held, files that hold one
/// snapshot give its facts alone.
ReadResults read_all(const std::vector<Job>& jobs, const Options& options, bool show_progress,
                     std::size_t most_row_bytes);

/// Reads the files again of which only the facts were kept. Errors: those of reading; io where one has changed since.
Status read_rows(std::span<LoadedSnapshot> snapshots, const Options& options);

}  // namespace snapdiff::cli
