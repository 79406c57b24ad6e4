#include "formats/text/log_lines.hpp"

namespace snapdiff::formats::text {
namespace {

constexpr char kEscape = '\x1b';

/// Bytes that no text begins with, several of them: readers of text need not look at lines.
bool is_binary(std::string_view head) {
  constexpr std::size_t kLookedAt = 64;
  const auto is_control = [](char c) { return (c >= 0 && c < '\t') || (c > '\r' && c < ' ' && c != kEscape); };
  return std::ranges::count_if(head.substr(0, kLookedAt), is_control) > 1;
}

}  // namespace

bool LogLines::next(std::string_view& line) {
  if (rest_.empty()) {
    if (!lines_.next(rest_)) return false;
    if (returns_ == Returns::end_lines && !lines_.terminated()) rest_ = lines_.line_with_returns();
    rest_offset_ = lines_.line_offset();
    if (std::exchange(first_, false) && has_prefix(rest_, kByteOrderMark)) {
      rest_.remove_prefix(kByteOrderMark.size());
      rest_offset_ += kByteOrderMark.size();
    }
  }
  const std::size_t end = returns_ == Returns::end_lines ? rest_.find('\r') : std::string_view::npos;
  const bool has_end = end != std::string_view::npos;
  line = without_escapes(rest_.substr(0, end), plain_);
  line_offset_ = rest_offset_;
  terminated_ = has_end || lines_.terminated();
  const std::size_t taken = has_end ? end + 1 : rest_.size();
  rest_.remove_prefix(taken);
  rest_offset_ += taken;
  return true;
}

void LogLines::note_skipped(Notes& notes) const {
  if (skipped() == 0) return;
  notes.add(Severity::warning, "lines of more than 16 MiB, skipped", std::nullopt, skipped());
}

std::string_view without_escapes(std::string_view line, std::string& scratch) {
  std::size_t escape = line.find(kEscape);
  if (escape == std::string_view::npos) return line;
  scratch.clear();
  std::size_t from = 0;
  for (; escape != std::string_view::npos; escape = line.find(kEscape, from)) {
    scratch.append(line.substr(from, escape - from));
    std::size_t at = escape + 1;
    if (at < line.size() && line[at] == '[') {
      ++at;
      // ECMA-48: parameters and intermediates 20..3F, then one final byte 40..7E.
      while (at < line.size() && line[at] >= 0x20 && line[at] <= 0x3f) ++at;
      if (at < line.size() && line[at] >= 0x40) ++at;
    }
    from = at;
  }
  return scratch.append(line.substr(from));
}

bool is_text(std::string_view head, std::string_view controls) {
  return !head.empty() && std::ranges::none_of(head, [controls](char c) {
    return c == 0x7f || (c >= 0 && c < ' ' && controls.find(c) == std::string_view::npos);
  });
}

std::string plain_head(std::string_view head) {
  if (is_binary(head)) return {};
  if (has_prefix(head, kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  std::string scratch;
  return std::string(without_escapes(head, scratch));
}

bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t end = text.find('\n');
  line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

}  // namespace snapdiff::formats::text
