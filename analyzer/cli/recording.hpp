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
  /// `series`: where the snapshots go; "" finds it out (series_identity.hpp).
  Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, const Terminal& terminal,
            std::string series = {});
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
  Status remember(store::Store& store);
  Status store_all();
  void tell_where() const;

  StoreChoice choice_;
  std::vector<LoadedSnapshot> snapshots_;
  DiffOptions options_;
  std::string series_;
  bool named_;
  bool on_terminal_;
  bool gathered_;
  bool quiet_;
  bool any_new_ = false;  // a file is among the snapshots
  bool added_ = false;    // and was not in the store
  bool created_ = false;  // which was not there before
  Status status_ = ok();
  std::vector<SnapshotId> ids_;
  std::promise<bool> decision_;
  bool decided_ = false;
  std::jthread thread_;
};

/// The store where a command that only reads its operands records what it compared: one that is named; where nobody
/// named one, it leaves nothing behind that a later command would take unasked. Snapshots out of a store are none of
/// its own: there only the comparison is remembered.
StoreChoice store_for_reading(const Options& options, const Loaded& loaded);

}  // namespace snapdiff::cli
