#include "formats/tracker_lines/sniff_tracker_lines.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

constexpr std::string_view kFormatName = "\"snapdiff-tracker\"";
constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

/// The first line that says something, as far as `head` holds it.
std::string_view first_line(std::string_view head) {
  if (head.substr(0, kUtf8Mark.size()) == kUtf8Mark) head.remove_prefix(kUtf8Mark.size());
  for (;;) {
    const std::size_t begin = head.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    head.remove_prefix(begin);
    const std::size_t end = head.find('\n');
    if (head.front() != '#') return head.substr(0, end);
    if (end == std::string_view::npos) return {};
    head.remove_prefix(end);
  }
}

/// Whether `line` has the member "KEY": VALUE, white space allowed; VALUE as it is written.
bool has_member(std::string_view line, std::string_view key, std::string_view value) {
  for (std::size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    std::size_t next = line.find_first_not_of(" \t", at + key.size());
    if (next == std::string_view::npos || line[next] != ':') continue;
    next = line.find_first_not_of(" \t", next + 1);
    if (next != std::string_view::npos && line.substr(next, value.size()) == value) return true;
  }
  return false;
}

}  // namespace

Match sniff(std::string_view head) {
  const std::string_view line = first_line(head);
  if (line.empty() || line.front() != '{') return Match::no;
  return has_member(line, "\"format\"", kFormatName) ? Match::certain : Match::no;
}

std::string refusal(std::string_view head) {
  const std::string_view mark = head.substr(0, 2);
  if (mark == "\xff\xfe" || mark == "\xfe\xff") {
    std::string narrow;
    for (const char c : head.substr(2, 4096)) {
      if (c != '\0') narrow += c;
    }
    if (sniff(narrow) == Match::certain)
      return "a snapdiff-tracker dump in UTF-16: expected UTF-8 (PowerShell: `| Out-File -Encoding utf8`)";
    return {};
  }
  const std::string_view line = first_line(head);
  if (sniff(head) == Match::no && !line.empty() && line.front() == '{' && has_member(line, "\"k\"", "\"header\""))
    return "a header line without \"format\":\"snapdiff-tracker\": expected it on the first line of a tracker dump";
  return {};
}

}  // namespace snapdiff::formats::tracker_lines
