#include "formats/folded_stacks/folded_line.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "formats/text/log_lines.hpp"
#include "formats/text/scan.hpp"
#include "formats/text/time_stamp.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats::folded {
namespace {

using text::is_blank;

/// Of a log or a table rather than of a stack: a time, or a first column without a letter.
bool begins_as_log(std::string_view stack) {
  const std::string_view root = stack.substr(0, stack.find(';'));
  if (text::has_prefix(root, "0x") || text::has_prefix(root, "[")) return false;  // an address, "[main tid=7]"
  if (text::find_time(stack)) return true;
  return std::none_of(root.begin(), root.end(), [](char c) {
    return text::is_letter(c) || static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '<' || c == '(' || c == '$';
  });
}

/// "java.lang.String_[i]", "byte[]_[k]": a class, which async-profiler puts in front of the stack that allocated it.
bool is_class(std::string_view frame) {
  const char mark = take_mark(frame);
  return (mark == 'i' || mark == 'k') && frame.find_first_of("/:(") == std::string_view::npos;
}

}  // namespace

std::optional<FoldedLine> folded_line(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size()) return std::nullopt;
  FoldedLine out{line.substr(0, blank)};
  out.has_end = out.stack.size() > 1 && out.stack.back() == ';';
  if (out.has_end) out.stack.remove_suffix(1);
  text::Cursor number(line.substr(blank + 1));
  if (number.decimal(out.value) != text::Number::ok || !number.at_end()) return std::nullopt;
  for (std::string_view rest = out.stack; !rest.empty();) {
    const std::size_t before = rest.size();
    const std::string_view frame = take_frame(rest);
    const bool is_last_empty = rest.empty() && frame.size() + 1 == before;
    if (frame.empty() || is_last_empty || is_blank(frame.front()) || is_blank(frame.back())) return std::nullopt;
  }
  return out;
}

std::optional<std::string_view> header_value(std::string_view line, std::string_view key) {
  if (!text::has_prefix(line, "# ") || !text::has_prefix(line.substr(2), key)) return std::nullopt;
  line.remove_prefix(2 + key.size());
  return text::has_prefix(line, ": ") ? std::optional(text::trim(line.substr(2))) : std::nullopt;
}

std::string_view take_frame(std::string_view& stack) {
  const std::size_t end = std::min(stack.find(';'), stack.size());
  const std::string_view frame = stack.substr(0, end);
  stack.remove_prefix(std::min(end + 1, stack.size()));
  return frame;
}

char take_mark(std::string_view& frame) {
  constexpr std::size_t kMark = 4;
  if (frame.size() <= kMark) return '\0';
  const std::string_view end = frame.substr(frame.size() - kMark);
  if (end[0] != '_' || end[1] != '[' || end[3] != ']' || std::string_view("01ijk").find(end[2]) == end.npos)
    return '\0';
  frame.remove_suffix(kMark);
  return end[2];
}

bool take_fil(std::string_view frame, text::PrintedFrame& out) {
  const std::size_t open = frame.rfind(" (");
  if (open == std::string_view::npos || frame.back() != ')') return false;
  std::string_view place = frame.substr(0, open);
  if (!text::take_line_number(place, out.line)) return false;
  out.file = place;
  out.function = frame.substr(open + 2, frame.size() - open - 3);
  return !out.function.empty();
}

void take_heaptrack(std::string_view frame, text::PrintedFrame& out) {
  const std::size_t open = frame.rfind(" (");
  if (open == std::string_view::npos || frame.back() != ')') return;
  const std::string_view file = frame.substr(open + 2, frame.size() - open - 3);
  if (file.empty() || file.find_first_of(" (") != std::string_view::npos) return;
  out.file = file;
  out.function = frame.substr(0, open);
}

FoldedText look_at(std::string_view head, bool whole) {
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  FoldedText out;
  std::size_t chains = 0, classes = 0, dotted = 0, pairs = 0, fil = 0, ends = 0;
  bool has_fil = false;
  std::unordered_set<std::string_view, KeyedHash> seen, roots;
  while (text::take_line(rest, line)) {
    const bool is_cut = rest.empty() && !whole;
    if (is_cut && (out.lines > 0 || out.is_austin)) break;
    if (text::has_prefix(line, "#")) {
      out.is_austin = out.is_austin || (out.lines == 0 && header_value(line, "austin"));
      if (const auto mode = header_value(line, "mode")) out.is_cpu = *mode != "memory";
      continue;
    }
    if (text::trim(line).empty()) continue;
    const std::optional<FoldedLine> found = folded_line(line);
    if (!found || begins_as_log(found->stack)) return out;
    const bool is_chain = found->stack.find(';') != std::string_view::npos;
    // One frame alone is a name, "[unattributed]" or so, and no words.
    text::PrintedFrame place;
    const bool is_fil = take_fil(found->stack.substr(found->stack.rfind(';') + 1), place);
    const bool is_bracketed = found->stack.front() == '[' && found->stack.back() == ']';  // "[No Python stack]"
    if (!is_chain && !is_fil && !is_bracketed && found->stack.find(' ') != std::string_view::npos) return out;
    ++out.lines;
    ends += found->has_end ? 1U : 0U;
    fil += is_fil || (is_bracketed && !is_chain) ? 1U : 0U;
    has_fil = has_fil || is_fil;
    chains += is_chain ? 1U : 0U;
    out.repeats += seen.insert(found->stack).second ? 0U : 1U;
    std::string_view leaf = found->stack.substr(found->stack.rfind(';') + 1);
    std::string_view root = found->stack.substr(0, found->stack.find(';'));
    take_mark(root);
    roots.insert(root);
    pairs += folded_line(leaf) ? 1U : 0U;
    classes += is_class(leaf) ? 1U : 0U;
    dotted += leaf.find('.') != std::string_view::npos || leaf.find("[]") != std::string_view::npos ? 1U : 0U;
  }
  // Two numbers a line are a difference of two profiles, which says nothing of either one's moment.
  out.is_folded = out.lines > 0 && chains * 2 >= out.lines && pairs < out.lines;
  out.has_types = classes == out.lines && dotted > 0;
  out.is_fil = has_fil && fil == out.lines;
  out.is_heaptrack = out.lines > 0 && ends == out.lines;
  out.roots = roots.size();
  out.is_java = text::has_prefix(plain, "java/") || plain.find(";java/") != std::string::npos;
  return out;
}

}  // namespace snapdiff::formats::folded
