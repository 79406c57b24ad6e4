#pragma once

#include <string>
#include <vector>

#include "analyzer/session/operands.hpp"
#include "analyzer/session/request.hpp"
#include "analyzer/store/store.hpp"
#include "snapdiff/opened.hpp"

/// From operands to snapshots in memory: files are read side by side, stored ones come out of the
/// store.
namespace snapdiff::session {

/// Which store this run uses: the one that is named, else a non-empty SNAPDIFF_DB, else snapdiff.db here.
struct StoreChoice {
  std::string path;
  bool is_explicit = false;  ///< failing to write it is then an error, not a warning
  bool in_memory() const { return path == ":memory:"; }
};
StoreChoice choose_store(const std::string& named);

/// The store, which must exist. Errors: as Store::open; a missing default store says how to make one.
Result<store::Store> open_store(const StoreChoice& choice, store::Access access);

/// The same for reading what an operand means. Errors: where there is no store, what the operand was taken for.
Result<store::Store> open_store_for(const Operand& operand, const StoreChoice& choice);

/// Everything the operands name. A file that holds several snapshots gives all of them when it is
/// `expand`ed, else the one its @POINT chooses (default: the last). `parts`: of stored ones; a point brings all.
/// Beyond `most_row_bytes` of rows, files that hold one snapshot give its facts alone.
/// Of three files or more, damaged ones are left out as long as two can be read (not where the request is strict).
/// Errors: usage (no such snapshot), io, and what reading returns; the first failing operand wins.
Result<Loaded> load_operands(const std::vector<Operand>& operands, const Request& request, bool expand,
                             store::Parts parts = store::Parts::rows,
                             std::size_t most_row_bytes = static_cast<std::size_t>(-1));

/// What was live at the moments of a snapshot's trace that `point` chooses (cuda::points()): "1:peak" is of device 1,
/// else of the busiest one, which there must be. `path` is what the snapshot is called. Errors: those of
/// cuda::points().
/// So many moments at even distances, the start, the end and the fullest moment of a device's trace. Errors: those of
/// reading it.
Result<std::vector<LoadedSnapshot>> moments_with_peak(const Snapshot& snapshot, const std::string& path,
                                                      std::uint32_t device, std::uint64_t most);

Result<std::vector<LoadedSnapshot>> moments_of(const Snapshot& snapshot, const std::string& path,
                                               const std::string& point);

/// The same moment of each iteration in the trace of one device, with what iterations leave behind (cuda::LeftOver). At
/// most `most` of them, from the end of the warm-up on and evenly; 0: all. Errors: those of cuda::points().
Result<std::vector<LoadedSnapshot>> iterations_of(const Snapshot& snapshot, const std::string& path,
                                                  std::uint32_t device, std::size_t most);

/// The snapshots with these ids, in that order.
Result<Loaded> load_stored(store::Store& store, const std::vector<SnapshotId>& ids, const Watch& watch,
                           store::Parts parts = store::Parts::rows);

/// Ids that a stored operand (not a path) means. Errors: usage.
Result<std::vector<SnapshotId>> resolve_stored(store::Store& store, const Operand& operand);

/// Lets growth(from, to) of the store's SQL match builds as a diff does.
void match_builds(store::Store& store);

/// Name of the series that files of these snapshots are stored under when none was given.
std::string default_series(const std::vector<LoadedSnapshot>& snapshots);

/// Words for an order: "ordered by the number in the file name; the files hold no times".
std::string describe(store::Order order, bool have_times);

}  // namespace snapdiff::session
