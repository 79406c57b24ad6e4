#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "snapdiff/ids.hpp"
#include "snapdiff/notes.hpp"
#include "snapdiff/opened.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

/// The public header of the symbols module: names for raw addresses, from binaries and their debug files.
/// Nothing here is fatal to a diff: what cannot be named stays an address, and a note says why.
namespace snapdiff::symbols {

using snapdiff::Demangle;

struct SymbolOptions {
  /// Files and folders to look in, in this order. Files are matched by build id, else by base name.
  /// Folders are searched to a depth of kMaxSearchDepth; `.build-id/xx/rest.debug` in them is found.
  std::vector<std::string> paths;
  std::string sysroot;         ///< is before recorded paths and /usr/lib/debug; "" = this machine
  bool recorded_paths = true;  ///< open the paths that the snapshot recorded, before `paths`
  bool debuginfod = false;     ///< let elfutils ask the servers in DEBUGINFOD_URLS; else never the network
  Demangle demangle = Demangle::full;
  bool again = false;    ///< name_snapshots: also name again what was named from binaries before, where
                         ///< that takes no file and line away
  unsigned threads = 0;  ///< 0 = the number of cores; modules are read in parallel
  /// Called with (addresses looked at, addresses in all), from one thread at a time; may be empty.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

/// The addresses of one module.
///   name, build_id  as in ModuleTable; name "" with `no_module` for addresses outside every mapping
///   mappings        where the module lay; may be empty. One of [0, 2^64-1) says that `offsets` are
///                   virtual addresses of the binary
///   offsets         distinct, as FrameTable::offset
///   taken_at_ns     when the newest snapshot was taken, for the warning about newer binaries
struct ModuleQuery {
  std::string name;
  std::string build_id;
  std::vector<Mapping> mappings;
  std::vector<std::uint64_t> offsets;
  bool no_module = false;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> taken_at_ns;
};

/// One source frame of an address. Texts are rows of ModuleSymbols::texts.
struct SourceFrame {
  StringId name{};         ///< demangled as asked; "" never occurs
  StringId system_name{};  ///< linker name, or the same as `name`
  StringId file{};         ///< of `line`; "" without line information
  std::int32_t line = 0;
  std::int32_t column = 0;
  std::int32_t start_line = 0;
  bool inlined = false;  ///< into the next one
};

/// The names of one module's addresses. Frames of offsets[i] are frames[begin[i] .. begin[i + 1]),
/// innermost first; none where the address has no name.
struct ModuleSymbols {
  StringTable texts;
  std::vector<std::uint64_t> begin{0};
  std::vector<SourceFrame> frames;
  std::string binary;      ///< file that was read, "" when none
  std::string binary_id;   ///< of it or of the debug file alone: its build id, "" when it has none
  std::string debug_file;  ///< file with the debug information, "" when it is `binary` or none
  bool verified = false;   ///< by build id, not by name only
  std::uint64_t unnamed = 0;
  std::string advice;  ///< what would help; "" when every address has a name with file and line
  Notes notes;         ///< each names the module, but the one that binaries were taken by their names

  std::span<const SourceFrame> of(std::size_t i) const {
    return std::span(frames).subspan(begin[i], begin[i + 1] - begin[i]);
  }
};

struct Resolution {
  std::vector<ModuleSymbols> modules;
  Notes notes;  ///< about `SymbolOptions::paths`: files that are not binaries, or cannot be read
};

/// Names for the addresses of several modules, in their order. Never fails as a whole. No module
/// costs more than the limits at the head of dwarf_index.hpp and elf_head.hpp.
Resolution resolve(std::span<const ModuleQuery> modules, const SymbolOptions& options);

/// How far naming came in one module. Bytes are of the default metric: inuse_space, else the file's
/// own default, else the first column in bytes; 0 without such a column.
struct ModuleReport {
  std::string name;  ///< "" = addresses outside every module
  std::string build_id;
  std::string binary;
  std::string binary_id;  ///< build id of `binary`, "" when it has none
  std::string debug_file;
  std::uint64_t addresses = 0;      ///< distinct addresses looked up
  std::uint64_t named = 0;          ///< of these, with a function
  std::uint64_t without_lines = 0;  ///< of these, with a function but no file and line
  std::int64_t unnamed_bytes = 0;   ///< of the last snapshot, in rows with an unnamed address of this module
  std::string advice;               ///< a sentence, "" when nothing is missing
};

struct SymbolReport {
  std::vector<ModuleReport> modules;  ///< with unnamed bytes first, most first; then by name
  std::uint64_t addresses = 0;
  std::uint64_t unnamed = 0;
  std::int64_t unnamed_bytes = 0;  ///< of the last snapshot, in rows with at least one unnamed address
  Notes notes;
};

struct Named {
  std::vector<Snapshot> snapshots;  ///< as given, in their order; those that shared a dictionary share one again
  SymbolReport report;
};

/// Copies of the snapshots whose dictionaries have names. A frame that is an address gets function,
/// file and line and keeps its hash; frames that were inlined there are before it in the stacks,
/// with kFrameInlined and kFrameDerived, the same module and offset, and inlined_frame_hash(). Stack ids, stack hashes
/// and rows stay as they are. Frames that have names are left alone. Each distinct address is
/// looked up once for all snapshots.
/// Errors: limit, when inlined frames would make a dictionary too large.
Result<Named> name_snapshots(std::span<const Snapshot> snapshots, const SymbolOptions& options);
Result<Named> name_snapshot(const Snapshot& snapshot, const SymbolOptions& options);

/// Identity of the frame inlined at `depth` (1 = directly into the function that holds the code) at
/// the address whose frame has the hash `outer`.
Hash128 inlined_frame_hash(const Hash128& outer, std::uint64_t depth);

/// By name, the modules without a build id that both hold: whether `named` has other code at the same offsets than
/// `known`, that is at any address that has a name and a line in both another function, line, or function inlined
/// there. An edit leaves most addresses where they are. Only addresses that were named after their import count;
/// modules without such are left out.
std::map<std::string, bool> modules_of_another_build(const Dictionary& named, const Dictionary& known);

/// Copies whose modules have these build ids, by module name, where they have none: their addresses are other ones
/// then, and so are the stacks. Snapshots that share a dictionary share one again.
std::vector<Snapshot> with_build_ids(std::span<const Snapshot> snapshots,
                                     const std::map<std::string, std::string>& build_id_of_module);

/// The dictionary with functions that were recorded by their linker names shown as asked; `system_name` and all hashes
/// stay. The same dictionary where there is nothing to do. Beyond 64 MiB of decoded names the others stay as they are.
std::shared_ptr<const Dictionary> demangle_names(const std::shared_ptr<const Dictionary>& dictionary, Demangle how);

/// A linker name for people: C++ (Itanium), Rust (legacy and v0). Any other name, or one that is too
/// long to be decoded safely, comes back as it was. Clone suffixes (".constprop.0") are kept as
/// " [clone .constprop.0]" in full names.
std::string demangle(std::string_view linker_name, Demangle how);

}  // namespace snapdiff::symbols
