#include "analyzer/symbols/symbol_files.hpp"
#include "analyzer/symbols/root_path.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace snapdiff::symbols {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMinIdDigits = 8;  // shorter ids say nothing

bool is_hex_id(std::string_view id) {
  return id.size() >= kMinIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string id_path(const std::string& root, const std::string& id) {
  return root + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
}

bool same_file(const ElfHead& a, const ElfHead& b) { return a.device == b.device && a.inode == b.inode; }

std::uint64_t page_up(std::uint64_t x) { return x > ~std::uint64_t{0} - kPage ? x : page_down(x + kPage - 1); }

enum class Layout : std::uint8_t { unknown, fits, differs };

/// Whether the module's mappings that hold addresses could be those of this file: each must end
/// where a code segment ends, in whole pages.
Layout compare_layout(const ModuleQuery& module, const ElfHead& head) {
  Layout out = Layout::unknown;
  for (const Mapping& mapping : module.mappings) {
    const std::uint64_t size = mapping.limit - mapping.start;
    if (mapping.limit <= mapping.start || mapping.start == 0) continue;
    const auto first = std::lower_bound(module.offsets.begin(), module.offsets.end(), mapping.offset);
    if (first == module.offsets.end() || *first - mapping.offset >= size) continue;
    const auto holds = [&](const Segment& s) {
      return s.executable && *first >= page_down(s.offset) && *first < page_up(s.offset + s.file_size);
    };
    const auto segment = std::find_if(head.loads.begin(), head.loads.end(), holds);
    if (segment == head.loads.end() || page_up(segment->offset + segment->file_size) != page_up(mapping.offset + size))
      return Layout::differs;
    out = Layout::fits;
  }
  return out;
}

std::string module_text(const ModuleQuery& module) { return std::string(base_name(module.name)); }

}  // namespace

bool same_build_id(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (a.size() > b.size()) std::swap(a, b);
  return a.size() >= kMinIdDigits && b.substr(0, a.size()) == a &&
         b.find_first_not_of('0', a.size()) == std::string_view::npos;
}

std::string special_region(std::string_view name) {
  if (name.empty()) return "code outside every file";
  if (name == "[vdso]" || name == "[vsyscall]" || name == "linux-vdso.so.1")
    return "code of the kernel, there is no file";
  if (name.front() == '[' || name.starts_with("//anon") || name.starts_with("anon_inode:"))
    return "memory without a file";
  if (name.starts_with("/anon_hugepage") || name.starts_with("/memfd:") || name.starts_with("/SYSV") ||
      name.starts_with("/dev/"))
    return "memory without a file that could be kept";
  return {};
}

SymbolFiles::SymbolFiles(const SymbolOptions& options) : options_(options) {
  for (const std::string& path : options.paths) {
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (failure || !fs::exists(status)) {
      notes_.add(Severity::warning,
                 path + ": no such file or folder with symbols" +
                     (failure && failure != std::errc::no_such_file_or_directory ? ": " + failure.message() : ""));
    } else if (fs::is_directory(status)) {
      add_folder(path);
    } else {
      add_file(path, true);
    }
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!files_[i].build_id.empty()) by_id_.emplace(files_[i].build_id, i);
    std::string name(base_name(files_[i].path));
    by_name_.emplace(name, i);
    if (name.ends_with(".debug")) by_name_.emplace(name.substr(0, name.size() - 6), i);
  }
}

std::string SymbolFiles::located(const std::string& path) const {
  const std::string& root = options_.sysroot;
  if (root.empty() || root == "/" || !path.starts_with(root)) return path;
  return path_below(root, std::string_view(path).substr(root.size()));
}

void SymbolFiles::add_folder(const std::string& path) {
  folders_.push_back(path);
  std::vector<std::string> found;
  std::error_code failure;
  std::size_t entries = 0;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, failure), end;
  for (; !failure && entry != end; entry.increment(failure)) {
    if (++entries > kMaxSearchEntries) {
      notes_.add(Severity::warning,
                 path + ": only the first " + std::to_string(kMaxSearchEntries) + " entries were searched for symbols");
      break;
    }
    if (entry.depth() >= kMaxSearchDepth) entry.disable_recursion_pending();
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) found.push_back(entry->path().string());
  }
  if (failure) notes_.add(Severity::warning, path + ": cannot be searched for symbols: " + failure.message());
  std::sort(found.begin(), found.end());
  for (const std::string& file : found) add_file(file, false);
}

void SymbolFiles::add_file(const std::string& path, bool asked_for) {
  const std::string_view name = base_name(path);
  if (name.starts_with("perf-") && name.ends_with(".map")) {
    perf_maps_.push_back(path);
    return;
  }
  if (files_.size() >= kMaxSymbolFiles) {
    notes_.add(Severity::warning,
               "more than " + std::to_string(kMaxSymbolFiles) + " binaries given, the others are left out");
    return;
  }
  Result<ElfHead> head = read_elf_head(located(path));
  if (head) {
    files_.push_back(*std::move(head));
    return;
  }
  if (asked_for) {
    notes_.add(Severity::warning, path + ": no symbols: " + head.error().message);
  } else {
    unreadable_.push_back({path, head.error().message});
  }
}

std::string SymbolFiles::perf_map(std::optional<std::int64_t> pid) const {
  if (pid) {
    const std::string name = "perf-" + std::to_string(*pid) + ".map";
    for (const std::string& path : perf_maps_) {
      if (base_name(path) == name) return path;
    }
    std::error_code ignored;
    const std::string path = located(options_.sysroot + "/tmp/" + name);
    if (options_.recorded_paths && fs::is_regular_file(path, ignored)) return path;
    return {};
  }
  return perf_maps_.size() == 1 ? perf_maps_.front() : std::string();
}

std::optional<ElfHead> SymbolFiles::by_build_id(const std::string& build_id, bool want_dwarf) const {
  if (!is_hex_id(build_id)) return std::nullopt;
  std::size_t best = files_.size();
  const auto [from, to] = by_id_.equal_range(build_id);
  for (auto it = from; it != to; ++it) {
    const ElfHead& head = files_[it->second];
    if ((want_dwarf ? head.has_dwarf : head.has_code) && it->second < best) best = it->second;
  }
  if (best < files_.size()) return files_[best];
  std::vector<std::string> roots = folders_;
  if (want_dwarf) roots.push_back(options_.sysroot + "/usr/lib/debug");
  for (const std::string& root : roots) {
    Result<ElfHead> head = read_elf_head(located(id_path(root, build_id)));
    if (head && head->build_id == build_id && (want_dwarf ? head->has_dwarf : head->has_code)) return *std::move(head);
  }
  return std::nullopt;
}

bool SymbolFiles::try_binary(const ModuleQuery& module, const ElfHead& head, bool recorded,
                             SymbolFileChoice& choice) const {
  const std::string name = module_text(module);
  if (is_hex_id(module.build_id) && !head.build_id.empty()) {
    if (!same_build_id(module.build_id, head.build_id)) {
      choice.notes.add(Severity::warning, name + ": " + head.path + " is another build: build id " + head.build_id +
                                              ", expected " + module.build_id);
      return false;
    }
    choice.verified = true;
  } else {
    const Layout layout = compare_layout(module, head);
    if (layout == Layout::differs && head.has_code) {
      if (recorded) {
        choice.notes.add(Severity::warning,
                         name + ": " + head.path + " is another build: its code is not as large as the one that ran");
        return false;
      }
      choice.notes.add(Severity::warning,
                       name + ": " + head.path + " may be another build: its code is not as large as the one that ran");
    }
    if (module.taken_at_ns && head.modified_ns > *module.taken_at_ns) {
      choice.notes.add(Severity::warning,
                       name + ": " + head.path + " was taken by its name and is newer than the snapshot");
    } else {
      choice.notes.add(Severity::info, "binaries taken by their names, there is no build id to compare");
    }
  }
  (head.has_code ? choice.binary : choice.debug) = head;
  return true;
}

std::vector<std::size_t> SymbolFiles::of_name(const ModuleQuery& module) const {
  std::vector<std::size_t> same_name;
  const auto [from, to] = by_name_.equal_range(module_text(module));
  for (auto it = from; it != to; ++it) same_name.push_back(it->second);
  // Files with the whole path at their end first, then files with debug information.
  const auto rank = [&](std::size_t i) {
    const ElfHead& head = files_[i];
    return (compare_layout(module, head) == Layout::differs ? 8 : 0) + (head.has_code ? 0 : 4) +
           (head.path.ends_with(module.name) ? 0 : 2) + (head.has_dwarf ? 0 : 1);
  };
  std::sort(same_name.begin(), same_name.end(),
            [&](std::size_t a, std::size_t b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a < b; });
  return same_name;
}

void SymbolFiles::find_binary(const ModuleQuery& module, SymbolFileChoice& choice) const {
  const std::string name = module_text(module);
  const std::vector<std::size_t> same_name = of_name(module);
  // Where no build id decides, what was given goes before what lies at the path now: a release may have replaced it.
  const auto fits = [&](std::size_t i) {
    return files_[i].has_code && compare_layout(module, files_[i]) != Layout::differs;
  };
  const bool given_first = !is_hex_id(module.build_id) && !same_name.empty() && fits(same_name.front());
  if (given_first && try_binary(module, files_[same_name.front()], false, choice)) return;
  std::optional<ElfHead> tried;
  if (options_.recorded_paths && module.name.starts_with('/')) {
    const std::string path = located(options_.sysroot + module.name);
    Result<ElfHead> head = read_elf_head(path);
    if (head) {
      tried = *head;
      if (try_binary(module, *head, true, choice)) return;
    } else if (std::error_code ignored; fs::exists(path, ignored)) {
      choice.notes.add(Severity::warning, name + ": " + path + ": " + head.error().message);
    }
  }
  if (std::optional<ElfHead> head = by_build_id(module.build_id, false)) {
    choice.binary = std::move(head);
    choice.verified = true;
    return;
  }
  for (const std::size_t i : same_name) {
    if (tried && same_file(*tried, files_[i])) continue;
    if (try_binary(module, files_[i], false, choice)) return;
  }
  for (const Unreadable& file : unreadable_) {
    if (base_name(file.path) == name) choice.notes.add(Severity::warning, name + ": " + file.path + ": " + file.why);
  }
}

void SymbolFiles::find_debug(const ModuleQuery& module, SymbolFileChoice& choice) const {
  const std::string id = choice.binary && !choice.binary->build_id.empty() ? choice.binary->build_id : module.build_id;
  if (std::optional<ElfHead> head = by_build_id(id, true)) {
    if (!choice.binary) choice.verified = true;
    choice.debug = std::move(head);
    return;
  }
  if (!choice.binary || choice.binary->debuglink.empty()) return;
  const ElfHead& binary = *choice.binary;
  const std::string link(base_name(binary.debuglink));
  const std::string folder = folder_of(binary.path);
  std::vector<std::string> candidates{folder + "/" + link, folder + "/.debug/" + link};
  if (folder.starts_with('/')) {
    candidates.push_back(options_.sysroot + "/usr/lib/debug" +
                         (!options_.sysroot.empty() && folder.starts_with(options_.sysroot)
                              ? folder.substr(options_.sysroot.size())
                              : folder) +
                         "/" + link);
  }
  const auto [from, to] = by_name_.equal_range(link);
  std::vector<std::size_t> given;
  for (auto it = from; it != to; ++it) given.push_back(it->second);
  std::sort(given.begin(), given.end());
  for (const std::size_t i : given) candidates.push_back(files_[i].path);
  for (const std::string& candidate : candidates) {
    const std::string path = located(candidate);
    Result<ElfHead> head = read_elf_head(path);
    if (!head) {
      if (head.error().code != ErrorCode::io)
        choice.notes.add(Severity::warning, module_text(module) + ": " + path + ": " + head.error().message);
      continue;
    }
    if (same_file(*head, binary) || !head->has_dwarf) continue;
    if (!binary.build_id.empty() && !head->build_id.empty()) {
      if (!same_build_id(binary.build_id, head->build_id)) {
        choice.notes.add(Severity::warning, module_text(module) + ": debug file " + path +
                                                " is of another build: build id " + head->build_id + ", expected " +
                                                binary.build_id);
        continue;
      }
    } else {
      const Result<std::uint32_t> crc = file_crc32(path);
      if (!crc || *crc != binary.debuglink_crc) {
        choice.notes.add(Severity::warning,
                         module_text(module) + ": debug file " + path + " is of another build: its checksum differs");
        continue;
      }
    }
    choice.debug = *std::move(head);
    return;
  }
}

void SymbolFiles::find_alt(SymbolFileChoice& choice) const {
  const ElfHead* holder = choice.debug ? &*choice.debug : choice.binary ? &*choice.binary : nullptr;
  if (holder == nullptr || holder->alt_name.empty()) return;
  std::vector<std::string> candidates;
  if (holder->alt_name.starts_with('/')) {
    candidates.push_back(options_.sysroot + holder->alt_name);
  } else {
    candidates.push_back(folder_of(holder->path) + "/" + holder->alt_name);
  }
  const auto [from, to] = by_id_.equal_range(holder->alt_build_id);
  if (from != to) candidates.push_back(files_[from->second].path);
  if (is_hex_id(holder->alt_build_id)) {
    for (const std::string& root : folders_) candidates.push_back(id_path(root, holder->alt_build_id));
    candidates.push_back(id_path(options_.sysroot + "/usr/lib/debug", holder->alt_build_id));
  }
  for (const std::string& candidate : candidates) {
    const std::string path = located(candidate);
    const Result<ElfHead> head = read_elf_head(path, true);
    if (head && same_build_id(head->build_id, holder->alt_build_id)) {
      choice.alt_path = path;
      return;
    }
  }
  choice.notes.add(Severity::warning, std::string(base_name(holder->path)) +
                                          ": the shared part of its debug information was not found: " +
                                          holder->alt_name + " with build id " + holder->alt_build_id);
}

SymbolFileChoice SymbolFiles::choose(const ModuleQuery& module) const {
  SymbolFileChoice choice;
  const std::string special = module.no_module ? special_region("") : special_region(module.name);
  if (!special.empty() && !choice.binary && !is_hex_id(module.build_id)) {
    choice.advice =
        module.no_module || module.name.empty()
            ? "addresses in no file; code made at run time can be named by a perf-PID.map given with --symbols"
            : module.name + " is " + special;
    return choice;
  }
  find_binary(module, choice);
  if (!choice.debug && (!choice.binary || !choice.binary->has_dwarf)) find_debug(module, choice);
  find_alt(choice);
  const std::string name = module_text(module);
  if (!choice.binary && !choice.debug) {
    choice.advice = choice.notes.empty()
                        ? "no file for " + (module.name.empty() ? "build id " + module.build_id : module.name) +
                              "; give it with --symbols FILE|DIR"
                        : "no usable file for " + name + "; give the one that ran with --symbols FILE|DIR";
  } else if (!choice.debug && !choice.binary->has_dwarf) {
    choice.advice =
        name + " has no debug information" +
        (choice.binary->build_id.empty() ? std::string() : "; its debug file has build id " + choice.binary->build_id) +
        (choice.binary->debuglink.empty() ? std::string() : " and the name " + choice.binary->debuglink);
  }
  return choice;
}

}  // namespace snapdiff::symbols
