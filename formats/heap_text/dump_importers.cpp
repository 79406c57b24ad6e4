#include <algorithm>

#include "formats/heap_text/dump.hpp"
#include "formats/heap_text/heap_text_importers.hpp"
#include "formats/input/read_failure.hpp"
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

/// "0x<hex> outer--…--inner"; false for any other line.
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
    const StringId id = dump.builder.string(name);
    names.push_back({dump.builder.function(id, id, StringId{}, 0), 0});
  }
  if (names.empty()) return true;
  std::reverse(names.begin(), names.end());
  dump.symbols.add(address, names);
  return true;
}

/// Reads "--- symbol" up to the "---" that closes it into dump.symbols:
///   binary=/path/to/main
///   0x<hex> outer--…--inner
/// Throws ReadFailure: malformed where the section or what follows is missing, limit.
void read_symbol_section(DumpReader& dump) {
  Notes& notes = dump.builder.notes();
  skip_preamble(dump.lines, notes);
  std::string_view line;
  if (!dump.lines.next(line) || signature_of(line).dump != Dump::symbolized) {
    fail(ErrorCode::malformed, "symbol section missing: found " + in_quotes(line) + ", expected --- symbol",
         dump.lines.line_offset());
  }
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
      fail(ErrorCode::malformed,
           "symbol not readable: found " + in_quotes(line) + ", expected 0x, an address and a name, or ---",
           dump.lines.line_offset());
    }
  }
  fail(ErrorCode::malformed, "symbol section without an end: the input ends, expected ---", dump.lines.offset());
}

}  // namespace
}  // namespace snapdiff::formats::heap_text

namespace snapdiff::formats {
namespace {

using namespace heap_text;

constexpr FormatInfo kGperftoolsInfo{
    "gperftools", "gperftools/tcmalloc heap profile, text (also growth, fragmentation, old jemalloc)", "*.heap",
    "regions of the memory map that hold no code"};
constexpr FormatInfo kGoTextInfo{"go-text", "Go heap profile, text (debug=1)", "*.txt",
                                 "numbers of runtime.MemStats beyond the heap's own; which frames were inlined"};
constexpr FormatInfo kJemallocInfo{"jemalloc", "jemalloc heap profile, heap_v2 text", "*.heap",
                                   "the split of each stack by thread; thread names"};
constexpr FormatInfo kSymbolizedInfo{"symbolized", "text heap profile with its symbols (pprof --raw)", "*.symbolized",
                                     "as the dump inside"};

/// A dump that its first line after the preamble identifies: the gperftools grammar or jemalloc's blocks.
template <Dump kDump>
Match sniff_dump(std::string_view head) {
  const Signature signature = identify(head);
  if (signature.dump != kDump) return Match::no;
  return signature.certain ? Match::certain : Match::possible;
}

template <Dump kDump>
void decode_dump(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  LineReader lines(in);
  DumpReader dump(lines);
  if (kDump == Dump::symbolized) read_symbol_section(dump);
  read_dump(dump, kDump);
  value_or_throw(out.take(finish(dump)));
}

template <Dump kDump>
constexpr Format dump_format(const FormatInfo& info, std::string (*refusal)(std::string_view) = no_refusal) {
  return {.info = info,
          .sniff = sniff_dump<kDump>,
          .decode = decode_dump<kDump>,
          .refusal = refusal,
          .many = "distinct stacks"};
}

}  // namespace

constexpr Format kGperftools = dump_format<Dump::gperftools>(kGperftoolsInfo, refused_relative);
constexpr Format kGoText = dump_format<Dump::go_text>(kGoTextInfo);
constexpr Format kJemalloc = dump_format<Dump::jemalloc>(kJemallocInfo, refused_jemalloc_log);
constexpr Format kSymbolized = dump_format<Dump::symbolized>(kSymbolizedInfo);

}  // namespace snapdiff::formats
