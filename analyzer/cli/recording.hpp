#pragma once

#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/cli/load.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::cli {

/// Stores the snapshots of a comparison beside the work on its answer, and remembers what was
/// compared. A new store is built in memory from the start; nothing is written before the answer is
/// known, for a refused comparison leaves everything as it was. finish() waits for the commit.
class Recording {
 public:
  Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, const Terminal& terminal);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  /// There is an answer: now things may be written.
  void answered() { decide(true); }

  /// Exit code that the storing alone deserves; says what it did on stderr.
  int finish();

 private:
  void work();
  void decide(bool wanted);
  /// A store with everything in it that is not yet at its path, where there was nothing.
  std::optional<store::Store> draft();
  Status add_all(store::Store& store);
  Status store_all();

  StoreChoice choice_;
  std::vector<LoadedSnapshot> snapshots_;
  DiffOptions options_;
  bool named_;
  bool on_terminal_;
  bool quiet_;
  bool any_new_ = false;
  Status status_ = ok();
  std::vector<SnapshotId> ids_;
  std::promise<bool> decision_;
  bool decided_ = false;
  std::jthread thread_;
};

}  // namespace snapdiff::cli
