#pragma once

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/cli/load.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::cli {

/// Stores the snapshots of a comparison beside the printing of its answer, and remembers what was
/// compared. Starts on construction; finish() waits for the commit.
class Recording {
 public:
  Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, const Terminal& terminal);

  /// Exit code that the storing alone deserves; says what it did on stderr.
  int finish();

 private:
  void work();
  Status store_all();

  StoreChoice choice_;
  std::vector<LoadedSnapshot> snapshots_;
  DiffOptions options_;
  bool quiet_;
  bool any_new_ = false;
  Status status_ = ok();
  std::vector<SnapshotId> ids_;
  std::jthread thread_;
};

}  // namespace snapdiff::cli
