#include "formats/tracemalloc/dump_machine.hpp"

namespace snapdiff::formats::tracemalloc {

using namespace pickle;

namespace {

// Of no other pickle that this project reads.

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

void DumpMachine::run(const char*& p) {
  run_opcodes(p);
  const Value& root = stack_[0];
  if (root.kind != Kind::instance || root.row != 0 || root.number == 0)
    malformed("not a dump: the pickle holds no tracemalloc.Snapshot with traces, expected what Snapshot.dump() writes");
}

const char* DumpMachine::mark(const char* p) {
  const std::size_t at = stack_.size();
  const std::size_t outer = marks_.size() < 2 ? 0 : marks_[marks_.size() - 2];
  const bool on_traces = at > outer && is_traces_list(at - 1);
  traces_mark_ = on_traces ? at : 0;
  return on_traces ? take_traces(p) : p;
}

/// Inside the list of traces again, where the mark was that of a trace.
void DumpMachine::popped() {
  const std::size_t outer = floor();
  traces_mark_ = outer > 0 && is_traces_list(outer - 1) ? outer : 0;
}

const char* DumpMachine::other(const char* p, std::uint8_t opcode) {
  switch (opcode) {
    case "GLOBAL"_opcode: return global(p);
    case "STACK_GLOBAL"_opcode: stack_global(); return p;
    case "NEWOBJ"_opcode: new_object(); return p;
    case "BUILD"_opcode: build(); return p;
    default: refuse_here(opcode, offset());
  }
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

/// "tracemalloc\nSnapshot\n"
const char* DumpMachine::global(const char* p) {
  const std::uint64_t at = offset();  // the window may move on within the names
  std::string names[2];
  for (std::string& name : names) {
    for (;; ++p) {
      if (p >= bytes_.end() && !bytes_.ensure(p, 1)) truncated(at);
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
  stack_.shrink_to(stack_.size() - 2);
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
  stack_.shrink_to(stack_.size() - 2);
  push(Kind::instance, type.row);
}

void DumpMachine::build() {
  require(2, "BUILD");
  const Value state = stack_.back();
  stack_.pop();
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

std::uint32_t DumpMachine::memo_code(const Value& value, std::uint64_t /*slot*/) {
  switch (value.kind) {
    case Kind::text: return value.row << 3 | 1;
    case Kind::frame: return value.row << 3 | 2;
    case Kind::traceback: return value.row << 3 | 3;
    case Kind::global: return value.row << 3 | 4;
    default: return Memo::kNothing;
  }
}

void DumpMachine::fetched(std::uint32_t code) {
  constexpr std::array<Kind, 8> kKinds{Kind::fetched, Kind::text,    Kind::frame,   Kind::traceback,
                                       Kind::global,  Kind::fetched, Kind::fetched, Kind::fetched};
  push(kKinds[code & 7], code >> 3);
}

void DumpMachine::empty_dict() {
  if (dicts_.size() == kMostDicts) malformed("more than " + std::to_string(kMostDicts) + " dicts, expected 2");
  push(Kind::dict, static_cast<std::uint32_t>(dicts_.size()));
  dicts_.emplace_back();
}

/// The list under the key _traces is the list of traces; every other one is of no interest.
void DumpMachine::empty_list() {
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
  stack_.shrink_to(from);
}

void DumpMachine::set_items(std::size_t dict, std::size_t from) {
  const Value& target = stack_[dict];
  if (target.kind != Kind::dict) malformed("SETITEM on a value that is no dict of its own");
  if ((stack_.size() - from) % 2 != 0) malformed("SETITEMS of a key without a value");
  for (std::size_t i = from; i < stack_.size(); i += 2) set_item(dicts_[target.row], stack_[i], stack_[i + 1]);
  stack_.shrink_to(from);
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
  text += "pickle protocol " + std::to_string(protocol());
  if (limit_ >= 0) text += ", at most " + std::to_string(limit_) + (limit_ == 1 ? " frame" : " frames") + " a stack";
  return text;
}

}  // namespace snapdiff::formats::tracemalloc
