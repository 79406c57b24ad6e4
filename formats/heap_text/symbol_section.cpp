#include "formats/heap_text/dump.hpp"

#include "formats/text/in_quotes.hpp"

namespace snapdiff::formats::heap_text {
namespace {

/// Most functions inlined at one address. Debug information of real programs stays below 100;
/// a bound keeps a small file from unfolding into a large model.
constexpr std::size_t kMaxInlined = 256;

constexpr std::string_view kSeparator = "--";

/// Writers without a name repeat the address, or write question marks.
bool is_no_name(std::string_view name) {
  if (name.empty() || name == "??") return true;
  if (!has_prefix(name, "0x") || name.size() == 2) return false;
  return std::all_of(name.begin() + 2, name.end(), is_hex);
}

/// "0x<hex> outer--…--inner"; false when the line is none.
bool read_symbol(DumpReader& dump, std::string_view line) {
  Cursor at(line);
  at.skip_blanks();
  if (!at.take("0x")) return false;
  std::uint64_t address = 0;
  if (at.hex(address) != Number::ok || (!at.at_end() && !is_blank(at.peek()))) return false;
  if (dump.symbols.contains(address)) return true;
  std::vector<SymbolTable::Line> names;
  for (std::string_view rest = trim(at.rest()); !rest.empty();) {
    // A destructor or operator may hold single dashes; three in a row leave one to the next name.
    const std::size_t end = rest.find(kSeparator);
    const std::string_view name = trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + kSeparator.size());
    if (is_no_name(name)) continue;
    if (names.size() >= kMaxInlined)
      fail(ErrorCode::limit, "too many inlined functions at one address: more than 256", dump.lines.line_offset());
    names.push_back({dump.builder.function(name), 0});
  }
  if (names.empty()) return true;
  std::reverse(names.begin(), names.end());
  dump.symbols.add(address, names);
  return true;
}

}  // namespace

void read_symbol_section(DumpReader& dump) {
  Notes& notes = dump.builder.notes();
  skip_preamble(dump.lines, notes);
  std::string_view line;
  if (!dump.lines.next(line) || signature_of(line).dump != Dump::symbolized)
    fail_found("symbol section missing", line, "--- symbol", dump.lines.line_offset());
  while (dump.lines.next(line)) {
    const std::string_view text = trim(line);
    if (text == "---") return;
    if (text.empty() || read_symbol(dump, line)) continue;
    if (has_prefix(text, "binary=")) {
      constexpr std::size_t kLongestPath = 4096;
      if (text.size() <= kLongestPath) dump.builder.facts().comments.emplace_back(text);
    } else if (text.find('=') != std::string_view::npos) {
      notes.add(Severity::info, "settings in the symbol section that are not known, skipped", dump.lines.line_offset());
    } else {
      fail_found("symbol not readable", line, "0x, an address and a name, or ---", dump.lines.line_offset());
    }
  }
  fail(ErrorCode::malformed, "symbol section without an end: the input ends, expected ---", dump.lines.offset());
}

}  // namespace snapdiff::formats::heap_text
