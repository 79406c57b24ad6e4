#include "formats/tracemalloc/dump_machine.hpp"

#include <cstring>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/opcodes.hpp"

namespace snapdiff::formats::tracemalloc {

using namespace pickle;

namespace {

// Of no other pickle that this project reads.
constexpr std::uint8_t kGlobal = 'c';
constexpr std::uint8_t kBuild = 'b';
constexpr std::uint8_t kNewObject = 0x81;
constexpr std::uint8_t kStackGlobal = 0x93;

std::uint64_t load(const char* p, std::size_t n) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, n);
  return v;
}

/// Opcodes of the other pickles that no dump holds.
[[noreturn]] void refuse_here(std::uint8_t opcode, std::uint64_t offset) {
  const OpcodeInfo& info = opcode_info(opcode);
  if (info.treatment != Treatment::accepted) refuse(opcode, offset);
  fail(ErrorCode::unsupported,
       "unsupported pickle: opcode " + std::string(info.name) + " (" + hex_byte(opcode) + ") at byte " +
           std::to_string(offset) + ", expected only what tracemalloc dumps are written with",
       offset);
}

}  // namespace

void DumpMachine::truncated(std::uint64_t at) const {
  throw TruncatedPickle{{Error{ErrorCode::malformed,
                               "truncated pickle: input ends at byte " +
                                   std::to_string(bytes_.offset_of(bytes_.end())) + ", expected more up to a STOP",
                               at}}};
}

void DumpMachine::need(const char*& p, std::uint64_t count) {
  if (static_cast<std::uint64_t>(bytes_.end() - p) >= count) return;
  const std::uint64_t at = offset();
  if (!bytes_.more(p, static_cast<std::size_t>(count))) truncated(at);
  op_ = p;
}

/// Sees to it that an opcode and its fixed argument can be read at `p`.
void DumpMachine::look_ahead(const char*& p) {
  constexpr auto kPadding = static_cast<std::ptrdiff_t>(PickleBytes::kPadding);
  if (bytes_.end() - p >= kPadding) return;
  bytes_.more(p, PickleBytes::kPadding);
  op_ = p;
  if (bytes_.end() - p >= kPadding) return;
  if (p >= bytes_.end()) truncated(offset());
  if (bytes_.end() - p < 1 + opcode_info(static_cast<std::uint8_t>(*p)).argument_bytes) truncated(offset());
}

void DumpMachine::run(const char*& p) {
  if (!bytes_.more(p, 1)) fail_malformed("empty input: no bytes, expected a pickle", bytes_.offset_of(p));
  op_ = p;
  const auto first = static_cast<std::uint8_t>(*p);
  if (first != kProto) {
    if (opcode_info(first).treatment == Treatment::unsafe) refuse(first, offset());
    malformed("not a pickle: first byte is " + hex_byte(first) + ", expected 0x80 (PROTO) of protocol 2 to 5");
  }
  for (;;) {
    look_ahead(p);
    op_ = p;
    const auto opcode = static_cast<std::uint8_t>(*p++);
    if (opcode == kStop) break;
    p = step(p, opcode);
  }
  if (stack_.size() != 1 || !marks_.empty())
    malformed("STOP with " + std::to_string(stack_.size()) + " values on the stack, expected one");
  const Value& root = stack_[0];
  if (root.kind != Kind::instance || root.row != 0 || root.number == 0)
    malformed("not a dump: the pickle holds no tracemalloc.Snapshot with traces, expected what Snapshot.dump() writes");
}

const char* DumpMachine::step(const char* p, std::uint8_t opcode) {
  switch (opcode) {
    case kProto:
      protocol_ = static_cast<int>(load(p, 1));
      if (protocol_ < 2 || protocol_ > 5)
        fail(ErrorCode::unsupported,
             "unsupported pickle protocol: found " + std::to_string(protocol_) + ", expected 2 to 5", offset());
      return p + 1;
    case kFrame: return p + 8;  // only says how the writer buffered
    case kBinGet: get(load(p, 1)); return p + 1;
    case kLongBinGet: get(load(p, 4)); return p + 4;
    case kMemoize: put(memo_.size()); return stack_.back().kind == Kind::taken ? take_traces(p) : p;
    case kBinPut: put(load(p, 1)); return p + 1;
    case kLongBinPut: put(load(p, 4)); return p + 4;
    case kBinInt1: push(Kind::integer, 0, static_cast<std::int64_t>(load(p, 1))); return p + 1;
    case kBinInt2: push(Kind::integer, 0, static_cast<std::int64_t>(load(p, 2))); return p + 2;
    case kBinInt:
      push(Kind::integer, 0, static_cast<std::int32_t>(static_cast<std::uint32_t>(load(p, 4))));
      return p + 4;
    case kLong1: return long_integer(p + 1, load(p, 1));
    case kLong4: {
      const std::uint64_t n = load(p, 4);
      if (n > 0x7fffffff) malformed("LONG4 of negative length: found " + std::to_string(n));
      return long_integer(p + 4, n);
    }
    case kNone: push(Kind::none); return p;
    case kNewTrue: push(Kind::boolean, 0, 1); return p;
    case kNewFalse: push(Kind::boolean, 0, 0); return p;
    case kShortBinUnicode: return text(p + 1, load(p, 1));
    case kBinUnicode: return text(p + 4, load(p, 4));
    case kBinUnicode8: return text(p + 8, load(p, 8));
    case kMark: {
      if (marks_.size() == kMostMarks)
        malformed("nested too deeply: more than " + std::to_string(kMostMarks) + " containers inside one another");
      const bool on_traces = stack_.size() > floor() && stack_.back().kind == Kind::list && stack_.back().number == 1;
      marks_.push_back(stack_.size());
      traces_mark_ = on_traces ? stack_.size() : 0;
      return on_traces ? take_traces(p) : p;
    }
    case kEmptyTuple: make_tuple(stack_.size()); return p;
    case kTuple1:
    case kTuple2:
    case kTuple3: {
      const std::size_t n = opcode - kTuple1 + 1U;
      require(n, "TUPLE");
      make_tuple(stack_.size() - n);
      return p;
    }
    case kTuple: make_tuple(pop_mark()); return p;
    case kEmptyList: open_list(); return p;
    case kAppend:
      require(2, "APPEND");
      append(stack_.size() - 2, stack_.size() - 1);
      return p;
    case kAppends: {
      const std::size_t from = pop_mark();
      if (from <= floor()) malformed("APPENDS without a list below its MARK");
      append(from - 1, from);
      return p;
    }
    case kEmptyDict:
      if (dicts_.size() == kMostDicts) malformed("more than " + std::to_string(kMostDicts) + " dicts, expected 2");
      push(Kind::dict, static_cast<std::uint32_t>(dicts_.size()));
      dicts_.emplace_back();
      return p;
    case kSetItem:
      require(3, "SETITEM");
      set_items(stack_.size() - 3, stack_.size() - 2);
      return p;
    case kSetItems: {
      const std::size_t from = pop_mark();
      if (from <= floor()) malformed("SETITEMS without a dict below its MARK");
      set_items(from - 1, from);
      return p;
    }
    case kGlobal: return global(p);
    case kStackGlobal: stack_global(); return p;
    case kNewObject: new_object(); return p;
    case kBuild: build(); return p;
    default: refuse_here(opcode, offset());
  }
}

void DumpMachine::push(Kind kind, std::uint32_t row, std::int64_t number) {
  if (stack_.size() == kMostStackValues)
    fail(ErrorCode::limit,
         "stack too deep: more than " + std::to_string(kMostStackValues) + " values wait for their container",
         offset());
  Value value;
  value.kind = kind;
  value.row = row;
  value.number = number;
  stack_.push_back(value);
}

DumpMachine::Value& DumpMachine::top() {
  require(1, "opcode");
  return stack_.back();
}

void DumpMachine::require(std::size_t values, const char* opcode) const {
  if (stack_.size() < floor() + values)
    malformed("stack underflow: " + std::string(opcode) + " needs " + std::to_string(values) + " values, found " +
              std::to_string(stack_.size() - floor()));
}

std::size_t DumpMachine::pop_mark() {
  if (marks_.empty()) malformed("no MARK on the stack, expected one");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  // Inside the list of traces again, where the mark was that of a trace.
  const std::size_t outer = floor();
  const bool on_list = outer > 0 && stack_[outer - 1].kind == Kind::list && stack_[outer - 1].number == 1;
  traces_mark_ = on_list ? outer : 0;
  return mark;
}

const char* DumpMachine::text(const char* p, std::uint64_t n) {
  if (n > kMostTextBytes)
    fail(ErrorCode::limit,
         "text too long: " + std::to_string(n) + " bytes, expected at most " + std::to_string(kMostTextBytes),
         offset());
  need(p, n);
  const std::uint32_t row = texts_.intern(std::string_view(p, static_cast<std::size_t>(n)));
  if (row >= TraceSums::kMostRows) fail(ErrorCode::limit, "too many different texts", offset());
  push(Kind::text, row);
  return p + n;
}

/// Two's complement, little-endian.
const char* DumpMachine::long_integer(const char* p, std::uint64_t n) {
  if (n > 8) {
    // Zeros or ones that only repeat the sign are not looked at: no writer makes them.
    const std::uint64_t at = offset();
    if (!bytes_.skip(p, n)) truncated(at);
    op_ = p;
    push(Kind::big);
    return p;
  }
  need(p, n);
  std::uint64_t v = load(p, static_cast<std::size_t>(n));
  const unsigned unused = static_cast<unsigned>(64 - 8 * n) & 63U;
  v = static_cast<std::uint64_t>(static_cast<std::int64_t>(v << unused) >> unused);
  push(Kind::integer, 0, static_cast<std::int64_t>(v));
  return p + n;
}

/// "tracemalloc\nSnapshot\n"
const char* DumpMachine::global(const char* p) {
  const std::uint64_t at = offset();  // the window may move on within the names
  std::string names[2];
  for (std::string& name : names) {
    for (;; ++p) {
      if (p >= bytes_.end() && !bytes_.more(p, 1)) truncated(at);
      op_ = p;
      if (*p == '\n') break;
      if (name.size() == kMostNameBytes) fail_malformed("GLOBAL with a name of more than 256 bytes", at);
      name += *p;
    }
    ++p;
  }
  class_named(names[0], names[1], at);
  return p;
}

void DumpMachine::stack_global() {
  require(2, "STACK_GLOBAL");
  const Value name = stack_.back();
  const Value module = stack_[stack_.size() - 2];
  if (name.kind != Kind::text || module.kind != Kind::text) malformed("STACK_GLOBAL of values that are no text");
  stack_.resize(stack_.size() - 2);
  class_named(texts_[module.row], texts_[name.row], offset());
}

void DumpMachine::class_named(std::string_view module, std::string_view name, std::uint64_t at) {
  const bool snapshot = name == "Snapshot";
  if (module != "tracemalloc" || (!snapshot && name != "_Traces")) {
    std::string shown;
    for (const char c : std::string(module) + "." + std::string(name)) {
      if (shown.size() == 80) break;
      shown += c >= 0x20 && c < 0x7f ? c : '?';
    }
    fail(ErrorCode::unsupported,
         "unsafe pickle: global " + shown + " at byte " + std::to_string(at) +
             ", expected tracemalloc.Snapshot and tracemalloc._Traces only; nothing was imported or called",
         at);
  }
  push(Kind::global, snapshot ? 0 : 1);
}

void DumpMachine::new_object() {
  require(2, "NEWOBJ");
  const Value arguments = stack_.back();
  const Value type = stack_[stack_.size() - 2];
  if (type.kind != Kind::global) malformed("NEWOBJ of a value that is no class");
  if (arguments.kind != Kind::traceback || arguments.row != TraceSums::kNoFrames)
    malformed("NEWOBJ with arguments, expected an empty tuple");
  stack_.resize(stack_.size() - 2);
  push(Kind::instance, type.row);
}

void DumpMachine::build() {
  require(2, "BUILD");
  const Value state = stack_.back();
  stack_.pop_back();
  Value& object = stack_.back();
  if (object.kind != Kind::instance || object.number != 0) malformed("BUILD of a value that is no new object");
  if (state.kind != Kind::dict) malformed("BUILD with a state that is no dict");
  const Dict& dict = dicts_[state.row];
  if (object.row == 1 && !dict.has_trace_items) malformed("_Traces without _traces, expected a list of traces");
  if (object.row == 0 && !dict.has_traces)
    malformed("Snapshot without traces, expected an object of the class _Traces");
  if (object.row == 0) limit_ = dict.limit;
  object.number = 1;
}

void DumpMachine::put(std::uint64_t slot) {
  const Value& value = top();
  std::uint32_t code = 0;
  switch (value.kind) {
    case Kind::text: code = value.row << 3 | 1; break;
    case Kind::frame: code = value.row << 3 | 2; break;
    case Kind::traceback: code = value.row << 3 | 3; break;
    case Kind::global: code = value.row << 3 | 4; break;
    default: code = Memo::kNothing;
  }
  if (slot == memo_.size() && !memo_.has_far(slot)) {
    memo_.append(code);
    return;
  }
  if (slot < memo_.size() || memo_.has_far(slot))
    malformed("memo slot " + std::to_string(slot) + " written twice, expected each one once");
  if (!memo_.set_far(slot, code))
    malformed("memo index " + std::to_string(slot) + " far beyond the " + std::to_string(memo_.size()) +
              " slots in use, expected them in order");
}

void DumpMachine::get(std::uint64_t slot) {
  const std::uint32_t found = memo_.get(slot);
  const std::uint32_t row = found >> 3;
  switch (found & 7) {
    case 1: push(Kind::text, row); return;
    case 2: push(Kind::frame, row); return;
    case 3: push(Kind::traceback, row); return;
    case 4: push(Kind::global, row); return;
    case 7: malformed("memo slot " + std::to_string(slot) + " fetched before it was written");
    default: push(Kind::fetched);
  }
}

/// The list under the key _traces is the list of traces; every other one is of no interest.
void DumpMachine::open_list() {
  const bool traces =
      stack_.size() > floor() && stack_.back().kind == Kind::text && texts_[stack_.back().row] == "_traces";
  if (traces && have_traces_) malformed("a second list of traces, expected one");
  have_traces_ = have_traces_ || traces;
  push(Kind::list, 0, traces ? 1 : 0);
}

void DumpMachine::append(std::size_t list, std::size_t from) {
  const Value& target = stack_[list];
  if (target.kind != Kind::list) malformed("APPEND to a value that is no list of its own");
  if (target.number == 1) {
    for (std::size_t i = from; i < stack_.size(); ++i) {
      const Value& item = stack_[i];
      if (item.kind == Kind::taken) continue;
      if (item.kind != Kind::trace) malformed(wrong_trace(item));
      add_waiting(item);
    }
  }
  stack_.resize(from);
}

void DumpMachine::set_items(std::size_t dict, std::size_t from) {
  const Value& target = stack_[dict];
  if (target.kind != Kind::dict) malformed("SETITEM on a value that is no dict of its own");
  if ((stack_.size() - from) % 2 != 0) malformed("SETITEMS of a key without a value");
  for (std::size_t i = from; i < stack_.size(); i += 2) set_item(dicts_[target.row], stack_[i], stack_[i + 1]);
  stack_.resize(from);
}

void DumpMachine::set_item(Dict& dict, const Value& key, const Value& value) {
  if (key.kind != Kind::text) malformed("key of a dict that is no text");
  const std::string_view name = texts_[key.row];
  if (name == "_traces") {
    const bool empty = value.kind == Kind::traceback && value.row == TraceSums::kNoFrames;  // ()
    if (!empty && value.kind != Kind::traces && !(value.kind == Kind::list && value.number == 1))
      malformed("_traces of the wrong type, expected a list or tuple of traces");
    dict.has_trace_items = true;
  } else if (name == "traces") {
    if (value.kind != Kind::instance || value.row != 1 || value.number == 0)
      malformed("traces of the wrong type, expected an object of the class _Traces");
    dict.has_traces = true;
  } else if (name == "traceback_limit") {
    if (value.kind != Kind::integer || value.number < 0)
      malformed("traceback_limit of the wrong type, expected an int");
    dict.limit = value.number;
  } else {
    sums_.builder().notes().add(Severity::info, "attribute of the snapshot that is not known, not kept", offset());
  }
}

std::string DumpMachine::detail() const {
  std::string text = longest_trace_ == 4   ? "Python 3.9 or later, "
                     : longest_trace_ == 3 ? "Python 3.6 to 3.8, "
                     : longest_trace_ == 2 ? "Python 3.4 or 3.5, "
                                           : "";
  text += "pickle protocol " + std::to_string(protocol_);
  if (limit_ >= 0) text += ", at most " + std::to_string(limit_) + (limit_ == 1 ? " frame" : " frames") + " a stack";
  return text;
}

}  // namespace snapdiff::formats::tracemalloc
