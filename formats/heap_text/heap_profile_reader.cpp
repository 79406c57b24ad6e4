#include "analyzer/base/concat.hpp"
#include "formats/heap_text/dump.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::heap_text {
namespace {

// What the oldest sampler used when its header states no rate (perl pprof).
constexpr std::int64_t kOldestPeriod = 128 * 1024;

class HeapProfileReader {
 public:
  explicit HeapProfileReader(DumpReader& dump) : dump_(dump) {}

  void read() {
    read_header();
    reserve_rows(dump_);
    std::string_view line;
    while (dump_.lines.next(line)) {
      Cursor at(line);
      at.skip_blanks();
      const char first = at.peek();
      if (is_digit(first) || (first == '-' && at.left() > 1 && is_digit(at.rest()[1]))) {
        if (leave_out_cut_line(dump_)) break;
        read_row(line, at);
      } else if (first == '#') {
        read_comment(line);
      } else if (MemoryMap::opens(line)) {
        dump_.map.read(dump_.lines, dump_.builder);
      } else if (!is_preamble(line)) {
        fail_row(line);
      }
    }
    at_end();
  }

 private:
  void read_header() {
    std::string_view line;
    dump_.lines.next(line);
    Cursor at(line);
    at.take("heap profile:");
    const Number number = read_counts(at, total_, true);
    std::string_view type;
    at.skip_blanks();
    if (at.take('@')) {
      at.skip_blanks();
      type = at.token();
    }
    if (number == Number::none || !dump_.lines.terminated())
      fail_found("header not readable", line, "heap profile: objects: bytes [objects: bytes] @ type",
                 dump_.lines.line_offset());
    if (number == Number::too_big)
      fail_found("number beyond 2^63-1", line, "it to fit in 64 bits", dump_.lines.line_offset());
    dump_.has_alloc = (total_.alloc_objects != total_.inuse_objects && total_.alloc_objects != 0) ||
                      (total_.alloc_space != total_.inuse_space && total_.alloc_space != 0);
    set_type(line, type);
  }

  /// `type`: the word after the @, "" without one: name, or name/period.
  void set_type(std::string_view line, std::string_view type) {
    const std::size_t slash = type.find('/');
    name_ = type.substr(0, slash);
    std::int64_t period = 0;
    if (slash != std::string_view::npos) {
      Cursor at(type.substr(slash + 1));
      const Number number = at.peek() == '-' ? Number::none : at.decimal(period);
      if (number == Number::too_big || (number == Number::none && !at.at_end()) || !at.at_end())
        fail_found("sampling rate not readable", type, "a number of bytes after the slash", dump_.lines.line_offset());
    }
    SnapshotFacts& facts = exact_facts(dump_.builder, "tcmalloc");
    facts.period = 1;
    if (name_ == "heapprofile" || name_ == "growth" || name_ == "growthz" || name_ == "fragmentation" ||
        name_ == "fragmentationz") {
      if (name_ != "heapprofile")
        facts.notes.add(Severity::warning, "the values are not what was in use: the dump's type is " + name_);
    } else if (name_ == "heap_v2" || name_ == "heapz_v2") {
      set_sampled(Rule::v2, period);
    } else if (name_ == "heap" && slash != std::string_view::npos) {
      is_go_ = true;
      dump_.addresses_need_map = false;
      facts.producer.clear();
      set_sampled(Rule::v2, period / 2);
    } else if (name_ == "heap" || name_ == "heapz") {
      set_sampled(Rule::v1, period > 0 ? period / 2 : kOldestPeriod);
    } else if (type.empty() && total_.inuse_objects == total_.alloc_objects &&
               total_.inuse_space == total_.alloc_space && total_.inuse_space != 0) {
      set_sampled(Rule::v1, kOldestPeriod);
    } else if (!type.empty()) {
      fail(ErrorCode::unsupported,
           instead("unknown kind of heap profile", in_quotes(line.substr(line.rfind('@'))),
                   "heapprofile, heap_v2, heapz_v2, heap, growth or fragmentation"),
           dump_.lines.line_offset());
    }
  }

  void set_sampled(Rule rule, std::int64_t period) {
    SnapshotFacts& facts = dump_.builder.facts();
    if (period == 0) {
      facts.sampling = Sampling::unknown;
      facts.period = 0;
      facts.notes.add(Severity::warning, "sampling rate missing in the header: values are taken as they are",
                      dump_.lines.line_offset());
      return;
    }
    if (rule == Rule::v1) facts.notes.add(Severity::warning, "dump of the oldest sampler: values are rough estimates");
    facts.sampling = period > 1 ? Sampling::poisson : Sampling::exact;
    facts.period = period;
    if (period > 1) dump_.sampler = {rule, period};
  }

  void read_row(std::string_view line, Cursor at) {
    Values values;
    const Number number = read_counts(at, values, true);
    if (number == Number::none || (at.skip_blanks(), !at.take('@'))) {
      if (MemoryMap::opens(line)) return dump_.map.read(dump_.lines, dump_.builder);
      fail_row(line);
    }
    if (number == Number::too_big)
      fail_found("number beyond 2^63-1", line, "it to fit in 64 bits", dump_.lines.line_offset());
    check_pair(values.inuse_objects, values.inuse_space, "in use");
    if (dump_.has_alloc) check_pair(values.alloc_objects, values.alloc_space, "allocated");
    read_addresses(dump_, at, line);
    if (values.inuse_objects < 0 || values.inuse_space < 0)
      dump_.builder.notes().add(Severity::warning, "rows with negative values", dump_.lines.line_offset());
    if (dump_.frames.empty())
      dump_.builder.notes().add(Severity::info, "rows without a stack", dump_.lines.line_offset());
    if (!checked_add(sum_, values)) sum_is_known_ = false;
    if (!dump_.has_alloc) values.alloc_objects = values.alloc_space = 0;
    add_row(dump_, values);
  }

  void check_pair(std::int64_t objects, std::int64_t bytes, const char* which) const {
    if (objects != 0 || bytes == 0) return;
    fail(
        ErrorCode::malformed,
        "row contradicts itself: found 0 objects with " + std::to_string(bytes) + " bytes " + which + ", expected none",
        dump_.lines.line_offset());
  }

  void read_comment(std::string_view line) {
    if (!is_go_) return;
    if (!dump_.lines.terminated())
      return dump_.builder.notes().add(Severity::warning, "the last line has no end: the file may be cut",
                                       dump_.lines.line_offset());
    if (read_go_comment(dump_, line)) dump_.builder.facts().producer = "go";
  }

  void at_end() {
    SnapshotFacts& facts = dump_.builder.facts();
    dump_.detail = name_.empty() ? "no type" : name_;
    if (dump_.map.mentions("jemalloc") && !dump_.map.mentions("tcmalloc")) facts.producer = "jemalloc";
    if (!sum_is_known_) return;
    // Go adds one byte where the pairs would be equal, so that readers keep the second one.
    if (is_go_ && sum_.alloc_space == sum_.inuse_space && total_.alloc_space - 1 == sum_.alloc_space)
      --total_.alloc_space;
    if (facts.sampling == Sampling::exact) return attribute_residue(dump_, total_, sum_);
    // A sampled header holds raw numbers, too; but that they are missing is known, how many is not.
    if (sum_.inuse_objects < total_.inuse_objects || sum_.inuse_space < total_.inuse_space)
      facts.lose("rows are missing: they hold less than the totals in the header", dump_.lines.offset());
  }

  [[noreturn]] void fail_row(std::string_view line) const {
    fail_found("row not recognised", line, "objects: bytes [objects: bytes] @ addresses", dump_.lines.line_offset());
  }

  DumpReader& dump_;
  std::string name_;  // the type's name
  Values total_;      // of the header
  Values sum_;        // of the rows, before sampling is undone
  bool sum_is_known_ = true;
  bool is_go_ = false;  // header "heap/P"
};

/// Counters of the process that Go prints behind the rows.
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

void read_heap_profile(DumpReader& dump) { HeapProfileReader(dump).read(); }

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
      add_to(sum, values.inuse_objects, "sum over the rows is", dump.lines.line_offset());
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
