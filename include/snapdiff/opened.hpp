#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/notes.hpp"
#include "snapdiff/snapshot.hpp"

/// From operands (files, folders, moments, references into a store) to snapshots in memory: what can be asked for, and
/// what comes back.
namespace snapdiff {

/// How linker names are shown.
///   none    as they are in the binary
///   simple  ns::f, without template arguments, parameters and return type
///   full    void ns::f<int>(int), as c++filt prints it
enum class Demangle : std::uint8_t { none, simple, full };

/// How operands are opened. All that is empty is found out.
struct OpenOptions {
  std::string store;                  ///< "" = SNAPDIFF_DB of the environment, else snapdiff.db in the working folder
  std::string series;                 ///< where one operand gathers several series: the one that is meant
  std::string format;                 ///< of all files; "" = by content
  std::uint64_t max_input_bytes = 0;  ///< of decompressed bytes of a file; 0 = 64 GiB
  bool strict = false;                ///< a damaged file among several is an error and not left out
  std::vector<std::string> patterns;  ///< RE2, of the lines of a log
  std::string group_by;               ///< RE2, what separates a log's series
  bool decimal_units = false;         ///< KB, MB, GB of a log are powers of ten
  std::vector<std::string> symbols;   ///< files and folders that name raw addresses
  std::string sysroot;                ///< raw addresses are named from recorded paths below this folder
  Demangle demangle = Demangle::full;
};

struct LoadedSnapshot {
  SnapshotRef ref;
  std::optional<SnapshotId> stored;            ///< empty when it came from a file
  std::shared_ptr<const OutOfMemory> failure;  ///< it is the moment before this one; null else
  std::string name;                            ///< out of the store: the file's name and the point; else ""
  bool lacks_rows = false;                     ///< it has its facts alone: a file of which only these were kept
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
  bool gathered = false;  ///< by one operand that may mean several series, which were not put apart

  std::vector<SnapshotRef> refs() const {
    std::vector<SnapshotRef> out;
    for (const LoadedSnapshot& item : snapshots) out.push_back(item.ref);
    return out;
  }

  /// A part of an input, or an input, was lost.
  bool partial() const {
    return !left_out.empty() || std::any_of(snapshots.begin(), snapshots.end(), [](const LoadedSnapshot& item) {
      const SnapshotFacts& facts = item.ref.snapshot->facts;
      return facts.partial || std::any_of(facts.notes.all().begin(), facts.notes.all().end(),
                                          [](const Note& note) { return note.severity == Severity::data_loss; });
    });
  }
};

}  // namespace snapdiff
