#include "formats/heap_text/dump.hpp"

#include "formats/text/in_quotes.hpp"

namespace snapdiff::formats::heap_text {
namespace {

constexpr const char* kTooBig = ", expected it to fit in 64 bits";

/// Frames of each address; more than one where functions were inlined.
class Resolver {
 public:
  explicit Resolver(DumpReader& dump) {
    hides_runtime_ = dump.builder.facts().producer == "go" && !dump.symbols.empty();
    begin_.reserve(dump.addresses.size() + 1);
    begin_.push_back(0);
    std::uint64_t outside = 0;
    for (const std::uint64_t address : dump.addresses.numbers()) {
      if (!add(dump, address)) ++outside;
      begin_.push_back(frames_.size());
    }
    if (outside > 0 && dump.map.present())
      dump.builder.notes().add(Severity::info, "addresses outside the memory map, kept as bare addresses", std::nullopt,
                               outside);
  }

  std::span<const FrameId> frames(std::uint32_t address) const {
    return std::span(frames_).subspan(begin_[address], begin_[address + 1] - begin_[address]);
  }

 private:
  /// False when no region holds the address.
  bool add(DumpReader& dump, std::uint64_t address) {
    FrameSpec spec;
    spec.offset = address - 1;  // a return address; one less lies inside the call
    const MemoryMap::Region* const region = dump.map.find(spec.offset);
    if (region != nullptr && region->module != ModuleId{}) {
      spec.module = region->module;
      spec.offset = spec.offset - region->start + region->offset;
    }
    const auto lines = dump.symbols.find(address);
    if (lines.empty() && is_of_runtime(dump, address)) return true;
    if (lines.empty()) frames_.push_back(dump.builder.frame(spec));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      spec.function = lines[i].function;
      spec.line = lines[i].line;
      spec.flags = i + 1 < lines.size() ? kFrameInlined : std::uint8_t{0};
      frames_.push_back(dump.builder.frame(spec));
    }
    return region != nullptr || !lines.empty();
  }

  /// Go prints each frame of a stack but those of its runtime at both ends (printStackRecord in runtime/pprof). Their
  /// addresses are left out as well: they name nothing, and differ from build to build.
  bool is_of_runtime(const DumpReader& dump, std::uint64_t address) const {
    return hides_runtime_ && dump.nameless.find(address) == NumberRows::kAbsent &&
           dump.nameless.find(address - 1) == NumberRows::kAbsent;
  }

  std::vector<std::size_t> begin_;
  std::vector<FrameId> frames_;
  bool hides_runtime_ = false;
};

[[noreturn]] void fail_address(const DumpReader& dump, std::string_view line, const char* where, Number number) {
  const std::string_view token = Cursor(line.substr(static_cast<std::size_t>(where - line.data()))).token();
  if (number == Number::too_big)
    fail_at(dump, line, where, ErrorCode::malformed, instead("address too big", in_quotes(token), "64 bits"));
  fail_at(dump, line, where, ErrorCode::malformed,
          instead("address not readable", in_quotes(token), "0x and hexadecimal digits"));
}

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

Number read_counts(Cursor& at, Values& out, bool in_use_may_be_negative) {
  bool too_big = false;
  const auto number = [&](std::int64_t& value, bool may_be_negative) {
    at.skip_blanks();
    if (!may_be_negative && at.peek() == '-') return false;
    const Number result = at.decimal(value);
    too_big = too_big || result == Number::too_big;
    at.skip_blanks();
    return result != Number::none;
  };
  const bool shaped = number(out.inuse_objects, in_use_may_be_negative) && at.take(':') &&
                      number(out.inuse_space, in_use_may_be_negative) && at.take('[') &&
                      number(out.alloc_objects, false) && at.take(':') && number(out.alloc_space, false) &&
                      at.take(']');
  return !shaped ? Number::none : too_big ? Number::too_big : Number::ok;
}

void read_addresses(DumpReader& dump, Cursor at, std::string_view line) {
  std::vector<std::uint64_t>& row = dump.row_addresses;
  row.clear();
  for (;;) {
    const bool apart = at.skip_blanks();
    if (at.at_end()) break;
    const char* const where = at.position();
    std::uint64_t address = 0;
    const Number number = apart && at.take("0x") ? at.hex(address) : Number::none;
    if (number != Number::ok || (!at.at_end() && !is_blank(at.peek()))) fail_address(dump, line, where, number);
    if (address == 0) continue;  // unwinders end a stack so; no code lies there
    if (row.size() >= kMaxFrames)
      fail_at(dump, line, where, ErrorCode::limit, "stack too deep: more than 1000000 frames");
    dump.addresses.prefetch(address);
    row.push_back(address);
  }
  dump.frames.clear();
  for (const std::uint64_t address : row) dump.frames.push_back(dump.addresses.intern(address));
}

void reserve_rows(DumpReader& dump) {
  constexpr std::size_t kBytesPerFrame = 15;  // " 0x" and the twelve digits of a 64-bit process
  constexpr std::size_t kMostFrames = 64u << 20;
  dump.stacks.reserve_frames(std::min(dump.lines.bytes_at_hand() / kBytesPerFrame, kMostFrames));
}

void add_row(DumpReader& dump, Values values) {
  if (!unsample(dump.sampler, values))
    fail(ErrorCode::limit, std::string("estimate of a row is beyond 2^63-1 once sampling is undone") + kTooBig,
         dump.lines.line_offset());
  if (!dump.stacks.add(dump.frames, values))
    fail(ErrorCode::limit, std::string("sum over the rows of one stack is beyond 2^63-1") + kTooBig,
         dump.lines.line_offset());
}

void attribute_residue(DumpReader& dump, const Values& header, const Values& sum) {
  SnapshotFacts& facts = dump.builder.facts();
  bool rows_exceed = false;
  const auto residue = [&](std::int64_t total, std::int64_t rows) {
    if (rows > total) rows_exceed = true;
    std::int64_t difference = 0;
    return rows < total && checked_sub(total, rows, difference) ? difference : 0;
  };
  Values& rest = dump.unattributed;
  rest.inuse_objects = residue(header.inuse_objects, sum.inuse_objects);
  rest.inuse_space = residue(header.inuse_space, sum.inuse_space);
  if (dump.has_alloc) {
    rest.alloc_objects = residue(header.alloc_objects, sum.alloc_objects);
    rest.alloc_space = residue(header.alloc_space, sum.alloc_space);
  }
  if (rows_exceed) facts.notes.add(Severity::warning, "the rows add up to more than the totals in the header");
  if (rest == Values{}) return;
  // Writers that scale each row round it to a byte; a missing row has an object at least.
  const auto rows = static_cast<std::int64_t>(dump.stacks.size());
  if (rest.inuse_objects == 0 && rest.alloc_objects == 0 && rest.inuse_space <= rows && rest.alloc_space <= rows)
    return;
  // All live memory is there: other threads allocated and freed while jemalloc wrote the rows.
  if (rest.inuse_objects == 0 && rest.inuse_space <= rows)
    return facts.notes.add(Severity::info, "the rows hold " + std::to_string(rest.alloc_space) + " bytes allocated (" +
                                               std::to_string(rest.alloc_objects) + " objects) less than the header");
  // gperftools before 2.16 builds the dump in 1 MiB and drops the rows that do not fit.
  constexpr std::uint64_t kWriterBuffer = 1u << 20;
  constexpr std::uint64_t kLongestRow = 4096;
  const std::uint64_t size = dump.lines.offset();
  std::string text = "rows are missing: they hold " + std::to_string(rest.inuse_space) + " bytes in use (" +
                     std::to_string(rest.inuse_objects) + " objects) less than the totals in the header";
  if (dump.has_alloc) text += ", and " + std::to_string(rest.alloc_space) + " bytes allocated";
  if (size <= kWriterBuffer && size + kLongestRow > kWriterBuffer) text += "; the writer cut the dump at 1 MiB";
  facts.lose(text);
}

bool leave_out_cut_line(DumpReader& dump) {
  if (dump.lines.terminated()) return false;
  SnapshotFacts& facts = dump.builder.facts();
  facts.lose("the last line has no end and may be cut: it was left out", dump.lines.line_offset());
  return true;
}

Snapshot finish(DumpReader& dump) {
  SnapshotBuilder& builder = dump.builder;
  builder.facts().format_detail = dump.detail;
  if (dump.count_name.empty()) {
    builder.add_heap_columns(dump.has_alloc);
  } else {
    builder.add_column({dump.count_name, "count"});
  }
  const std::size_t columns = !dump.count_name.empty() ? 1 : dump.has_alloc ? 4 : 2;
  if (!dump.map.present() && dump.addresses_need_map && dump.symbols.empty() && dump.addresses.size() > 0)
    builder.notes().add(Severity::warning,
                        "no memory map: frames are bare addresses, comparable within one process only");

  const Resolver resolver(dump);
  builder.reserve_stacks(dump.stacks.size() + 1, dump.stacks.frame_count() + 1);
  std::vector<FrameId> frames;
  const auto add = [&](StackId stack, const Values& v) {
    const std::array<std::int64_t, 4> values{v.inuse_objects, v.inuse_space, v.alloc_objects, v.alloc_space};
    builder.add_row(stack, LabelSetId{}, std::span(values).first(columns));
  };
  for (std::size_t i = 0; i < dump.stacks.size(); ++i) {
    Values values = dump.stacks.values(i);
    if (!dump.has_alloc) values.alloc_objects = values.alloc_space = 0;
    if (values == Values{}) continue;
    frames.clear();
    for (const std::uint32_t address : dump.stacks.frames(i)) {
      const auto expanded = resolver.frames(address);
      frames.insert(frames.end(), expanded.begin(), expanded.end());
    }
    if (frames.empty() && !dump.stacks.frames(i).empty()) {
      FrameSpec runtime;
      runtime.function = builder.function("runtime.(hidden)", {});
      frames.push_back(builder.frame(runtime));
    }
    if (frames.size() > kMaxFrames)
      fail(ErrorCode::limit, "stack too deep: more than 1000000 frames with inlined functions");
    add(builder.stack(frames), values);
  }
  if (dump.unattributed != Values{}) add(builder.pseudo_stack(kUnattributed), dump.unattributed);
  dump.map.export_mappings(builder);

  return value_or_throw(builder.finish());
}

void read_dump(DumpReader& dump, Dump wanted) {
  const std::string expected = wanted == Dump::jemalloc     ? "\"heap_v2/\""
                               : wanted == Dump::symbolized ? "\"heap profile:\" or \"heap_v2/\""
                                                            : "\"heap profile:\"";
  skip_preamble(dump.lines, dump.builder.notes());
  std::string_view line;
  if (!dump.lines.next(line))
    fail(ErrorCode::malformed, "no dump: the input ends, expected " + expected, dump.lines.offset());
  const Dump found = signature_of(line).dump;
  if (found == Dump::jemalloc && (wanted == Dump::jemalloc || wanted == Dump::symbolized)) {
    dump.lines.unread();
    return read_jemalloc(dump);
  }
  if ((found == Dump::gperftools || found == Dump::go_text) && wanted != Dump::jemalloc) {
    const bool counts = !count_name(line).empty();
    dump.lines.unread();
    return counts ? read_count_profile(dump) : read_heap_profile(dump);
  }
  const std::string refused = refused_relative(line);
  if (!refused.empty()) fail(ErrorCode::unsupported, refused, dump.lines.line_offset());
  fail(ErrorCode::malformed, instead("header not recognised", in_quotes(line), expected), dump.lines.line_offset());
}

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
