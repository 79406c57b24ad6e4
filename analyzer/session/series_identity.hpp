#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/session/load.hpp"
#include "analyzer/store/store.hpp"

/// Which snapshots are of one series: those of one folder whose files have one stem and that come from one program.
/// Nothing here asks the user; `--series` does not ask here.
namespace snapdiff::session {

/// Below this share of bytes in stacks that both snapshots have, nothing says that they are of one program.
inline constexpr double kLeastInCommon = .1;
/// The same where their main modules have other names: svc-1.2 and svc-1.3, or two programs with one library.
inline constexpr double kLeastWhereRenamed = .5;

/// Whether two snapshots can be of one program: the same format and producer, and at least kLeastInCommon of the bytes
/// of either in stacks that the other one has too (what a small heap holds is nearly all found in the large one that it
/// became); stacks of another build count as diff::diff() matches them. Of logs: a counter in common. Snapshots of
/// one source are of one program.
bool may_be_one_program(const Snapshot& a, const Snapshot& b);

/// Snapshots of one series among several, as indexes in the order given.
struct SeriesPart {
  std::string name;  ///< of files: the stem; with a number where two series of one folder have the same
  std::vector<std::size_t> snapshots;
};

/// Files of one folder, put apart by stem and program. Where no stem has two files, by program alone.
std::vector<SeriesPart> series_in(const std::vector<LoadedSnapshot>& snapshots);

/// What snapshots that one operand gathered (a folder, a label, a range of ids) are compared as: one series. Nobody
/// said that they are one, so they are put apart first: those out of a store by its names, files as series_in() has
/// them. Most snapshots first.
std::vector<SeriesPart> parts_of(const std::vector<LoadedSnapshot>& snapshots);

/// Leaves the snapshots of one series: the one called `series`, else the only one with two snapshots or more (the rest
/// is named in a note). `what` is the operand. Errors: usage, with the names, where that decides nothing.
Status keep_one_series(Loaded& loaded, const std::string& series, const std::string& what);

/// Names of the series of a store that snapshots from files go to, in the order in which they are added: the stem of
/// the file, where a series of that name is of the same folder, stem and program, or there is none; else FOLDER/STEM,
/// else with a number after it.
class SeriesNames {
 public:
  /// `store` outlives this.
  explicit SeriesNames(store::Store& store) : store_(&store) {}

  /// For a snapshot of an import: by folder, stem and program. Errors: those of the store.
  Result<std::string> name_for(const LoadedSnapshot& item, const std::string& suffix = {});

  /// For snapshots that one command compares: those of one folder and program are one series, whatever their stems,
  /// since the user put them in order.
  Result<std::string> name_beside(const LoadedSnapshot& item);

 private:
  struct Known {
    bool exists = false;
    std::vector<std::string> sources;       // paths
    std::shared_ptr<const Snapshot> last;   // null: not loaded yet
    std::optional<SnapshotId> last_stored;  // of the store
  };
  struct Beside {
    std::string folder;
    std::string name;
    std::shared_ptr<const Snapshot> last;
  };
  Known& known(const std::string& name);
  bool fits(Known& series, const LoadedSnapshot& item);

  store::Store* store_;
  std::map<std::string, Known> known_;
  std::vector<Beside> beside_;
};

}  // namespace snapdiff::session
