#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/session/load.hpp"
#include "analyzer/session/naming.hpp"
#include "analyzer/session/series_identity.hpp"
#include "analyzer/store/store.hpp"

/// Snapshots of files into a store.
namespace snapdiff::session {

/// What is done with what is read.
///   series      where all of it goes; "" = by folder, stem and program (SeriesNames)
///   per_device  CUDA: a series for each device
struct ImportOptions {
  std::string series;
  std::map<std::string, std::string> labels;
  bool per_device = false;
};

/// Reads and stores one operand after the other, so that a refused file costs only itself. Of a folder of many files
/// the rows of some are read once more when it is their turn, so that memory stays bounded. The store is opened once
/// something is there to store. Addresses are named once for all files, in the store.
class Import {
 public:
  struct Counts {
    std::size_t added = 0;
    std::size_t present = 0;  ///< which were in the store before
    std::uint64_t bytes = 0;
  };

  Import(const Request& request, ImportOptions wanted);

  /// Errors: those of load_operands().
  Result<Loaded> read(const Operand& operand) const;

  /// Opens the store, the first time. Errors: the store's.
  Status open();

  /// What read() returned, after open(). Errors: those of reading and of the store.
  Status store(Loaded& loaded);

  /// Nothing where no names were asked for. Errors: as name_store().
  Result<std::optional<StoreNames>> name();

  /// The series that were added to, where that is worth a word: they are several, or hold snapshots with times and such
  /// without. Errors: the store's.
  Result<std::vector<store::SeriesInfo>> touched();

  const Counts& counts() const { return counts_; }

 private:
  void store_some(std::span<const LoadedSnapshot> snapshots);

  Request request_;
  Request reading_;  // without names
  ImportOptions wanted_;
  Counts counts_;
  std::optional<store::Store> store_;
  std::optional<SeriesNames> names_;
  std::optional<BuildsApart> builds_apart_;                // where addresses are named
  std::set<std::string> touched_;                          // series
  std::set<std::pair<std::string, std::string>> sources_;  // of the operand: names and hashes
  bool any_timed_ = false;
  bool any_untimed_ = false;
};

}  // namespace snapdiff::session
