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

/// Files of one folder, put apart by stem and program: indexes of snapshots, each in the order given. Where no stem
/// has two files, by program alone.
struct FileSeries {
  std::string name;  ///< the stem; with a number where two series of one folder have the same
  std::vector<std::size_t> snapshots;
};
std::vector<FileSeries> series_in(const std::vector<LoadedSnapshot>& snapshots);

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
  Result<Known*> known(const std::string& name);
  Result<bool> fits(Known& series, const LoadedSnapshot& item);

  store::Store* store_;
  std::map<std::string, Known> known_;
  std::vector<Beside> beside_;
};

}  // namespace snapdiff::session
