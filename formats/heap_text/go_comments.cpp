#include "analyzer/base/concat.hpp"
#include "formats/heap_text/dump.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::heap_text {
namespace {

/// What it prints of them besides.
constexpr KnownCounter kPrinted[] = {
    {"NumGC", "count", true}, {"NumForcedGC", "count", true}, {"MaxRSS", "bytes", false}};

/// Null for one that does not help to read a heap.
const KnownCounter* counter_called(std::string_view name) {
  const bool is_of_runtime = name.starts_with("Stack") || name.starts_with("MSpan") || name.starts_with("MCache");
  const KnownCounter* const found = is_of_runtime ? nullptr : known_counter(kMemStats, name);
  return found != nullptr ? found : known_counter(kPrinted, name);
}

/// " HeapSys = 7471104", the text after the #.
bool read_counter(DumpReader& dump, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = trim(text.substr(0, equals));
  const KnownCounter* const known = counter_called(name);
  Cursor at(text.substr(equals + 1));
  at.skip_blanks();
  std::int64_t value = 0;
  if (known == nullptr || at.decimal(value) != Number::ok || (at.skip_blanks(), !at.at_end())) return false;
  auto& counters = dump.builder.facts().counters;
  for (const Counter& counter : counters) {
    if (counter.name == name) return true;
  }
  counters.push_back(known->with(value));
  return true;
}

/// "\t0x1234\tmain.f+0x1f\t/src/main.go:12", the text after the #.
bool read_frame(DumpReader& dump, std::string_view text) {
  Cursor at(text);
  at.skip_blanks();
  std::uint64_t pc = 0;
  if (!at.take("0x") || at.hex(pc) != Number::ok) return false;
  if (!at.skip_blanks()) {  // a frame without symbol
    if (at.at_end()) dump.nameless.intern(pc);
    return at.at_end();
  }
  if (dump.symbols.contains(pc)) return true;
  const std::string_view rest = trim(at.rest());
  const std::size_t plus = offset_begin(rest);
  const std::string_view name = trim(rest.substr(0, plus));
  if (plus == std::string_view::npos || name.empty()) return false;
  Cursor after(rest.substr(plus));
  after.token();
  std::string_view file = trim(after.rest());
  std::int64_t line = 0;
  take_line_number(file, line);
  if (line > std::numeric_limits<std::int32_t>::max()) line = 0;
  const SymbolTable::Line symbol{dump.builder.function(name, file), static_cast<std::int32_t>(line)};
  dump.symbols.add(pc, {&symbol, 1});
  return true;
}

}  // namespace

bool read_go_comment(DumpReader& dump, std::string_view line) {
  line = trim(line);
  if (!has_prefix(line, "#")) return false;
  line.remove_prefix(1);
  return read_frame(dump, line) || read_counter(dump, line);
}

void read_count_profile(DumpReader& dump) {
  std::string_view line;
  dump.lines.next(line);
  dump.count_name = count_name(trim(line));
  Cursor header(line.substr(line.rfind(' ') + 1));
  std::int64_t total = 0;
  if (header.decimal(total) != Number::ok)
    fail_found("header not readable", line, "NAME profile: total N", dump.lines.line_offset());
  dump.addresses_need_map = false;
  dump.detail = dump.count_name;
  SnapshotFacts& facts = exact_facts(dump.builder, "go");
  reserve_rows(dump);
  std::int64_t sum = 0;
  while (dump.lines.next(line)) {
    Cursor at(line);
    at.skip_blanks();
    if (is_digit(at.peek())) {
      if (leave_out_cut_line(dump)) break;
      Values values;
      if (at.decimal(values.inuse_objects) != Number::ok || (at.skip_blanks(), !at.take('@')))
        fail_found("row not recognised", line, "count @ addresses", dump.lines.line_offset());
      read_addresses(dump, at, line);
      if (!snapdiff::checked_add(sum, values.inuse_objects, sum))
        fail(ErrorCode::limit, "sum over the rows is beyond 2^63-1, expected it to fit in 64 bits",
             dump.lines.line_offset());
      add_row(dump, values);
    } else if (at.peek() == '#' && !read_go_comment(dump, line) && dump.lines.terminated()) {
      // "# labels: {"k":"v"}" is not a frame.
      dump.builder.notes().add(Severity::info, "comments without a frame, left out", dump.lines.line_offset());
    }
  }
  if (sum != total)
    facts.lose(concat("the rows hold ", std::to_string(sum), " of ", std::to_string(total), ", which the header says"));
}

}  // namespace snapdiff::formats::heap_text
