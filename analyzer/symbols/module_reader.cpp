#include "analyzer/symbols/module_reader.hpp"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/symbols/dwarf_index.hpp"
#include "analyzer/symbols/file_descriptor.hpp"

namespace snapdiff::symbols {
namespace {

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
    if (a.rank != b.rank) return a.rank > b.rank;  // the best one last: find() searches from the end
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

struct Files {
  std::string debug_path;
  std::string alt_name;
  std::string alt_path;
  bool debuginfod = false;
};

int give_file(const std::string& path, char** name_out) {
  if (path.empty()) return -1;
  FileDescriptor file = FileDescriptor::open_to_read(path);
  if (!file) return -1;
  *name_out = ::strdup(path.c_str());
  return file.release();
}

// The search is ours, and it stays on this machine: dwfl_standard_find_debuginfo would ask servers.
int find_debuginfo(Dwfl_Module* module, void** user, const char* module_name, Dwarf_Addr base, const char* file_name,
                   const char* link, GElf_Word crc, char** debug_name) {
  const Files* files = user == nullptr ? nullptr : static_cast<const Files*>(*user);
  if (files == nullptr) return -1;
  if (link != nullptr && !files->alt_name.empty() && files->alt_name == link)
    return give_file(files->alt_path, debug_name);
  const int fd = give_file(files->debug_path, debug_name);
  if (fd >= 0 || !files->debuginfod) return fd;
  return dwfl_standard_find_debuginfo(module, user, module_name, base, file_name, link, crc, debug_name);
}

int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

const Dwfl_Callbacks kCallbacks = {find_no_elf, find_debuginfo, dwfl_offline_section_address, nullptr};

std::string_view view(const char* text) {
  if (text == nullptr) return {};
  return {text, ::strnlen(text, kMaxNameBytes)};
}

/// libdw 0.188 takes texts of line tables without looking for their end: a section whose last text has
/// none would be read beyond its end.
bool texts_end(Dwarf* dwarf) {
  for (Dwarf* one : {dwarf, dwarf_getalt(dwarf)}) {
    Elf* const elf = one == nullptr ? nullptr : dwarf_getelf(one);
    std::size_t names = 0;
    if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) continue;
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      const char* const name = elf_strptr(elf, names, header.sh_name);
      if (name == nullptr) continue;
      const std::string_view text(name);
      if (!text.ends_with("debug_str") && !text.ends_with("debug_line_str")) continue;
      const Elf_Data* const data = elf_rawdata(section, nullptr);
      if (data == nullptr || data->d_size == 0 || data->d_buf == nullptr) continue;
      if (static_cast<const char*>(data->d_buf)[data->d_size - 1] != '\0') return false;
    }
  }
  return true;
}

}  // namespace

struct ModuleReader::Impl {
  Files files;
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;
  Dwarf_Addr bias = 0;        // of the module against the binary's addresses
  Dwarf_Addr dwarf_bias = 0;  // of the module against the debug information
  std::optional<DwarfIndex> dwarf;
  std::optional<FunctionSymbols> symbols;
  std::string dwarf_error;
  std::vector<DwarfFrame> scratch;

  ~Impl() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }

  std::string_view symbol_at(std::uint64_t address) {
    if (!symbols) symbols.emplace(module, kMaxSymbols);
    return symbols->find(address);
  }
};

ModuleReader::ModuleReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ModuleReader::~ModuleReader() = default;

Result<std::unique_ptr<ModuleReader>> ModuleReader::open(const SymbolFileChoice& files, bool debuginfod) {
  const ElfHead& main = files.binary ? *files.binary : *files.debug;
  auto impl = std::make_unique<Impl>();
  if (files.binary && files.debug) impl->files.debug_path = files.debug->path;
  impl->files.alt_name = files.debug ? files.debug->alt_name : main.alt_name;
  impl->files.alt_path = files.alt_path;
  impl->files.debuginfod = debuginfod;
  const auto refuse = [&](const char* fallback) -> Error {
    const char* why = dwfl_errmsg(-1);
    return {ErrorCode::malformed, std::string("cannot be read: ") + (why != nullptr ? why : fallback), std::nullopt,
            main.path};
  };
  impl->dwfl = dwfl_begin(&kCallbacks);
  if (impl->dwfl == nullptr) return refuse("no memory");
  FileDescriptor file = FileDescriptor::open_to_read(main.path);
  if (!file)
    return Error{ErrorCode::io, std::string("cannot be opened: ") + std::strerror(errno), std::nullopt, main.path};
  dwfl_report_begin(impl->dwfl);
  impl->module = dwfl_report_elf(impl->dwfl, "module", main.path.c_str(), file.get(), 0, true);
  if (impl->module == nullptr) return refuse("damaged ELF file");
  file.release();
  if (dwfl_report_end(impl->dwfl, nullptr, nullptr) != 0) return refuse("damaged ELF file");
  void** user = nullptr;
  if (dwfl_module_info(impl->module, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr ||
      user == nullptr)
    return refuse("damaged ELF file");
  *user = &impl->files;
  if (dwfl_module_getelf(impl->module, &impl->bias) == nullptr) return refuse("damaged ELF file");
  if (Dwarf* dwarf = dwfl_module_getdwarf(impl->module, &impl->dwarf_bias); dwarf != nullptr) {
    if (texts_end(dwarf)) {
      impl->dwarf.emplace(dwarf);
    } else {
      impl->dwarf_error = "its debug information is damaged: a table of texts has no end";
    }
  } else if (main.has_dwarf || files.debug) {
    const char* why = dwfl_errmsg(-1);
    impl->dwarf_error =
        std::string("its debug information cannot be read") + (why != nullptr ? std::string(": ") + why : "");
  }
  return std::unique_ptr<ModuleReader>(new ModuleReader(std::move(impl)));
}

void ModuleReader::find(std::uint64_t vaddr, std::vector<RawFrame>& out) {
  out.clear();
  Impl& in = *impl_;
  const Dwarf_Addr address = vaddr + in.bias;
  if (in.dwarf) {
    in.dwarf->find(address - in.dwarf_bias, in.scratch);
    for (const DwarfFrame& f : in.scratch)
      out.push_back({view(f.linker_name), view(f.name), view(f.folder), view(f.file), f.line, f.column, f.start_line});
  }
  if (out.empty()) out.emplace_back();
  RawFrame& outer = out.back();
  if (outer.linker_name.empty()) {
    // Functions of one file only have no linker name in the debug information: "hidden" there is
    // "ns::(anonymous namespace)::hidden(int)" in the symbol table.
    const std::string_view symbol = in.symbol_at(address);
    const bool decodable = symbol.starts_with("_Z") || symbol.starts_with("_R");
    const std::string_view plain = outer.name.substr(0, outer.name.find('<'));
    const bool same = symbol.find(plain) != std::string_view::npos || plain.starts_with("operator");
    if (outer.name.empty() || (decodable && same)) outer.linker_name = symbol;
  }
  // A chain without a name at its end says nothing; one inside is kept, its lines are true.
  if (outer.linker_name.empty() && outer.name.empty()) out.pop_back();
}

std::vector<std::string> ModuleReader::problems() const {
  std::vector<std::string> out;
  const Impl& in = *impl_;
  if (!in.dwarf_error.empty()) out.push_back(in.dwarf_error);
  if (in.dwarf && in.dwarf->damaged()) out.push_back("its debug information is damaged, names may be missing");
  if (in.dwarf && in.dwarf->gave_up())
    out.push_back("its debug information is larger than what is read, names are missing");
  if (in.dwarf && in.dwarf->split())
    out.push_back("part of its debug information lies in .dwo files, which are not read: inlined calls are missing");
  return out;
}

bool ModuleReader::has_dwarf() const { return impl_->dwarf.has_value(); }

}  // namespace snapdiff::symbols
