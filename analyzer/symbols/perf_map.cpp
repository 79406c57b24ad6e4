#include "analyzer/symbols/perf_map.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "analyzer/symbols/file_descriptor.hpp"

namespace snapdiff::symbols {
namespace {

bool read_hex(std::string_view& text, std::uint64_t& out) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (failure != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty() || text[0] != ' ') return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Result<PerfMap> PerfMap::read(const std::string& path) {
  const FileDescriptor file = FileDescriptor::open_to_read(path);
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{ErrorCode::io, std::string("cannot be read: ") + std::strerror(errno), std::nullopt, path};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxPerfMapBytes)
    return Error{ErrorCode::limit,
                 "too large: " + std::to_string(size) + " bytes, expected at most " + std::to_string(kMaxPerfMapBytes),
                 std::nullopt, path};
  PerfMap map;
  map.text_.resize(size);
  std::size_t have = 0;
  while (have < map.text_.size()) {
    const ssize_t got = ::read(file.get(), map.text_.data() + have, map.text_.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  map.text_.resize(have);
  for (std::string_view rest = map.text_; !rest.empty() && map.names_.size() < kMaxPerfMapLines;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::uint64_t start = 0, length = 0;
    if (!read_hex(line, start) || !read_hex(line, length) || line.empty() || length > ~start) {
      ++map.bad_lines_;
      continue;
    }
    const auto row = static_cast<std::uint32_t>(map.names_.size());
    map.names_.push_back(line);
    map.at_.add(start, start + length, row, row);
  }
  if (map.names_.empty()) return Error{ErrorCode::malformed, "no line of the form START SIZE name", std::nullopt, path};
  map.at_.build();
  return map;
}

std::string_view PerfMap::find(std::uint64_t pc) const {
  const std::uint32_t row = at_.find(pc);
  return row == IntervalMap::kNone ? std::string_view() : names_[row];
}

}  // namespace snapdiff::symbols
