#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/operands.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/terminal.hpp"
#include "analyzer/store/store.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"

/// From operands to snapshots in memory: files are read side by side, stored ones come out of the
/// store.
namespace snapdiff::cli {

/// Which store this run uses: --db, else a non-empty SNAPDIFF_DB, else snapdiff.db here.
struct StoreChoice {
  std::string path;
  bool is_explicit = false;  ///< failing to write it is then an error, not a warning
  bool in_memory() const { return path == ":memory:"; }
};
StoreChoice choose_store(const Options& options);

/// The store, which must exist. Errors: as Store::open; a missing default store says how to make one.
Result<store::Store> open_store(const StoreChoice& choice, store::Access access);

/// The same for reading what an operand means. Errors: where there is no store, what the operand was taken for.
Result<store::Store> open_store_for(const Operand& operand, const StoreChoice& choice);

struct LoadedSnapshot {
  SnapshotRef ref;
  std::optional<SnapshotId> stored;            ///< empty when it came from a file
  std::shared_ptr<const OutOfMemory> failure;  ///< it is the moment before this one; null else
  std::string name;                            ///< out of the store: the file's name and the point; else ""
  bool lacks_rows = false;                     ///< it has its facts alone: read_rows() reads the file once more
};

/// A file that was damaged and is missing from the answer.
struct LeftOut {
  std::string path;
  std::string why;     ///< the whole message
  std::string behind;  ///< SnapshotRef::ref of the snapshot before it; "" where it would be the first
  std::string ahead;   ///< and of the one that follows it; "" where it would be the last
};

struct Loaded {
  std::vector<LoadedSnapshot> snapshots;  ///< in the order of the operands; directories in their order
  std::vector<LeftOut> left_out;          ///< in the order of their operands
  std::string order_note;                 ///< for reports: what gave the order
  Notes notes;
  std::string chosen;     ///< which store and series nobody asked for and were taken; "" else
  bool named = false;     ///< addresses got names from binaries
  bool gathered = false;  ///< by one operand that may mean several series (series_choice.hpp)
  std::vector<SnapshotRef> refs() const;
  bool partial() const;  ///< a part of an input, or an input, was lost
};

/// Everything the operands name. A file that holds several snapshots gives all of them when it is
/// `expand`ed, else the one its @POINT chooses (default: the last). `parts`: of stored ones; a point brings all.
/// Beyond `most_row_bytes` of rows, files that hold one snapshot give its facts alone.
/// Of three files or more, damaged ones are left out as long as two can be read (not with --strict).
/// Errors: usage (no such snapshot), io, and what reading returns; the first failing operand wins.
Result<Loaded> load_operands(const std::vector<Operand>& operands, const Options& options, const Terminal& terminal,
                             bool expand, store::Parts parts = store::Parts::rows,
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
Result<Loaded> load_stored(store::Store& store, const std::vector<SnapshotId>& ids,
                           store::Parts parts = store::Parts::rows);

/// Ids that a stored operand (not a path) means. Errors: usage.
Result<std::vector<SnapshotId>> resolve_stored(store::Store& store, const Operand& operand);

/// Name of the series that files of these snapshots are stored under when none was given.
std::string default_series(const std::vector<LoadedSnapshot>& snapshots);

/// Words for an order: "ordered by the number in the file name; the files hold no times".
std::string describe(store::Order order, bool have_times);

}  // namespace snapdiff::cli
