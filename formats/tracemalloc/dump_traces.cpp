// Tuples of a dump: frames, tracebacks and traces.

#include "formats/tracemalloc/dump_machine.hpp"

namespace snapdiff::formats::tracemalloc {

using namespace pickle;

namespace {

/// Length with its opcode, and mask, of a number that is after an opcode; 0 for all other opcodes. Looked
/// up rather than branched on: sizes of one and two bytes follow each other at random.
struct Operand {
  std::uint32_t mask = 0;
  std::uint32_t length = 0;
};
using Operands = std::array<Operand, 256>;

constexpr Operands kIntegers = [] {
  Operands t{};
  t["BININT1"_opcode] = {0xff, 2};
  t["BININT2"_opcode] = {0xffff, 3};
  t["BININT"_opcode] = {0xffffffff, 5};
  return t;
}();
constexpr Operands kFetches = [] {
  Operands t{};
  t["BINGET"_opcode] = {0xff, 2};
  t["LONG_BINGET"_opcode] = {0xffffffff, 5};
  return t;
}();

/// The operand at `p`, which is moved after it; false at another opcode.
inline bool take_operand(const char*& p, const Operands& of, std::uint32_t& out) {
  const Operand& operand = of[static_cast<std::uint8_t>(*p)];
  std::uint32_t bits = 0;
  std::memcpy(&bits, p + 1, 4);
  out = bits & operand.mask;
  p += operand.length;
  return operand.length != 0;
}

/// BININT is signed, the others are not.
inline bool is_negative(std::uint32_t number) { return number >> 31 != 0; }

}  // namespace

Kind DumpMachine::common_kind(std::size_t from) const {
  const Kind first = stack_[from].kind;
  for (std::size_t i = from + 1; i < stack_.size(); ++i) {
    if (stack_[i].kind != first) return Kind::none;
  }
  return first;
}

void DumpMachine::make_tuple(std::size_t from) {
  const std::size_t n = stack_.size() - from;
  if (n == 0) return push(Kind::traceback, TraceSums::kNoFrames);
  if (n == 2 && stack_[from].kind == Kind::text && stack_[from + 1].kind == Kind::integer) return make_frame(from);
  const Kind kind = common_kind(from);
  if (kind == Kind::frame) return make_traceback(from);
  if (make_trace(from)) return;
  if (kind == Kind::trace) {
    if (have_traces_) malformed("a second tuple of traces, expected one");
    have_traces_ = true;
    for (std::size_t i = from; i < stack_.size(); ++i) add_waiting(stack_[i]);
    stack_.shrink_to(from);
    return push(Kind::traces);
  }
  stack_.shrink_to(from);
  const Value tuple{Kind::tuple, 0, static_cast<std::int64_t>(n)};
  // What should have been a trace is reported at once, before it is forgotten what it held.
  if (in_traces()) malformed(wrong_trace(tuple));
  push(tuple.kind, tuple.row, tuple.number);
}

void DumpMachine::make_frame(std::size_t from) {
  const std::int64_t line = stack_[from + 1].number;
  if (line < 0 || line > std::numeric_limits<std::int32_t>::max())
    malformed(instead("line of a frame out of range", line, "0 to 2147483647"));
  const std::uint32_t text = stack_[from].row;
  const std::uint32_t row = sums_.frame(text, texts_[text], static_cast<std::int32_t>(line));
  if (row >= TraceSums::kMostRows) fail(ErrorCode::limit, "too many different frames", offset());
  stack_.shrink_to(from);
  push(Kind::frame, row);
}

void DumpMachine::make_traceback(std::size_t from) {
  frames_.clear();
  for (std::size_t i = from; i < stack_.size(); ++i) frames_.push_back(stack_[i].row);
  const std::uint32_t row = sums_.traceback(frames_);
  if (row >= TraceSums::kMostRows) fail(ErrorCode::limit, "too many different tracebacks", offset());
  stack_.shrink_to(from);
  push(Kind::traceback, row);
}

/// (size, frames), (domain, size, frames) or (domain, size, frames, total_nframe).
bool DumpMachine::make_trace(std::size_t from) {
  const std::size_t n = stack_.size() - from;
  if (n < 2 || n > 4) return false;
  const std::size_t at_size = n == 2 ? 0 : 1;
  const Value& size = stack_[from + at_size];
  const Value& frames = stack_[from + at_size + 1];
  if (frames.kind != Kind::traceback) return false;
  std::int64_t domain = 0;
  if (n > 2) {
    if (stack_[from].kind != Kind::integer || stack_[from].number < 0) return false;
    domain = stack_[from].number;
  }
  bool cut = false;
  if (n == 4) {
    const Value& all = stack_[from + 3];
    if (all.kind != Kind::none && all.kind != Kind::integer) return false;
    cut = all.kind == Kind::integer && all.number > static_cast<std::int64_t>(sums_.depth(frames.row));
  }
  const std::int64_t bytes = checked_size(size);
  const std::uint32_t traceback = frames.row;
  longest_trace_ = n > longest_trace_ ? n : longest_trace_;
  stack_.shrink_to(from);
  if (!in_traces()) {
    push(Kind::trace, sums_.row(traceback, domain, cut), bytes);
    return true;
  }
  add(traceback, domain, cut, bytes);
  if (stack_.size() == traces_mark_) push(Kind::taken);
  return true;
}

std::int64_t DumpMachine::checked_size(const Value& size) const {
  if (size.kind == Kind::integer && size.number >= 0) return size.number;
  if (size.kind == Kind::big)
    fail(ErrorCode::limit, trace_name() + ": size out of range: beyond 2^63-1, expected it to fit in 64 bits",
         offset());
  malformed(trace_name() + ": size is " +
            (size.kind == Kind::integer   ? "negative: found " + std::to_string(size.number)
             : size.kind == Kind::boolean ? std::string("a bool")
                                          : std::string("no number")) +
            ", expected an int of 0 or more");
}

void DumpMachine::sum_too_large() const {
  fail(ErrorCode::limit, "sum of the sizes of one stack is beyond 2^63-1, expected it to fit in 64 bits", offset());
}

/// Whether a trace that is complete now is the next item of the list of traces: the innermost mark is the
/// list's, and nothing but what was taken lies on it.
bool DumpMachine::in_traces() const {
  if (traces_mark_ == 0) return false;
  return stack_.size() == traces_mark_ || (stack_.size() == traces_mark_ + 1 && stack_.back().kind == Kind::taken);
}

std::string DumpMachine::wrong_trace(const Value& value) const {
  const std::string expected =
      ", expected (size, frames), (domain, size, frames) or (domain, size, frames, total_nframe)";
  switch (value.kind) {
    case Kind::tuple:
      if (value.number < 2 || value.number > 4)
        return trace_name() + " is a tuple of " + std::to_string(value.number) + expected;
      return trace_name() + " is a tuple of other things" + expected;
    case Kind::traceback: return trace_name() + " is a tuple of frames or empty" + expected;
    case Kind::frame: return trace_name() + " is a tuple of a text and a number" + expected;
    case Kind::fetched:
      return trace_name() + " was fetched from the memo, expected each trace to be a tuple of its own";
    default: return trace_name() + " is no tuple" + expected;
  }
}

/// The traceback in a memo slot, kAbsent where something else is there.
std::uint32_t DumpMachine::traceback_in(std::uint32_t slot) {
  Recent& recent = recent_[slot % recent_.size()];
  if (recent.slot != slot) {
    const std::uint32_t code = memo_.get(slot);
    if ((code & 7) != 3) return HashIndex::kAbsent;
    recent = {slot, code >> 3};
  }
  return recent.traceback;
}

/// Traces as CPython writes them, one after the other: what step() would do, in a tenth of the time. Stops
/// where it meets anything else, and near the end of the window.
const char* DumpMachine::take_traces(const char* p) {
  constexpr std::ptrdiff_t kLongestTrace = 32;  // MARK, three BININTs, LONG_BINGET, TUPLE, MEMOIZE: 23
  if (!in_traces()) return p;
  const char* done = p;
  while (bytes_.end() - done > kLongestTrace) {
    const char* q = done;
    const bool four = static_cast<std::uint8_t>(*q) == "MARK"_opcode;
    q += four ? 1 : 0;
    std::uint32_t domain = 0;
    std::uint32_t size = 0;
    std::uint32_t slot = 0;
    std::uint32_t total = 0;
    if (!take_operand(q, kIntegers, domain)) break;
    std::size_t fields = four ? 4 : 3;
    if (!take_operand(q, kIntegers, size)) {
      if (four) break;
      size = std::exchange(domain, 0);
      fields = 2;
    }
    if (!take_operand(q, kFetches, slot)) break;
    if (four && !take_operand(q, kIntegers, total)) break;
    const std::uint8_t tuple = four ? "TUPLE"_opcode : fields == 3 ? "TUPLE3"_opcode : "TUPLE2"_opcode;
    // MEMOIZE takes the next slot; where slots were given by number it may be taken.
    if (static_cast<std::uint8_t>(q[0]) != tuple || static_cast<std::uint8_t>(q[1]) != "MEMOIZE"_opcode) break;
    if (is_negative(domain | size | total) || memo_.has_far(memo_.size())) break;
    const std::uint32_t traceback = traceback_in(slot);
    if (traceback == HashIndex::kAbsent) break;
    op_ = q;
    add(traceback, domain, four && total > sums_.depth(traceback), size);
    memo_.append(Memo::kNothing);
    longest_trace_ = fields > longest_trace_ ? fields : longest_trace_;
    done = q + 2;
  }
  if (done != p && stack_.size() == traces_mark_) push(Kind::taken);
  return done;
}

}  // namespace snapdiff::formats::tracemalloc
