#include "formats/heap_text/memory_map.hpp"

#include <iterator>

#include "formats/input/read_failure.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::heap_text {
namespace {

// Far above the 65530 maps that Linux allows a process by default; keeps a hostile map below 200 MB.
constexpr std::size_t kMaxRegions = 4'000'000;
constexpr std::size_t kMaxDefinitions = 256;
constexpr std::size_t kMaxPath = 64u << 10;

/// Where Linux loads a program that is not position-independent.
constexpr std::uint64_t kFixedBase = 0x400000;

/// Whether a file name says "shared library": .so at the end, or .so followed by . or _ and a digit.
bool is_library(std::string_view name) {
  for (std::size_t at = name.find(".so"); at != std::string_view::npos; at = name.find(".so", at + 1)) {
    const std::string_view rest = name.substr(at + 3);
    if (rest.empty()) return true;
    if (rest.size() >= 2 && (rest[0] == '.' || rest[0] == '_') && is_digit(rest[1])) return true;
  }
  return false;
}

bool by_start(const MemoryMap::Region& a, const MemoryMap::Region& b) {
  return a.start != b.start ? a.start < b.start : a.limit < b.limit;
}

/// Of regions sorted by start, the first that starts above `pc`.
std::vector<MemoryMap::Region>::iterator first_above(std::vector<MemoryMap::Region>& regions, std::uint64_t pc) {
  return std::upper_bound(regions.begin(), regions.end(), pc,
                          [](std::uint64_t value, const MemoryMap::Region& region) { return value < region.start; });
}

MemoryMap::Region* holding(std::vector<MemoryMap::Region>& regions, std::uint64_t pc) {
  const auto above = first_above(regions, pc);
  if (above == regions.begin()) return nullptr;
  MemoryMap::Region* const region = &*std::prev(above);
  return pc < region->limit ? region : nullptr;
}

/// "0x7f00", "7f00"; false when no hexadecimal number of 64 bits starts here.
bool take_hex(Cursor& at, std::uint64_t& out) {
  Cursor prefixed = at;
  if (prefixed.take("0x") && is_hex(prefixed.peek())) at = prefixed;
  return at.hex(out) == Number::ok;
}

bool is_permissions(std::string_view token) {
  return !token.empty() && token.find_first_not_of("-rwxps") == std::string_view::npos;
}

bool all_digits(std::string_view token) { return !token.empty() && std::all_of(token.begin(), token.end(), is_digit); }
bool all_hex(std::string_view token) { return !token.empty() && std::all_of(token.begin(), token.end(), is_hex); }

/// glog puts "W1220 15:07:15.201776 8272 file.cc:123] " before each line.
std::string_view without_log_prefix(std::string_view line) {
  const std::size_t bracket = line.find_first_of("[]");
  if (bracket == std::string_view::npos || line[bracket] == '[') return line;
  std::size_t digit = bracket;
  while (digit > 0 && is_digit(line[digit - 1])) --digit;
  const bool is_prefix = digit < bracket && digit > 1 && line[digit - 1] == ':' && bracket + 1 < line.size() &&
                         is_blank(line[bracket + 1]);
  return is_prefix ? line.substr(bracket + 2) : line;
}

void set_path(MapLine& out, std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  path = trim(path);
  if (path.size() >= kDeleted.size() && path.substr(path.size() - kDeleted.size()) == kDeleted) {
    path = trim(path.substr(0, path.size() - kDeleted.size()));
    out.deleted = true;
  }
  out.path = path;
}

/// 0xstart 0xend resident private 0xobject r-x references shadows 0xflags COW NC vnode /path …
bool parse_freebsd(std::string_view line, MapLine& out) {
  Cursor at(line);
  at.skip_blanks();
  if (!at.take("0x") || at.hex(out.start) != Number::ok || !at.skip_blanks()) return false;
  if (!at.take("0x") || at.hex(out.limit) != Number::ok || !at.skip_blanks()) return false;
  for (int i = 0; i < 2; ++i) {
    if (!all_digits(at.token()) || !at.skip_blanks()) return false;
  }
  if (!has_prefix(at.token(), "0x") || !at.skip_blanks()) return false;
  const std::string_view permissions = at.token();
  if (!is_permissions(permissions)) return false;
  out.executable = permissions.find('x') != std::string_view::npos;
  while (!at.at_end()) {
    at.skip_blanks();
    if (at.token() != "vnode") continue;
    at.skip_blanks();
    out.path = at.token();
    break;
  }
  return true;
}

/// offset maj:min inode [path], the rest of a line of /proc/<pid>/maps.
bool parse_proc_tail(Cursor at, MapLine& out) {
  std::uint64_t offset = 0;
  if (at.hex(offset) != Number::ok || !at.skip_blanks()) return false;
  const std::string_view device = at.token();
  const std::size_t colon = device.find(':');
  if (colon == std::string_view::npos || !all_hex(device.substr(0, colon)) || !all_hex(device.substr(colon + 1)))
    return false;
  at.skip_blanks();
  if (!all_digits(at.token())) return false;
  out.offset = offset;
  set_path(out, at.rest());
  return true;
}

/// [path] ["(@" offset ")"] [build id]; a path may hold blanks, so the ends decide.
void parse_brief_tail(std::string_view rest, MapLine& out) {
  constexpr std::size_t kShortestBuildId = 16;  // a shorter last word is part of the path
  rest = trim(rest);
  const std::size_t at_offset = rest.rfind("(@");
  if (at_offset != std::string_view::npos && (at_offset == 0 || is_blank(rest[at_offset - 1]))) {
    Cursor at(rest.substr(at_offset + 2));
    std::uint64_t offset = 0;
    if (at.hex(offset) == Number::ok && at.take(')') && (at.at_end() || at.skip_blanks())) {
      const std::string_view build_id = trim(at.rest());
      if (build_id.empty() || all_hex(build_id)) {
        out.offset = offset;
        out.build_id = build_id;
        set_path(out, rest.substr(0, at_offset));
        return;
      }
    }
  }
  const std::size_t blank = rest.find_last_of(" \t");
  if (blank != std::string_view::npos) {
    const std::string_view last = rest.substr(blank + 1);
    if (last.size() >= kShortestBuildId && all_hex(last)) {
      out.build_id = last;
      rest = rest.substr(0, blank);
    }
  }
  set_path(out, rest);
}

}  // namespace

bool MemoryMap::opens(std::string_view line) {
  return line.find("MAPPED_LIBRARIES:") != std::string_view::npos ||
         line.find("--- Memory map: ---") != std::string_view::npos;
}

/// `$name` at any place, as far as it is defined.
std::string_view MemoryMap::substituted(std::string_view path, std::string& buffer) const {
  if (definitions_.empty() || path.find('$') == std::string_view::npos) return path;
  buffer.clear();
  for (std::size_t i = 0; i < path.size();) {
    std::size_t end = i + 1;
    if (path[i] == '$') {
      const auto in_name = [](char c) { return is_digit(c) || c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z'); };
      while (end < path.size() && in_name(path[end])) ++end;
      const auto found = definitions_.find(path.substr(i + 1, end - i - 1));
      if (found != definitions_.end()) {
        buffer += found->second;
        i = end;
        continue;
      }
    }
    buffer.append(path.substr(i, end - i));
    i = end;
    if (buffer.size() > kMaxPath) return path;
  }
  return buffer;
}

void MemoryMap::add(const MapLine& line, SnapshotBuilder& builder) {
  if (line.path.empty() && !line.executable) return;
  if (executable_.size() + other_.size() >= kMaxRegions)
    fail(ErrorCode::limit, "memory map too long: more than 4000000 regions");
  std::string buffer;
  const std::string_view path = substituted(line.path, buffer);
  const std::size_t modules = builder.dictionary().modules.size();
  const ModuleId module = builder.module(path, line.build_id);
  if (builder.dictionary().modules.size() > modules) names_.emplace_back(base_name(path));
  auto& regions = line.executable ? executable_ : other_;
  regions.push_back({line.start, line.limit, line.offset, module, false});
}

void MemoryMap::read(LineReader& lines, SnapshotBuilder& builder) {
  present_ = true;
  std::uint64_t deleted = 0;
  std::string_view line;
  while (lines.next(line)) {
    if (!lines.terminated())
      builder.notes().add(Severity::warning, "the last line of the memory map has no end: the file may be cut",
                          lines.line_offset());
    if (const auto entry = parse_map_line(line)) {
      if (entry->deleted && entry->executable) ++deleted;
      add(*entry, builder);
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || definitions_.size() >= kMaxDefinitions || line.size() > kMaxPath) continue;
    definitions_.insert_or_assign(std::string(trim(line.substr(0, equals))), trim(line.substr(equals + 1)));
  }
  if (deleted > 0)
    builder.notes().add(Severity::info, "mapped code whose file was deleted or replaced since the process started",
                        std::nullopt, deleted);
  clean_up(builder);
}

/// The clean-ups of google/pprof (massageMappings, remapMappingIDs), except that none of them may
/// change the file offset that an address of a named region gets.
void MemoryMap::clean_up(const SnapshotBuilder& builder) {
  const Dictionary& d = builder.dictionary();
  const auto name_of = [&](const Region& r) { return d.strings[d.modules.name[index_of(r.module)]]; };

  // A text segment that the kernel shows in pieces. Maps without offsets (all 0) continue, too.
  std::vector<Region> merged;
  for (const Region& region : executable_) {
    if (!merged.empty()) {
      Region& last = merged.back();
      const std::uint64_t size = last.limit - last.start;
      const bool adjacent = last.limit == region.start;
      const bool same_file = last.module == region.module;
      const bool continues = region.offset == last.offset + size || (region.offset == 0 && last.offset == 0);
      if (adjacent && same_file && region.module != ModuleId{} && continues) {
        last.limit = region.limit;
        continue;
      }
      // Text moved to anonymous huge pages, before or after its file's own region.
      if (adjacent && region.module == ModuleId{} && last.module != ModuleId{} && region.offset == 0) {
        last.limit = region.limit;
        continue;
      }
      if (adjacent && last.module == ModuleId{} && region.module != ModuleId{} && region.offset == size) {
        last.module = region.module;
        last.limit = region.limit;
        last.offset = 0;
        continue;
      }
    }
    merged.push_back(region);
  }
  executable_ = std::move(merged);

  const auto is_main = [&](const Region& region) {
    const std::string_view name = name_of(region);
    return !name.empty() && name.front() != '[' && !is_library(name);
  };
  const auto main = std::find_if(executable_.begin(), executable_.end(), is_main);
  if (main != executable_.end()) {
    auto binary = main;
    const auto next = main + 1;
    if (has_prefix(name_of(*main), "/anon_hugepage") && next != executable_.end() && next->start == main->limit)
      binary = next;
    if (binary->start >= kFixedBase && binary->start - kFixedBase == binary->offset) {
      binary->start = kFixedBase;
      binary->offset = 0;
    }
    if (binary != main) executable_.erase(main);
  }
  std::stable_sort(executable_.begin(), executable_.end(), by_start);
  std::stable_sort(other_.begin(), other_.end(), by_start);
}

const MemoryMap::Region* MemoryMap::find(std::uint64_t pc) {
  if (Region* region = holding(executable_, pc)) {
    region->used = true;
    return region;
  }
  if (Region* region = holding(other_, pc)) {
    region->used = true;
    return region;
  }
  // Code below a region that starts inside its file belongs to that file.
  const auto above = first_above(executable_, pc);
  if (above == executable_.end() || above->offset == 0 || above->start - pc > above->offset) return nullptr;
  const auto lower = first_above(other_, pc);
  std::uint64_t start = above->start - std::min(above->start, above->offset);
  if (above != executable_.begin()) start = std::max(start, std::prev(above)->limit);
  if (lower != other_.begin()) start = std::max(start, std::prev(lower)->limit);
  start = std::min(start, pc);
  above->offset -= above->start - start;
  above->start = start;
  above->used = true;
  return &*above;
}

bool MemoryMap::mentions(std::string_view part_of_name) const {
  return std::any_of(names_.begin(), names_.end(),
                     [&](const std::string& name) { return name.find(part_of_name) != std::string::npos; });
}

void MemoryMap::export_mappings(SnapshotBuilder& builder) const {
  for (const auto* regions : {&executable_, &other_}) {
    for (const Region& region : *regions) {
      if (region.module == ModuleId{} || (regions == &other_ && !region.used)) continue;
      builder.add_mapping({region.start, region.limit, region.offset, region.module});
    }
  }
}

std::optional<MapLine> parse_map_line(std::string_view line) {
  line = without_log_prefix(line);
  MapLine out;
  if (parse_freebsd(line, out)) return out.limit > out.start ? std::optional(out) : std::nullopt;
  out = MapLine{};
  Cursor at(line);
  at.skip_blanks();
  if (!take_hex(at, out.start)) return std::nullopt;
  if (!at.take('-') && !at.skip_blanks()) return std::nullopt;
  at.skip_blanks();
  if (!take_hex(at, out.limit) || out.limit <= out.start) return std::nullopt;
  at.take(':');
  if (!at.skip_blanks() && !at.at_end()) return std::nullopt;

  Cursor after_permissions = at;
  const std::string_view permissions = after_permissions.token();
  if (is_permissions(permissions)) {
    out.executable = permissions.find('x') != std::string_view::npos;
    after_permissions.skip_blanks();
    at = after_permissions;
  }
  if (!parse_proc_tail(at, out)) parse_brief_tail(at.rest(), out);
  return out;
}

}  // namespace snapdiff::formats::heap_text
