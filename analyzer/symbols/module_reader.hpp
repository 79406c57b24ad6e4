#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/symbols/symbol_files.hpp"

namespace snapdiff::symbols {

inline constexpr std::size_t kMaxSymbols = 50'000'000;    ///< of one symbol table; Chromium has 10^6
inline constexpr std::uint64_t kMaxNameBytes = 1U << 16;  ///< a longer name is cut

/// One frame; texts live as long as the reader.
struct RawFrame {
  std::string_view linker_name;  ///< "" when there is none
  std::string_view name;         ///< as in the source; "" when only the linker name is known
  std::string_view folder;       ///< is before a relative `file`
  std::string_view file;
  std::int32_t line = 0;
  std::int32_t column = 0;
  std::int32_t start_line = 0;
};

/// Reads the symbols of one module with elfutils. For one thread.
class ModuleReader {
 public:
  /// Errors: malformed, when elfutils refuses the file.
  static Result<std::unique_ptr<ModuleReader>> open(const SymbolFileChoice& files, bool debuginfod);
  ~ModuleReader();
  ModuleReader(const ModuleReader&) = delete;
  ModuleReader& operator=(const ModuleReader&) = delete;

  /// The frames at a virtual address of the binary, innermost first; empty when nothing is known.
  void find(std::uint64_t vaddr, std::vector<RawFrame>& out);

  /// The problem while reading, e.g. "damaged debug information", "" when nothing did.
  std::vector<std::string> problems() const;
  bool has_dwarf() const;

 private:
  struct Impl;
  explicit ModuleReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace snapdiff::symbols
