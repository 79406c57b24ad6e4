#include "formats/heap_text/dump.hpp"
#include "formats/text/in_quotes.hpp"

namespace snapdiff::formats::heap_text {
namespace {

class JemallocReader {
 public:
  explicit JemallocReader(DumpReader& dump) : dump_(dump) {}

  void read() {
    read_header();
    reserve_rows(dump_);
    std::string_view line;
    while (dump_.lines.next(line)) {
      const char first = line.empty() ? '\0' : line.front();
      if (first == '@' && !dump_.lines.terminated()) {
        if (pending_) fail_without_counts();
        wait_for_counts();
        break;
      }
      if (first == ' ' && leave_out_cut_line(dump_)) break;
      if (first == '@') {
        read_stack(line);
      } else if (!read_counts_line(line) && read_other(line)) {
        break;
      }
    }
    at_end();
  }

 private:
  void read_header() {
    std::string_view line;
    dump_.lines.next(line);
    Cursor at(line);
    at.take("heap_v2/");
    std::int64_t rate = 0;
    const bool readable = at.count(rate);
    at.skip_blanks();
    if (!readable || !at.at_end() || !dump_.lines.terminated())
      fail_found("header not readable", line, "heap_v2/ and the sampling rate in bytes", dump_.lines.line_offset());
    dump_.sampler = {rate > 1 ? Rule::v2 : Rule::none, rate};
    SnapshotFacts& facts = dump_.builder.facts();
    dump_.detail = "heap_v2";
    facts.producer = "jemalloc";
    facts.sampling = rate > 1 ? Sampling::poisson : Sampling::exact;
    facts.period = rate;
  }

  void read_stack(std::string_view line) {
    if (pending_) fail_without_counts();
    Cursor at(line);
    at.take('@');
    read_addresses(dump_, at, line);
    wait_for_counts();
  }

  void wait_for_counts() {
    pending_ = true;
    pending_offset_ = dump_.lines.line_offset();
    any_stack_ = true;
  }

  /// "  t*: …" (the stack's sum over all threads) or "  t12: …" (one thread's part of it).
  bool read_counts_line(std::string_view line) {
    Cursor at(line);
    at.skip_blanks();
    if (!at.take('t')) return false;
    if (is_digit(at.peek())) return true;
    if (!at.take("*:")) return false;
    Values values;
    const Number number = read_counts(at, values, false);
    if (number != Number::ok)
      fail(ErrorCode::malformed,
           std::string(number == Number::none ? "row not readable: " : "number beyond 2^63-1: ") + "found " +
               in_quotes(line) + ", expected t*: objects: bytes [objects: bytes]",
           dump_.lines.line_offset());
    if (!any_stack_) {
      if (has_total_) fail_without_stack(line);
      total_ = values;
      has_total_ = true;
      return true;
    }
    if (!pending_) fail_without_stack(line);
    pending_ = false;
    if (values.alloc_objects != 0 || values.alloc_space != 0) dump_.has_alloc = true;
    add_row(dump_, values);
    return true;
  }

  /// True at the memory map, which has then been read.
  bool read_other(std::string_view line) {
    if (MemoryMap::opens(line)) {
      if (pending_) fail_without_counts();
      dump_.map.read(dump_.lines, dump_.builder);
      return true;
    }
    if (!is_preamble(line))
      fail_found("row not recognised", line, "@ and addresses, t*: counts or the memory map",
                 dump_.lines.line_offset());
    return false;
  }

  void at_end() {
    SnapshotFacts& facts = dump_.builder.facts();
    if (!has_total_ && !any_stack_)
      fail(ErrorCode::malformed, "no totals: the input ends, expected a t*: row", dump_.lines.offset());
    if (pending_) {
      facts.lose("the input ends after a stack without its t*: row; the stack is left out", pending_offset_);
    }
    if (!has_total_) return;
    if (dump_.sampler.rule != Rule::none) return note_cut();
    Values sum;
    for (std::size_t i = 0; i < dump_.stacks.size(); ++i) {
      if (!checked_add(sum, dump_.stacks.values(i))) return;  // finish() says so
    }
    dump_.has_alloc = dump_.has_alloc || total_.alloc_objects != 0 || total_.alloc_space != 0;
    attribute_residue(dump_, total_, sum);
  }

  /// A dump ends with the memory map. Without it, compare estimates: those of the header and of the
  /// rows agree within about 1 % (the header's is rounded once, and from 5.3 on it is biased back on
  /// its own, so that its raw numbers are no sum of the rows').
  void note_cut() {
    if (dump_.map.present() || !unsample(dump_.sampler, total_)) return;
    double sum = 0;
    for (std::size_t i = 0; i < dump_.stacks.size(); ++i)
      sum += static_cast<double>(dump_.stacks.values(i).inuse_space);
    if (sum >= 0.95 * static_cast<double>(total_.inuse_space)) return;
    SnapshotFacts& facts = dump_.builder.facts();
    facts.lose("the input ends before the memory map and its rows hold less than its totals: the file is cut",
               dump_.lines.offset());
  }

  [[noreturn]] void fail_without_counts() const {
    fail(ErrorCode::malformed, "stack without counts: found no t*: row after it, expected one", pending_offset_);
  }
  [[noreturn]] void fail_without_stack(std::string_view line) const {
    fail_found("counts without a stack", line, "@ and addresses before it", dump_.lines.line_offset());
  }

  DumpReader& dump_;
  Values total_;  // of the header
  bool has_total_ = false;
  bool any_stack_ = false;
  bool pending_ = false;  // a stack waits for its counts
  std::uint64_t pending_offset_ = 0;
};

}  // namespace

void read_jemalloc(DumpReader& dump) { JemallocReader(dump).read(); }

}  // namespace snapdiff::formats::heap_text
