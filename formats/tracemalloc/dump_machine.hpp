#pragma once

#include "formats/pickle/opcode_reader.hpp"
#include "formats/pickle/text_pool.hpp"
#include "formats/tracemalloc/trace_sums.hpp"

namespace snapdiff::formats::tracemalloc {

/// What lies on the machine's stack in place of a Python object.
enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,    ///< number
  big,        ///< an integer beyond 64 bits
  text,       ///< row of the TextPool
  frame,      ///< (text, int); row of TraceSums
  traceback,  ///< tuple of frames; row of TraceSums
  trace,      ///< row of TraceSums, number is the size
  taken,      ///< stands for all traces since the MARK of the list of traces: they are in the sums
  tuple,      ///< any other tuple; number is its length
  traces,     ///< tuple of traces; they are in the sums
  list,       ///< number 1: the list of traces, 0: of no interest
  dict,       ///< row of DumpMachine::dicts_
  global,     ///< row: 0 Snapshot, 1 _Traces
  instance,   ///< row: its class; number 1: built
  fetched,    ///< a trace or a container that came out of the memo
};

struct DumpValue {
  Kind kind = Kind::none;
  std::uint32_t row = 0;
  std::int64_t number = 0;
};

/// Reads one pickle of Snapshot.dump(). Carries out the opcodes that such a pickle is written with and refuses
/// every other one; the two classes are recognised by name and stand for nothing else. A tuple is recognised by
/// what it holds: (text, int) is a frame, a tuple of frames a traceback, (int, int, traceback, int) a trace.
/// Traces are added up as soon as they are complete, so that millions of them need no memory.
class DumpMachine : public pickle::OpcodeReader<DumpMachine, DumpValue, ByteWindow&> {
  using Base = pickle::OpcodeReader<DumpMachine, DumpValue, ByteWindow&>;
  friend Base;

 public:
  static constexpr std::size_t kMostStackValues = std::size_t{1} << 20;  ///< CPython's writer needs some 1000
  static constexpr std::size_t kMostMarks = 64;
  static constexpr std::size_t kMostDicts = 64;
  static constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMostNameBytes = 256;  ///< of a name in a GLOBAL

  DumpMachine(ByteWindow& bytes, TraceSums& sums) : Base(bytes, kMostStackValues, kMostMarks), sums_(sums) {}

  /// Reads from `p`, which is moved after the STOP. Throws Failure.
  void run(const char*& p);

  /// "Python 3.9 or later, pickle protocol 5, 25 frames kept"
  std::string detail() const;

 private:
  using Value = DumpValue;
  struct Dict {
    bool has_traces = false;       ///< 'traces': an instance of _Traces that was built
    bool has_trace_items = false;  ///< '_traces': a list or tuple of traces
    std::int64_t limit = -1;       ///< 'traceback_limit'
  };
  struct Recent {
    std::uint32_t slot = 0xffffffff;
    std::uint32_t traceback = HashIndex::kAbsent;
  };

  // What OpcodeReader asks for.
  using Base::push;
  void push(Kind kind, std::uint32_t row = 0, std::int64_t number = 0) { Base::push({kind, row, number}); }
  void integer(std::int64_t v) { push(Kind::integer, 0, v); }
  void big(std::uint64_t /*v*/) { push(Kind::big); }
  void huge() { push(Kind::big); }
  void boolean(bool v) { push(Kind::boolean, 0, v ? 1 : 0); }
  void none() { push(Kind::none); }
  const char* text(const char* p, std::uint64_t n);
  void empty_list();
  void empty_dict();
  void make_tuple(std::size_t from);
  void append(std::size_t list, std::size_t from);
  void appends(std::size_t from) { append(from - 1, from); }
  void set_items(std::size_t dict, std::size_t from);
  const char* mark(const char* p);
  const char* memoized(const char* p) { return stack_.back().kind == Kind::taken ? take_traces(p) : p; }
  void popped();
  void frame(std::uint64_t /*length*/) {}  // only says how the writer buffered
  const char* other(const char* p, std::uint8_t opcode);
  static std::uint32_t memo_code(const Value& value, std::uint64_t slot);
  void fetched(std::uint32_t code);

  const char* global(const char* p);
  void stack_global();
  void class_named(std::string_view module, std::string_view name, std::uint64_t at);
  void new_object();
  void build();
  void set_item(Dict& dict, const Value& key, const Value& value);
  bool is_traces_list(std::size_t at) const { return stack_[at].kind == Kind::list && stack_[at].number == 1; }

  void make_frame(std::size_t from);
  void make_traceback(std::size_t from);
  bool make_trace(std::size_t from);
  Kind common_kind(std::size_t from) const;
  void add(std::uint32_t traceback, std::int64_t domain, bool cut, std::int64_t size) {
    if (!sums_.add(traceback, domain, cut, size)) sum_too_large();
    ++traces_;
  }
  void add_waiting(const Value& trace) {
    if (!sums_.add(trace.row, trace.number)) sum_too_large();
    ++traces_;
  }
  [[noreturn]] void sum_too_large() const;
  std::int64_t checked_size(const Value& size) const;
  bool in_traces() const;
  const char* take_traces(const char* p);
  std::uint32_t traceback_in(std::uint32_t slot);
  std::string trace_name() const { return "_traces[" + std::to_string(traces_) + "]"; }
  std::string wrong_trace(const Value& value) const;

  TraceSums& sums_;
  pickle::TextPool texts_;
  std::vector<Dict> dicts_;
  std::vector<std::uint32_t> frames_;  // of the traceback that is being made
  std::size_t traces_mark_ = 0;        // the innermost mark, where it is on the list of traces; else 0
  std::uint64_t traces_ = 0;
  std::size_t longest_trace_ = 0;
  bool have_traces_ = false;  // the list or tuple of traces has begun
  std::int64_t limit_ = -1;
  std::array<Recent, 16384> recent_;  // slots that tracebacks were fetched from lately: the memo is packed, this is not
};

}  // namespace snapdiff::formats::tracemalloc
