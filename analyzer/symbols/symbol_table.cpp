#include "analyzer/symbols/symbol_table.hpp"

#include <gelf.h>

#include <algorithm>

namespace snapdiff::symbols {
namespace {

constexpr std::size_t kMostSteps = 64;  // back from an address to the function around it

std::uint32_t rank_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE: return 0;
    case STB_WEAK: return 1;
    default: return 2;
  }
}

std::string_view without_version(std::string_view name) {
  const std::size_t at = name.find('@', 1);
  return at == std::string_view::npos ? name : name.substr(0, at);
}

}  // namespace

FunctionSymbols::FunctionSymbols(Dwfl_Module* module, std::size_t most) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 0; i < count && symbols_.size() < most; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF || section == SHN_ABS) continue;
    const int type = GELF_ST_TYPE(symbol.st_info);
    // Assembly files leave the type out; "$x", ".L1" and the like mark places, not functions.
    const bool untyped = type == STT_NOTYPE && symbol.st_size == 0 && name[0] != '$' && name[0] != '.';
    if (type != STT_FUNC && type != STT_GNU_IFUNC && !untyped) continue;
    const std::uint64_t end = symbol.st_size > ~address ? ~std::uint64_t{0} : address + symbol.st_size;
    symbols_.push_back({address, symbol.st_size == 0 ? 0 : end, rank_of(symbol) + (untyped ? 4U : 0U), name});
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.rank != b.rank) return a.rank > b.rank;  // the best one last: find() looks from behind
    return std::string_view(a.name) > std::string_view(b.name);
  });
  reach_.reserve(symbols_.size());
  std::uint64_t reach = 0;
  for (const Symbol& symbol : symbols_) {
    reach = std::max(reach, symbol.end);
    reach_.push_back(reach);
  }
}

std::string_view FunctionSymbols::find(std::uint64_t address) const {
  const auto above = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t a, const Symbol& s) { return a < s.start; });
  const Symbol* open = nullptr;
  std::size_t steps = 0;
  for (auto i = static_cast<std::size_t>(above - symbols_.begin()); i-- > 0 && steps < kMostSteps; ++steps) {
    const Symbol& symbol = symbols_[i];
    if (symbol.end > address) return without_version(symbol.name);
    if (symbol.end == 0 && open == nullptr && symbol.start == std::prev(above)->start) open = &symbol;
    if (reach_[i] <= address) break;
  }
  return open == nullptr ? std::string_view() : without_version(open->name);
}

}  // namespace snapdiff::symbols
