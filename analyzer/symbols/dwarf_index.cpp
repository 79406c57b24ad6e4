#include "analyzer/symbols/dwarf_index.hpp"

#include <dwarf.h>

#include <limits>
#include <utility>

namespace snapdiff::symbols {
namespace {

constexpr std::uint64_t kSmallFirst = std::numeric_limits<std::uint64_t>::max();

bool holds_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type: return true;
    default: return false;
  }
}

bool holds_blocks(int tag) {
  switch (tag) {
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_common_block: return true;
    default: return false;
  }
}

std::int32_t small(Dwarf_Word number) {
  return number <= static_cast<Dwarf_Word>(std::numeric_limits<std::int32_t>::max()) ? static_cast<std::int32_t>(number)
                                                                                     : 0;
}

std::int32_t number_of(Dwarf_Die& die, unsigned int name, bool integrate = false) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  Dwarf_Attribute* found =
      integrate ? dwarf_attr_integrate(&die, name, &attribute) : dwarf_attr(&die, name, &attribute);
  return found != nullptr && dwarf_formudata(found, &value) == 0 ? small(value) : 0;
}

const char* text_of(Dwarf_Die& die, unsigned int name) {
  Dwarf_Attribute attribute;
  const char* text = dwarf_formstring(dwarf_attr_integrate(&die, name, &attribute));
  return text != nullptr && *text != '\0' ? text : nullptr;
}

}  // namespace

DwarfIndex::DwarfIndex(Dwarf* dwarf) : dwarf_(dwarf) { list_units(); }

std::uint64_t DwarfIndex::add_ranges(Dwarf_Die& die, std::uint64_t priority, std::uint32_t value, IntervalMap& map) {
  Dwarf_Addr base = 0, low = 0, high = 0;
  std::uint64_t count = 0, covered = 0;
  std::vector<std::pair<Dwarf_Addr, Dwarf_Addr>> ranges;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;) {
    if (++count > kMaxRangesPerDie) break;
    // Linkers write 0, 1 or -1 in the place of code that was left out.
    if (low > 1 && low < high) {
      ranges.emplace_back(low, high);
      covered += high - low;
    }
  }
  dies_ += count / 8;
  // Priority kSmallFirst: the smaller the whole, the more it counts.
  for (const auto& [from, to] : ranges) map.add(from, to, priority == kSmallFirst ? ~covered : priority, value);
  return ranges.size();
}

void DwarfIndex::list_units() {
  Dwarf_CU* cu = nullptr;
  Dwarf_CU* next = nullptr;
  Dwarf_Half version = 0;
  std::uint8_t type = 0;
  std::vector<std::uint32_t> without_ranges;
  for (;; cu = next) {
    Unit unit;
    const int got = dwarf_get_units(dwarf_, cu, &next, &version, &type, &unit.die, nullptr);
    if (got != 0) {
      damaged_ = damaged_ || got < 0;
      break;
    }
    if (++dies_ > kMaxDies || units_.size() >= IntervalMap::kNone - 1) break;
    const int tag = dwarf_tag(&unit.die);
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
    split_ = split_ || type == DW_UT_skeleton || dwarf_hasattr(&unit.die, DW_AT_GNU_dwo_name) != 0;
    const auto row = static_cast<std::uint32_t>(units_.size());
    units_.push_back(std::move(unit));
    if (add_ranges(units_.back().die, kSmallFirst, row, unit_at_) == 0) without_ranges.push_back(row);
  }
  // Units that only say where their functions lie.
  for (const std::uint32_t row : without_ranges) {
    Unit& unit = units_[row];
    walk(unit.die, [&](Dwarf_Die& die, int tag, std::size_t, std::uint32_t&) {
      if (tag == DW_TAG_subprogram) add_ranges(die, kSmallFirst, row, unit_at_);
      return holds_functions(tag);
    });
  }
  unit_at_.build();
}

/// Walks what is below `parent`, depth first: visit(die, tag, depth, around) is called with how
/// deep it stands (1: a child of `parent`) and what the visit of the entry around it left in `around`;
/// it says whether to go below. Its entries in `around` hold there.
template <class Visit>
void DwarfIndex::walk(const Dwarf_Die& parent, Visit visit) {
  struct Place {
    Dwarf_Die die;
    std::uint32_t around;
  };
  Dwarf_Die from = parent;
  Dwarf_Die die;
  if (dwarf_child(&from, &die) != 0) return;
  std::vector<Place> path{{die, IntervalMap::kNone}};
  while (!path.empty()) {
    if (++dies_ > kMaxDies) return;
    Place& here = path.back();
    std::uint32_t inside = here.around;
    const bool descend = visit(here.die, dwarf_tag(&here.die), path.size(), inside);
    if (descend && path.size() < kMaxScopeDepth && dwarf_child(&here.die, &die) == 0) {
      path.push_back({die, inside});
      continue;
    }
    for (bool moved = false; !moved && !path.empty();) {
      const int got = dwarf_siblingof(&path.back().die, &die);
      if (got == 0) {
        path.back().die = die;
        moved = true;
      } else {
        damaged_ = damaged_ || got < 0;
        path.pop_back();
      }
    }
  }
}

void DwarfIndex::list_functions(Unit& unit, bool deeply) {
  unit.functions.clear();
  unit.at = {};
  walk(unit.die, [&](Dwarf_Die& die, int tag, std::size_t, std::uint32_t&) {
    if (tag == DW_TAG_subprogram) {
      const auto row = static_cast<std::uint32_t>(unit.functions.size());
      if (add_ranges(die, kSmallFirst, row, unit.at) > 0) {
        unit.functions.emplace_back();
        unit.functions.back().die = die;
      }
      return deeply;
    }
    return holds_functions(tag) || (deeply && holds_blocks(tag));
  });
  unit.at.build();
  // libdw puts it before a bare file name itself up to version 4, and never before a relative folder.
  unit.folder = text_of(unit.die, DW_AT_comp_dir);
  unit.listed = true;
  unit.listed_deeply = deeply;
}

void DwarfIndex::list_inlined(Function& function) {
  function.listed = true;
  walk(function.die, [&](Dwarf_Die& die, int tag, std::size_t depth, std::uint32_t& around) {
    if (tag == DW_TAG_inlined_subroutine) {
      const auto row = static_cast<std::uint32_t>(function.inlined.size());
      if (add_ranges(die, depth, row, function.at) > 0) {
        function.inlined.push_back({die, around});
        around = row;
      }
    }
    return holds_blocks(tag);
  });
  function.at.build();
}

void DwarfIndex::add_names(Dwarf_Die& die, DwarfFrame& frame) {
  frame.linker_name = text_of(die, DW_AT_linkage_name);
  if (frame.linker_name == nullptr) frame.linker_name = text_of(die, DW_AT_MIPS_linkage_name);
  frame.name = text_of(die, DW_AT_name);
  frame.start_line = number_of(die, DW_AT_decl_line, true);
}

void DwarfIndex::add_line(Unit& unit, std::uint64_t address, DwarfFrame& frame) {
  Dwarf_Line* line = dwarf_getsrc_die(&unit.die, address);
  if (line == nullptr) return;
  bool end = false;
  if (dwarf_lineendsequence(line, &end) == 0 && end) return;
  int number = 0;
  int column = 0;
  if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = number;
  if (dwarf_linecol(line, &column) == 0 && column > 0) frame.column = column;
  frame.file = dwarf_linesrc(line, nullptr, nullptr);
  frame.folder = unit.folder;
}

void DwarfIndex::add_call_site(Unit& unit, Dwarf_Die& inlined, DwarfFrame& frame) {
  frame.line = number_of(inlined, DW_AT_call_line);
  frame.column = number_of(inlined, DW_AT_call_column);
  const std::int32_t row = number_of(inlined, DW_AT_call_file);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&unit.die, &files, &count) == 0 && static_cast<std::size_t>(row) < count)
    frame.file = dwarf_filesrc(files, static_cast<std::size_t>(row), nullptr, nullptr);
  frame.folder = unit.folder;
}

void DwarfIndex::find(std::uint64_t address, std::vector<DwarfFrame>& out) {
  out.clear();
  const std::uint32_t unit_row = unit_at_.find(address);
  if (unit_row == IntervalMap::kNone || gave_up()) return;
  Unit& unit = units_[unit_row];
  if (!unit.listed) list_functions(unit, false);
  std::uint32_t row = unit.at.find(address);
  if (row == IntervalMap::kNone && !unit.listed_deeply) {
    // Functions of classes that are inside functions.
    list_functions(unit, true);
    row = unit.at.find(address);
  }
  DwarfFrame frame;
  add_line(unit, address, frame);
  if (row == IntervalMap::kNone) {
    if (frame.file != nullptr) out.push_back(frame);
    return;
  }
  Function& function = unit.functions[row];
  if (!function.listed) list_inlined(function);
  for (std::uint32_t at = function.at.find(address); at != IntervalMap::kNone; at = function.inlined[at].parent) {
    add_names(function.inlined[at].die, frame);
    out.push_back(frame);
    frame = {};
    add_call_site(unit, function.inlined[at].die, frame);
  }
  add_names(function.die, frame);
  out.push_back(frame);
}

}  // namespace snapdiff::symbols
