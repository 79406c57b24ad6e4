#pragma once

#include "formats/input/byte_window.hpp"
#include "formats/pickle/memo.hpp"
#include "formats/pickle/opcodes.hpp"
#include "formats/pickle/value_stack.hpp"

namespace snapdiff::formats::pickle {

/// Thrown where the input ends inside a pickle.
struct TruncatedPickle : Failure {};

/// Counts the bytes from `p` to the end that are not NUL: block devices and mail pad with those.
inline std::uint64_t count_rest(ByteWindow& bytes, const char*& p) {
  std::uint64_t other = 0;
  do {
    for (; p < bytes.end(); ++p) other += *p != '\0' ? 1U : 0U;
  } while (bytes.ensure(p, 1));
  return other;
}

/// Runs the opcodes of a pickle: arguments, stack, marks and memo, with all checks. What a value is, and what becomes
/// of it, is the policy `Self`, which derives from this. Nothing is imported, called or executed.
///
/// `Window` is ByteWindow, or a reference to one that goes on after the pickle.
///
/// Self, where `p` is after the opcode and what is returned after all that was read:
///   void integer(int64_t), boolean(bool), none(), big(uint64_t v) from 2^63 on, huge() beyond
///   const char* text(p, uint64_t n)        of n bytes
///   const char* mark(p), memoized(p)       after a MARK was set, after MEMOIZE
///   void popped()                          after a MARK was taken
///   void empty_list(), empty_dict(), make_tuple(size_t from)
///   void append(size_t list, size_t from), appends(size_t from), set_items(size_t dict, size_t from)
///   void frame(uint64_t length)
///   const char* other(p, uint8_t opcode)   any other opcode; refuses what it does not carry out
///   uint32_t memo_code(Value&, uint64_t slot), void fetched(uint32_t code)
template <class Self, class Value, class Window>
class OpcodeReader {
 public:
  std::uint64_t offset() const { return bytes_.offset_of(op_); }
  const Memo& memo() const { return memo_; }
  int protocol() const { return protocol_; }

 protected:
  template <class Source>
  OpcodeReader(Source& source, std::size_t most_values, std::size_t most_marks)
      : bytes_(source), stack_(4096), most_values_(most_values), most_marks_(most_marks) {}

  /// Reads from `p`, which is moved after the STOP. One value is left on the stack. Throws Failure.
  void run_opcodes(const char*& start) {
    begin(start);
    const char* p = start;  // in a register, since nothing else knows it
    for (;;) {
      look_ahead(p);
      op_ = p;
      const auto opcode = static_cast<std::uint8_t>(*p++);
      if (opcode == kStop) break;
      p = step(p, opcode);
    }
    start = p;
    if (stack_.size() != 1 || !marks_.empty())
      malformed("STOP with " + std::to_string(stack_.size()) + " values on the stack, expected one");
  }

  [[noreturn]] void malformed(const std::string& what) const { fail_malformed(what, offset()); }
  [[noreturn]] void truncated(std::uint64_t at) const {
    throw TruncatedPickle{{Error{ErrorCode::malformed,
                                 "truncated pickle: input ends at byte " +
                                     std::to_string(bytes_.offset_of(bytes_.end())) + ", expected more up to a STOP",
                                 at}}};
  }
  /// ensure() and skip() for the rest of an opcode. They move the window, and op_ with it.
  void need(const char*& p, std::uint64_t count) {
    if (static_cast<std::uint64_t>(bytes_.end() - p) >= count) return;
    const std::uint64_t at = offset();
    if (!bytes_.ensure(p, static_cast<std::size_t>(count))) truncated(at);
    op_ = p;
  }
  void pass_over(const char*& p, std::uint64_t count) {
    const std::uint64_t at = offset();
    if (!bytes_.skip(p, count)) truncated(at);
    op_ = p;
  }
  /// The `n` bytes at `p`, little-endian; `p` is moved after them.
  static std::uint64_t take(const char*& p, std::size_t n) {
    std::uint64_t v = 0;
    std::memcpy(&v, p, n);
    p += n;
    return v;
  }

  [[gnu::always_inline]] void push(Value value) {
    if (stack_.size() == most_values_) [[unlikely]]
      too_deep();
    stack_.push(value);
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  void require(std::size_t values, const char* opcode) const {
    if (stack_.size() < floor() + values) [[unlikely]]
      underflow(values, opcode);
  }
  std::size_t pop_mark() {
    if (marks_.empty()) malformed("no MARK on the stack, expected one");
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    self().popped();
    return mark;
  }
  /// The first value above the innermost MARK, which is taken; below it must be a container.
  std::size_t items_of(const char* opcode, const char* container) {
    const std::size_t from = pop_mark();
    if (from <= floor()) [[unlikely]]
      nothing_below(opcode, container);
    return from;
  }

  Window bytes_;
  ValueStack<Value> stack_;
  std::vector<std::size_t> marks_;
  Memo memo_;
  const char* op_ = nullptr;

 private:
  // Apart from what is called all the time: a message that is put together in line keeps a function from being inlined.
  [[noreturn, gnu::cold, gnu::noinline]] void too_deep() const {
    fail(ErrorCode::limit,
         "stack too deep: more than " + std::to_string(most_values_) + " values wait for their container", offset());
  }
  [[noreturn, gnu::cold, gnu::noinline]] void underflow(std::size_t values, const char* opcode) const {
    malformed("stack underflow: " + std::string(opcode) + " needs " + std::to_string(values) + " values, found " +
              std::to_string(stack_.size() - floor()));
  }
  [[noreturn, gnu::cold, gnu::noinline]] void nothing_below(const char* opcode, const char* container) const {
    malformed(std::string(opcode) + " without a " + container + " below its MARK");
  }
  [[noreturn, gnu::cold, gnu::noinline]] void not_written(std::uint64_t slot) const {
    malformed("memo slot " + std::to_string(slot) + " fetched before it was written");
  }

  Self& self() { return static_cast<Self&>(*this); }

  /// Sees to it that an opcode and its fixed argument can be read at `p`. Near the end of the input what lies after it
  /// can be read, not used.
  void look_ahead(const char*& p) {
    if (bytes_.ensure(p, ByteWindow::kPadding)) [[likely]]
      return;
    op_ = p;
    if (p >= bytes_.end()) truncated(offset());
    if (bytes_.end() - p < 1 + opcode_info(static_cast<std::uint8_t>(*p)).argument_bytes) truncated(offset());
  }

  void begin(const char*& p) {
    if (!bytes_.ensure(p, 1)) fail_malformed("empty input: no bytes, expected a pickle", bytes_.offset_of(p));
    op_ = p;
    const auto first = static_cast<std::uint8_t>(*p);
    if (first == kProto) return;
    if (opcode_info(first).treatment == Treatment::unsafe) refuse(first, offset());
    malformed("not a pickle: first byte is " + hex_byte(first) + ", expected 0x80 (PROTO) of protocol 2 to 5");
  }

  // A call for each opcode would cost a tenth of the time.
  [[gnu::always_inline]] inline const char* step(const char* p, std::uint8_t opcode) {
    switch (opcode) {
      case "BINGET"_opcode: get(take(p, 1)); break;
      case "LONG_BINGET"_opcode: get(take(p, 4)); break;
      case "MEMOIZE"_opcode: put(memo_.size()); return self().memoized(p);
      case "BININT1"_opcode: self().integer(static_cast<std::int64_t>(take(p, 1))); break;
      case "BININT2"_opcode: self().integer(static_cast<std::int64_t>(take(p, 2))); break;
      case "BININT"_opcode: self().integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(take(p, 4)))); break;
      case "LONG1"_opcode: return long_integer(p + 1, static_cast<std::uint8_t>(*p));
      case "LONG4"_opcode: {
        const auto n = static_cast<std::int32_t>(static_cast<std::uint32_t>(take(p, 4)));
        if (n < 0) malformed("LONG4 of negative length: found " + std::to_string(n));
        return long_integer(p, static_cast<std::uint64_t>(n));
      }
      case "MARK"_opcode: return mark(p);
      case "EMPTY_DICT"_opcode: self().empty_dict(); break;
      case "EMPTY_LIST"_opcode: self().empty_list(); break;
      case "SETITEMS"_opcode: {
        const std::size_t from = items_of("SETITEMS", "dict");
        self().set_items(from - 1, from);
        break;
      }
      case "APPENDS"_opcode: self().appends(items_of("APPENDS", "list")); break;
      case "SHORT_BINUNICODE"_opcode: return self().text(p + 1, static_cast<std::uint8_t>(*p));
      case "BINUNICODE"_opcode: {
        const std::uint64_t n = take(p, 4);
        return self().text(p, n);
      }
      case "BINUNICODE8"_opcode: {
        const std::uint64_t n = take(p, 8);
        return self().text(p, n);
      }
      case "BINPUT"_opcode: put(take(p, 1)); break;
      case "LONG_BINPUT"_opcode: put(take(p, 4)); break;
      case "NONE"_opcode: self().none(); break;
      case "NEWTRUE"_opcode: self().boolean(true); break;
      case "NEWFALSE"_opcode: self().boolean(false); break;
      case "EMPTY_TUPLE"_opcode: self().make_tuple(stack_.size()); break;
      case "TUPLE1"_opcode:
      case "TUPLE2"_opcode:
      case "TUPLE3"_opcode: {
        const std::size_t n = opcode - kTuple1 + 1U;
        require(n, "TUPLE");
        self().make_tuple(stack_.size() - n);
        break;
      }
      case "TUPLE"_opcode: self().make_tuple(pop_mark()); break;
      case "APPEND"_opcode:
        require(2, "APPEND");
        self().append(stack_.size() - 2, stack_.size() - 1);
        break;
      case "SETITEM"_opcode:
        require(3, "SETITEM");
        self().set_items(stack_.size() - 3, stack_.size() - 2);
        break;
      case "PROTO"_opcode: read_protocol(p); break;
      case "FRAME"_opcode: self().frame(take(p, 8)); break;
      default: return self().other(p, opcode);
    }
    return p;
  }

  void read_protocol(const char*& p) {
    protocol_ = static_cast<int>(take(p, 1));
    if (protocol_ >= 2 && protocol_ <= 5) return;
    fail(ErrorCode::unsupported, instead("unsupported pickle protocol", protocol_, "2 to 5"), offset());
  }

  const char* mark(const char* p) {
    if (marks_.size() == most_marks_)
      malformed("nested too deeply: more than " + std::to_string(most_marks_) + " containers inside one another");
    marks_.push_back(stack_.size());
    return self().mark(p);
  }

  /// Two's complement, little-endian. More than 255 bytes are not looked at.
  const char* long_integer(const char* p, std::uint64_t n) {
    if (n > 255) {
      pass_over(p, n);
      self().huge();
      return p;
    }
    need(p, n);
    const char* const behind = p + n;
    std::uint64_t v = take(p, n < 8 ? static_cast<std::size_t>(n) : 8);
    if (n <= 8) {
      const unsigned unused = static_cast<unsigned>(64 - 8 * n) & 63U;
      self().integer(static_cast<std::int64_t>(v << unused) >> unused);
      return behind;
    }
    const bool negative = (static_cast<std::uint8_t>(behind[-1]) & 0x80) != 0;
    bool fits = true;
    for (; p != behind; ++p) fits = fits && *p == (negative ? '\xff' : '\0');
    const bool high = (v >> 63) != 0;
    if (!fits || (negative && !high)) {
      self().huge();
    } else if (high && !negative) {
      self().big(v);
    } else {
      self().integer(static_cast<std::int64_t>(v));
    }
    return behind;
  }

  void put(std::uint64_t slot) {
    require(1, "a memo slot");
    const std::uint32_t code = self().memo_code(stack_.back(), slot);
    if (slot == memo_.size() && !memo_.has_far(slot)) return memo_.append(code);
    if (slot < memo_.size() || memo_.has_far(slot))
      malformed("memo slot " + std::to_string(slot) + " written twice, expected each one once");
    if (!memo_.set_far(slot, code))
      malformed("memo index " + std::to_string(slot) + " far beyond the " + std::to_string(memo_.size()) +
                " slots in use, expected them in order");
  }

  void get(std::uint64_t slot) {
    const std::uint32_t code = memo_.get(slot);
    if (code == Memo::kUnset) [[unlikely]]
      not_written(slot);
    self().fetched(code);
  }

  std::size_t most_values_;
  std::size_t most_marks_;
  int protocol_ = 0;
};

}  // namespace snapdiff::formats::pickle
