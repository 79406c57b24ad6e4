#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/symbols/elf_head.hpp"
#include "analyzer/symbols/symbols.hpp"

namespace snapdiff::symbols {

inline constexpr int kMaxSearchDepth = 8;                  ///< folders below a --symbols folder
inline constexpr std::size_t kMaxSearchEntries = 200'000;  ///< entries of one such folder
inline constexpr std::size_t kMaxSymbolFiles = 20'000;     ///< ELF files in all of them

/// The files of one module. Without `binary`, `debug` alone may still name addresses.
struct SymbolFileChoice {
  std::optional<ElfHead> binary;
  std::optional<ElfHead> debug;
  std::string alt_path;  ///< of the file that dwz moved common parts to, "" when none is needed or found
  bool verified = false;
  Notes notes;
  std::string advice;  ///< why a file or its debug information is missing, and what would help
};

/// Which files hold the symbols of a module. Immutable after construction; safe for threads.
class SymbolFiles {
 public:
  explicit SymbolFiles(const SymbolOptions& options);

  SymbolFileChoice choose(const ModuleQuery& module) const;

  /// A perf-PID.map for this process, "" when there is none.
  std::string perf_map(std::optional<std::int64_t> pid) const;

  const Notes& notes() const { return notes_; }

 private:
  struct Unreadable {
    std::string path;
    std::string why;
  };

  /// `path`; where it begins with the system root, what it leads to below that root.
  std::string located(const std::string& path) const;
  void add_folder(const std::string& path);
  void add_file(const std::string& path, bool asked_for);
  /// Given files with the module's name, the likeliest first.
  std::vector<std::size_t> of_name(const ModuleQuery& module) const;
  void find_binary(const ModuleQuery& module, SymbolFileChoice& choice) const;
  void find_debug(const ModuleQuery& module, SymbolFileChoice& choice) const;
  void find_alt(SymbolFileChoice& choice) const;
  bool try_binary(const ModuleQuery& module, const ElfHead& head, bool recorded, SymbolFileChoice& choice) const;
  std::optional<ElfHead> by_build_id(const std::string& build_id, bool want_dwarf) const;

  const SymbolOptions& options_;
  std::vector<ElfHead> files_;
  std::vector<std::string> folders_;
  std::vector<Unreadable> unreadable_;
  std::vector<std::string> perf_maps_;
  std::unordered_multimap<std::string, std::size_t> by_id_;
  std::unordered_multimap<std::string, std::size_t> by_name_;
  Notes notes_;
};

/// Whether two build ids are the same; writers that zero-pad to 20 bytes are allowed for.
bool same_build_id(std::string_view a, std::string_view b);

/// "" for a module that is a file; else what it is: "the kernel's vDSO has no file".
std::string special_region(std::string_view name);

}  // namespace snapdiff::symbols
