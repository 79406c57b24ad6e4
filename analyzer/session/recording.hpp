#pragma once

#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/session/load.hpp"
#include "analyzer/store/store.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::session {

/// What became of it.
///   is_kept   there is a store that was to take the snapshots
///   created   the store was not there before
///   added     a snapshot was not in the store
///   any_file  a snapshot came from a file; else only the memory of this comparison can be missing
struct Recorded {
  StoreChoice choice;
  std::vector<SnapshotId> ids;  ///< of all snapshots, in their order
  bool is_kept = false;
  bool created = false;
  bool added = false;
  bool any_file = false;
  Status status = ok();
};

/// Stores the snapshots of a comparison beside the work on its answer, and remembers what was
/// compared. A new store is built in memory from the start; nothing is written before the answer is
/// known, for a refused comparison leaves everything as it was. finish() waits for the commit.
class Recording {
 public:
  /// `series`: where the snapshots go; "" finds it out (series_identity.hpp).
  Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, std::string series = {});
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  /// There is an answer: now things may be written.
  void answered() { decide(true); }

  /// To be called once.
  Recorded finish(const Watch& watch);

 private:
  void work();
  void decide(bool wanted);
  /// A store with everything in it that is not yet at its path, where there was nothing.
  std::optional<store::Store> draft();
  void add_all(store::Store& store);

  std::vector<LoadedSnapshot> snapshots_;
  DiffOptions options_;
  std::string series_;
  bool named_;
  bool gathered_;
  Recorded done_;
  std::promise<bool> decision_;
  bool decided_ = false;
  std::jthread thread_;
};

/// The store where a command that only reads its operands records what it compared: one that is named; where nobody
/// named one, it leaves nothing behind that a later command would take unasked. Snapshots out of a store are not one of
/// its own: there only the comparison is remembered.
StoreChoice store_for_reading(const Request& request, const Loaded& loaded);

/// Stores snapshots at the ends of their series, in this order; those that are small and stand together in one
/// transaction: to find out what the store has already takes a look at each snapshot of the series. Errors: the
/// store's.
Result<std::vector<store::Imported>> store_in_turn(
    store::Store& store, const std::vector<std::pair<const Snapshot*, std::string>>& snapshots);

}  // namespace snapdiff::session
