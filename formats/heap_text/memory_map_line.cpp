#include "formats/heap_text/memory_map.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::heap_text {
namespace {

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
