#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace snapdiff::symbols {

/// The functions of a module's symbol tables, by address.
class FunctionSymbols {
 public:
  /// Reads .symtab, or .dynsym, and what .gnu_debugdata adds, as elfutils merges them.
  explicit FunctionSymbols(Dwfl_Module* module, std::size_t most);

  /// Name of the function that holds the address (of the module, with bias), "" when none does.
  /// A function of unknown size reaches to the next symbol.
  std::string_view find(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t start, end;  // end 0: unknown
    std::uint32_t rank;        // the lower, the better a name
    const char* name;
  };
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> reach_;  // the largest end among symbols_[0 .. i]
};

}  // namespace snapdiff::symbols
