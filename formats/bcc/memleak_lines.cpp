#include "formats/bcc/memleak_lines.hpp"

#include "formats/text/scan.hpp"

namespace snapdiff::formats::bcc {
namespace {

using text::Cursor;
using text::is_blank;
using text::is_digit;
using text::is_hex;
using text::Number;
using text::trim;

/// "+0x6d" at the end of `name`, or before a blank; what is after goes to `rest`.
void cut_offset(std::string_view& name, std::string_view& rest) {
  for (std::size_t plus = name.find("+0x"); plus != std::string_view::npos; plus = name.find("+0x", plus + 1)) {
    std::size_t end = plus + 3;
    while (end < name.size() && is_hex(name[end])) ++end;
    if (end == plus + 3 || (end < name.size() && !is_blank(name[end]))) continue;
    rest = trim(name.substr(end));
    name = name.substr(0, plus);
    return;
  }
}

/// " [module]" at the end.
std::string_view take_module(std::string_view& text) {
  if (text.empty() || text.back() != ']') return {};
  const std::size_t open = text.rfind(" [");
  if (open == std::string_view::npos) return {};
  const std::string_view module = text.substr(open + 2, text.size() - open - 3);
  text = trim(text.substr(0, open));
  return module;
}

}  // namespace

std::optional<std::string_view> heading_time(std::string_view line) {
  const std::size_t top = line.find("] Top ");
  if (top == std::string_view::npos) return std::nullopt;
  Cursor at(line.substr(top + 6));
  std::int64_t shown = 0;
  if (!at.count(shown) || !at.take(" stacks with outstanding allocations")) return std::nullopt;
  const std::size_t open = line.rfind('[', top);
  return open == std::string_view::npos ? std::string_view{} : line.substr(open + 1, top - open - 1);
}

RowLine row_line(std::string_view line, Row& out) {
  constexpr std::string_view kFromStack = " allocations from stack";
  const std::string_view text = trim(line);
  if (text.empty() || !is_digit(text.front()) || text.find(kFromStack) == std::string_view::npos) return RowLine::none;
  Cursor at(text);
  const Number bytes = at.decimal(out.bytes);
  if (bytes == Number::none || !at.take(" bytes in ") || !is_digit(at.peek())) return RowLine::none;
  const Number count = at.decimal(out.count);
  if (count == Number::none || !at.take(kFromStack)) return RowLine::none;
  return bytes == Number::ok && count == Number::ok ? RowLine::ok : RowLine::unreadable;
}

text::PrintedFrame stack_line(std::string_view line) {
  text::PrintedFrame out;
  std::string_view text = trim(line);
  Cursor at(text);
  std::int64_t depth = 0;
  std::uint64_t address = 0;
  if (at.count(depth) && at.skip_blanks() && at.take("[<") && at.hex(address) == Number::ok &&
      at.take(">]")) {  // libbpf
    out.offset = address;
    text = trim(at.rest());
  } else {
    at = Cursor(text);
    if (at.take("0x") && at.hex(address) == Number::ok && at.skip_blanks()) {
      out.offset = address;
      text = trim(at.rest());
    }
  }
  out.module = take_module(text);
  std::string_view source;
  cut_offset(text, source);
  if (text::take_line_number(source, out.line)) out.file = source;
  if (text != "[unknown]" && text != "<null sym>") out.function = text;
  if (!out.function.empty() || !out.module.empty()) out.offset = kNoOffset;
  return out;
}

std::optional<std::int64_t> attached_to(std::string_view line) {
  constexpr std::string_view kAttaching = "Attaching to ";
  const std::size_t found = line.find(kAttaching);
  if (found == std::string_view::npos) return std::nullopt;
  Cursor at(line.substr(found + kAttaching.size()));
  if (at.take("kernel")) return -1;
  std::int64_t pid = 0;
  if (!at.take("pid ") || !at.count(pid)) return std::nullopt;
  return pid;
}

}  // namespace snapdiff::formats::bcc
