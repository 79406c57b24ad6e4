#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

#include "analyzer/symbols/interval_map.hpp"

namespace snapdiff::symbols {

inline constexpr std::uint64_t kMaxDies = 256'000'000;        ///< entries looked at in one module; Chromium has 10^8
inline constexpr std::uint64_t kMaxRangesPerDie = 1'000'000;  ///< a unit of -ffunction-sections code has 10^5
inline constexpr std::size_t kMaxScopeDepth = 512;            ///< blocks and inlined calls inside each other

/// One step of a chain of inlined calls, as the debug information has it.
///   linker_name, name  of the function; null where there is none. They live as long as the Dwarf
struct DwarfFrame {
  const char* linker_name = nullptr;
  const char* name = nullptr;
  const char* folder = nullptr;  ///< is before `file` where that is a relative path; may be null
  const char* file = nullptr;
  std::int32_t line = 0;
  std::int32_t column = 0;
  std::int32_t start_line = 0;
};

/// Finds the function and the inlined calls at addresses of one Dwarf. Units are found by their
/// ranges; a unit's functions are listed when its first address comes, a function's inlined calls
/// when its first address comes: dwarf_getscopes() walks the unit again for each address.
class DwarfIndex {
 public:
  explicit DwarfIndex(Dwarf* dwarf);

  /// Innermost first; empty where no unit holds the address. The last one may have a line but no
  /// name: the code is in a unit, but in none of its functions.
  void find(std::uint64_t address, std::vector<DwarfFrame>& out);

  bool damaged() const { return damaged_; }
  bool gave_up() const { return dies_ > kMaxDies; }
  bool split() const { return split_; }

 private:
  struct Inlined {
    Dwarf_Die die;
    std::uint32_t parent;  // an Inlined, or IntervalMap::kNone: the function itself
  };
  struct Function {
    Dwarf_Die die;
    bool listed = false;
    std::vector<Inlined> inlined;
    IntervalMap at;
  };
  struct Unit {
    Dwarf_Die die;
    const char* folder = nullptr;
    bool listed = false;
    bool listed_deeply = false;
    std::vector<Function> functions;
    IntervalMap at;
  };

  void list_units();
  void list_functions(Unit& unit, bool deeply);
  void list_inlined(Function& function);
  std::uint64_t add_ranges(Dwarf_Die& die, std::uint64_t priority, std::uint32_t value, IntervalMap& map);
  template <class Visit>
  void walk(const Dwarf_Die& parent, Visit visit);
  void add_names(Dwarf_Die& die, DwarfFrame& frame);
  void add_line(Unit& unit, std::uint64_t address, DwarfFrame& frame);
  void add_call_site(Unit& unit, Dwarf_Die& inlined, DwarfFrame& frame);

  Dwarf* dwarf_;
  std::vector<Unit> units_;
  IntervalMap unit_at_;
  std::uint64_t dies_ = 0;
  bool damaged_ = false;
  bool split_ = false;
};

}  // namespace snapdiff::symbols
