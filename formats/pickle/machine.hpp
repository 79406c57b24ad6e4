#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/memo.hpp"
#include "formats/pickle/opcodes.hpp"
#include "formats/pickle/pickle_bytes.hpp"
#include "formats/pickle/run_cache.hpp"
#include "formats/pickle/text_pool.hpp"
#include "formats/pickle/utf8.hpp"
#include "formats/pickle/value.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats::pickle {

struct MachineLimits {
  std::size_t stack_values = std::size_t{1} << 20;      ///< CPython's writer needs some 2000
  std::size_t marks = 64;                               ///< containers that are being filled
  std::size_t height = 64;                              ///< containers inside one another
  std::size_t text_bytes = std::size_t{1} << 20;        ///< of a text that the consumer wants
  std::size_t short_text_bytes = 64;                    ///< of one that it may not want, but could fetch later
  std::size_t short_text_total = std::size_t{8} << 20;  ///< of all those
};

/// Runs a pickle without making any object: containers are handed to the consumer piece by piece
/// while they are filled, and what remains of each on the stack and in the memo is a number.
/// Nothing is imported, called or executed.
///
/// A container has no end mark. It is complete when its parent takes it, when it is fetched from
/// the memo, or when the next one of its role begins; then close() is called, once. Where in the
/// tree a container is can be told when it is created, from what lies below it on the stack.
///
/// Consumer:
///   Role root_role(Kind)                     of the outermost container
///   Role child(Role, uint32_t key, Kind)     of a container under `key` (a row of the TextPool) of a
///                                            dict, or in a list (kNoKey); kNoRole: of no interest
///   bool gathers(Role)                       lists of records, which are taken one by one
///   bool takes_runs(Role)                    lists that are closed to handles; equal runs of fetches
///                                            of such are closed once
///   bool wants_text(Role, uint32_t key)      whether a text is kept, however long
///   void open(Role)                          a container begins; one of each role at a time
///   void field(Role, uint32_t key, const Value&)   key and value of a dict; closed containers come
///                                            as what close() made of them
///   void item(Role, const Value&)            the next item of a list
///   Value close(Role)                        a handle (role: class 0..2, bits: number below 2^29),
///                                            a pair, or lost
///   bool is_empty(Role)                      whether the open list of that role has no items yet
///   void reopen(Role, uint64_t number)       takes back close(), where items follow after all
///   void at(uint64_t offset)                 where in the input the next calls come from
///   void bad_text()                          a text was not UTF-8 and has been mended
template <class Consumer>
class Machine {
 public:
  Machine(Input& in, Pools& pools, Consumer& consumer, MachineLimits limits = {})
      : bytes_(in), pools_(pools), consumer_(consumer), limits_(limits) {
    stack_.reserve(4096);
  }

  /// Reads up to and including STOP. Throws ReadFailure.
  void run();

  /// Reads what lies behind STOP and counts the bytes that are not NUL.
  std::uint64_t drain();

  std::uint64_t offset() const { return bytes_.offset_of(op_); }
  const Memo& memo() const { return memo_; }
  int protocol() const { return protocol_; }

 private:
  struct Place {
    Role role = kNoRole;
    std::uint32_t key = kNoKey;
  };

  [[noreturn]] void malformed(const std::string& what) const { fail_malformed(what, offset()); }
  [[noreturn]] void truncated(std::uint64_t at) const {
    fail_malformed("truncated pickle: input ends at byte " + std::to_string(bytes_.offset_of(bytes_.end())) +
                       ", expected more up to a STOP",
                   at);
  }
  /// more() and skip() for the rest of an opcode. They move the window, and op_ with it.
  void need(const char*& p, std::uint64_t count) {
    if (static_cast<std::uint64_t>(bytes_.end() - p) >= count) return;
    const std::uint64_t at = offset();
    if (!bytes_.more(p, static_cast<std::size_t>(count))) truncated(at);
    op_ = p;
  }
  void pass_over(const char*& p, std::uint64_t count) {
    const std::uint64_t at = offset();
    if (!bytes_.skip(p, count)) truncated(at);
    op_ = p;
  }
  static std::uint64_t load(const char* p, std::size_t n) {
    std::uint64_t v = 0;
    std::memcpy(&v, p, n);
    return v;
  }
  static constexpr std::uint32_t code_of(std::uint32_t tag, std::uint64_t number) {
    return static_cast<std::uint32_t>(number << 3) | tag;
  }

  void push(const Value& value) {
    if (stack_.size() == limits_.stack_values)
      fail(ErrorCode::limit,
           "stack too deep: more than " + std::to_string(limits_.stack_values) + " values wait for their container",
           offset());
    stack_.push_back(value);
  }
  Value& top() {
    if (stack_.size() <= floor()) malformed("stack underflow: no value on the stack, expected one");
    return stack_.back();
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::size_t pop_mark() {
    if (marks_.empty()) malformed("no MARK on the stack, expected one");
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }

  void push_number(std::int64_t v) { push(make_value(Kind::integer, static_cast<std::uint64_t>(v))); }
  void push_long(const char* p, std::uint64_t n);
  const char* long4(const char* p);
  const char* text(const char* p, std::uint64_t n);
  std::uint32_t intern(std::string_view bytes);
  void frame(std::uint64_t length);

  void put(std::uint64_t slot);
  void get(std::uint64_t slot);
  std::uint32_t code(const Value& value) const;

  /// Role of a list that can be filled: also of one that was closed early, as lists of fetches are.
  static Role list_role(const Value& value) {
    if (!value.is_container()) return kNoRole;
    if (value.kind == Kind::list) return value.role;
    return value.kind == Kind::handle ? static_cast<Role>(value.bits >> 32) : kNoRole;
  }
  Place place(Kind kind) const;
  void push_container(Kind kind);
  void close(std::size_t at);
  void take(std::size_t at);
  void raise_height(Value& parent, const Value& child) const;
  Value& container(std::size_t at, Kind kind, std::string_view opcode);
  void append_items(std::size_t list, std::size_t from);
  void set_items(std::size_t dict, std::size_t from);
  void make_tuple(std::size_t from);
  const char* mark(const char* p);
  void appends();

  PickleBytes bytes_;
  Pools& pools_;
  Consumer& consumer_;
  MachineLimits limits_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  Memo memo_;
  RunCache runs_;
  std::string run_;  // the run of the list whose mark is open, "" when none
  std::uint64_t run_hash_ = 0;
  std::size_t run_mark_ = 0;
  std::array<std::uint32_t, 256> open_at_{};  // stack position + 1 of the open container of a role
  std::unordered_map<std::uint32_t, std::uint32_t, KeyedHash> mended_;
  std::size_t short_text_total_ = 0;
  const char* op_ = nullptr;
  std::uint64_t frame_end_ = 0;
  std::uint64_t frame_at_ = 0;
  int protocol_ = 0;
};

template <class Consumer>
void Machine<Consumer>::run() {
  const char* p = nullptr;
  if (!bytes_.more(p, 1)) fail_malformed("empty input: no bytes, expected a pickle", 0);
  op_ = p;
  if (static_cast<std::uint8_t>(*p) != kProto)
    malformed("not a pickle: first byte is " + hex_byte(static_cast<std::uint8_t>(*p)) +
              ", expected 0x80 (PROTO) of protocol 2 to 5");
  for (;;) {
    if (bytes_.end() - p < static_cast<std::ptrdiff_t>(PickleBytes::kPadding)) {
      if (!bytes_.ended()) bytes_.more(p, PickleBytes::kPadding);
      op_ = p;
      // Tail: what is behind the end can be read (zeros or the window's last bytes), not used.
      if (bytes_.ended() && bytes_.end() - p < static_cast<std::ptrdiff_t>(PickleBytes::kPadding)) {
        bytes_.more(p, PickleBytes::kPadding);
        op_ = p;
        if (p >= bytes_.end()) truncated(offset());
        const OpcodeInfo& info = opcode_info(static_cast<std::uint8_t>(*p));
        if (bytes_.end() - p < 1 + info.argument_bytes) truncated(offset());
      }
    }
    op_ = p;
    const auto opcode = static_cast<std::uint8_t>(*p++);
    switch (opcode) {
      case kBinGet:
        get(load(p, 1));
        p += 1;
        break;
      case kLongBinGet:
        get(load(p, 4));
        p += 4;
        break;
      case kMemoize: put(memo_.size()); break;
      case kBinInt1:
        push_number(static_cast<std::int64_t>(load(p, 1)));
        p += 1;
        break;
      case kBinInt2:
        push_number(static_cast<std::int64_t>(load(p, 2)));
        p += 2;
        break;
      case kBinInt:
        push_number(static_cast<std::int32_t>(static_cast<std::uint32_t>(load(p, 4))));
        p += 4;
        break;
      case kLong1: {
        const std::uint64_t n = load(p, 1);
        ++p;
        need(p, n);
        push_long(p, n);
        p += n;
        break;
      }
      case kMark: p = mark(p); break;
      case kEmptyDict: push_container(Kind::dict); break;
      case kEmptyList: push_container(Kind::list); break;
      case kSetItems: {
        const std::size_t from = pop_mark();
        if (from == 0) malformed("SETITEMS without a dict below its MARK");
        set_items(from - 1, from);
        break;
      }
      case kAppends: appends(); break;
      case kShortBinUnicode: {
        const std::uint64_t n = load(p, 1);
        p = text(p + 1, n);
        break;
      }
      case kBinUnicode: {
        const std::uint64_t n = load(p, 4);
        p = text(p + 4, n);
        break;
      }
      case kBinUnicode8: {
        const std::uint64_t n = load(p, 8);
        p = text(p + 8, n);
        break;
      }
      case kBinPut:
        put(load(p, 1));
        p += 1;
        break;
      case kLongBinPut:
        put(load(p, 4));
        p += 4;
        break;
      case kNone: push(make_value(Kind::none)); break;
      case kNewTrue: push(make_value(Kind::boolean, 1)); break;
      case kNewFalse: push(make_value(Kind::boolean, 0)); break;
      case kBinFloat: {
        std::uint64_t bits = load(p, 8);
        bits = __builtin_bswap64(bits);
        push(make_value(Kind::real, bits));
        p += 8;
        break;
      }
      case kLong4: p = long4(p); break;
      case kTuple2:
      case kTuple1:
      case kTuple3: {
        const std::size_t n = opcode - kTuple1 + 1U;
        if (stack_.size() < floor() + n) malformed("stack underflow: too few values for a tuple");
        make_tuple(stack_.size() - n);
        break;
      }
      case kEmptyTuple: push(make_value(Kind::tuple)); break;
      case kTuple:
      case kList:
      case kDict: {
        const std::size_t from = pop_mark();
        if (opcode == kDict && (stack_.size() - from) % 2 != 0) malformed("DICT of a key without a value");
        make_tuple(from);
        break;
      }
      case kAppend: {
        if (stack_.size() < floor() + 2) malformed("stack underflow: APPEND needs a list and an item");
        append_items(stack_.size() - 2, stack_.size() - 1);
        break;
      }
      case kSetItem: {
        if (stack_.size() < floor() + 3) malformed("stack underflow: SETITEM needs a dict, a key and a value");
        set_items(stack_.size() - 3, stack_.size() - 2);
        break;
      }
      case kProto: {
        protocol_ = static_cast<int>(load(p, 1));
        if (protocol_ < 2 || protocol_ > 5)
          fail(ErrorCode::unsupported,
               "unsupported pickle protocol: found " + std::to_string(protocol_) + ", expected 2 to 5", offset());
        p += 1;
        break;
      }
      case kFrame:
        frame(load(p, 8));
        p += 8;
        break;
      case kStop: {
        if (stack_.size() != 1 || !marks_.empty())
          malformed("STOP with " + std::to_string(stack_.size()) + " values on the stack, expected one");
        if (stack_[0].role == kNoRole || !stack_[0].is_container()) consumer_.root_role(stack_[0].kind);
        if (stack_[0].is_container()) take(0);
        op_ = p;
        return;
      }
      default: refuse(opcode, offset());
    }
  }
}

template <class Consumer>
std::uint64_t Machine<Consumer>::drain() {
  const char* p = op_;
  std::uint64_t other = 0;
  for (;;) {
    for (; p < bytes_.end(); ++p) other += *p != '\0' ? 1U : 0U;
    if (!bytes_.more(p, 1)) break;
  }
  op_ = p;
  if (frame_end_ > offset())
    fail_malformed("frame beyond the end: it should end at byte " + std::to_string(frame_end_) +
                       ", the input ends at byte " + std::to_string(offset()),
                   frame_at_);
  return other;
}

template <class Consumer>
void Machine<Consumer>::frame(std::uint64_t length) {
  const std::uint64_t begin = offset() + 9;
  if (length > (std::uint64_t{1} << 62)) malformed("frame of " + std::to_string(length) + " bytes: beyond any input");
  if (begin + length > frame_end_) {
    frame_end_ = begin + length;
    frame_at_ = offset();
  }
}

/// Two's complement, little-endian.
template <class Consumer>
void Machine<Consumer>::push_long(const char* p, std::uint64_t n) {
  if (n <= 8) {
    std::uint64_t v = n == 0 ? 0 : load(p, 8);
    const unsigned unused = static_cast<unsigned>(64 - 8 * n) & 63U;
    v = static_cast<std::uint64_t>(static_cast<std::int64_t>(v << unused) >> unused);
    push(make_value(Kind::integer, v));
    return;
  }
  const bool negative = (static_cast<std::uint8_t>(p[n - 1]) & 0x80) != 0;
  const char filler = negative ? '\xff' : '\0';
  bool fits = true;
  for (std::uint64_t i = 8; i < n; ++i) fits = fits && p[i] == filler;
  const std::uint64_t v = load(p, 8);
  const bool high = (v >> 63) != 0;
  if (!fits || (negative && !high)) {
    push(make_value(Kind::huge));
  } else {
    push(make_value(high && !negative ? Kind::big : Kind::integer, v));
  }
}

template <class Consumer>
const char* Machine<Consumer>::long4(const char* p) {
  const auto n = static_cast<std::int32_t>(static_cast<std::uint32_t>(load(p, 4)));
  if (n < 0) malformed("LONG4 of negative length: found " + std::to_string(n));
  p += 4;
  const auto size = static_cast<std::uint64_t>(n);
  if (n <= 255) {
    need(p, size);
    push_long(p, size);
    return p + size;
  }
  const char* q = p;
  pass_over(q, size);
  push(make_value(Kind::huge));
  return q;
}

template <class Consumer>
std::uint32_t Machine<Consumer>::intern(std::string_view bytes) {
  const std::size_t before = pools_.texts.size();
  const std::uint32_t row = pools_.texts.intern(bytes);
  if (row < before) {
    if (mended_.empty()) return row;
    const auto found = mended_.find(row);
    return found == mended_.end() ? row : found->second;
  }
  if (row >= (1U << 29)) fail(ErrorCode::limit, "too many different texts", offset());
  if (is_utf8(bytes)) return row;
  const std::uint32_t good = pools_.texts.intern(mended_utf8(bytes));
  mended_[row] = good;
  consumer_.bad_text();
  return good;
}

template <class Consumer>
const char* Machine<Consumer>::text(const char* p, std::uint64_t n) {
  bool wanted = true;
  if (n > limits_.short_text_bytes || short_text_total_ > limits_.short_text_total) {
    const Place at = place(Kind::text);
    wanted = at.role != kNoRole && at.key != kNoKey && consumer_.wants_text(at.role, at.key);
    if (wanted && n > limits_.text_bytes)
      fail(ErrorCode::limit,
           "text too long: " + std::to_string(n) + " bytes, expected at most " + std::to_string(limits_.text_bytes),
           offset());
  }
  if (static_cast<std::uint64_t>(bytes_.end() - p) < n) {
    if (!wanted) {
      pass_over(p, n);
      push(make_value(Kind::lost_text));
      return p;
    }
    need(p, n);
  }
  if (!wanted) {
    push(make_value(Kind::lost_text));
    return p + n;
  }
  const std::size_t before = pools_.texts.size();
  const std::uint32_t row = intern(std::string_view(p, static_cast<std::size_t>(n)));
  if (pools_.texts.size() != before && n <= limits_.short_text_bytes) short_text_total_ += n + 32;
  push(make_value(Kind::text, row));
  return p + n;
}

template <class Consumer>
std::uint32_t Machine<Consumer>::code(const Value& value) const {
  switch (value.kind) {
    case Kind::text: return code_of(1, value.bits);
    case Kind::pair: return code_of(2, value.bits);
    case Kind::handle: {
      const std::uint64_t number = value.bits & 0xffffffff;
      if (number >= (1U << 29) || value.role > 2) fail(ErrorCode::limit, "too many different stacks", offset());
      return code_of(3U + value.role, number);
    }
    default: return Memo::kNothing;
  }
}

template <class Consumer>
void Machine<Consumer>::put(std::uint64_t slot) {
  Value& value = top();
  std::uint32_t coded = 0;
  if (value.is_container()) {
    if (value.slot != kNoSlot) malformed("memoized twice: a container has a memo slot already");
    if (slot >= kNoSlot) fail(ErrorCode::limit, "too many memo slots: beyond 4294967294", offset());
    value.slot = static_cast<std::uint32_t>(slot);
    coded = code_of(6, static_cast<std::uint64_t>(&value - stack_.data()));
  } else {
    coded = code(value);
  }
  if (slot == memo_.size() && !memo_.has_far(slot)) {
    memo_.append(coded);
    return;
  }
  if (slot < memo_.size() || memo_.has_far(slot))
    malformed("memo slot " + std::to_string(slot) + " written twice, expected each one once");
  if (!memo_.set_far(slot, coded))
    malformed("memo index " + std::to_string(slot) + " far beyond the " + std::to_string(memo_.size()) +
              " slots in use, expected them in order");
}

template <class Consumer>
void Machine<Consumer>::get(std::uint64_t slot) {
  const std::uint32_t found = memo_.get(slot);
  const std::uint64_t number = found >> 3;
  switch (found & 7) {
    case 0: push(make_value(Kind::lost)); return;
    case 1: push(make_value(Kind::text, number)); return;
    case 2: push(make_value(Kind::pair, number)); return;
    case 6: {
      close(number);
      Value& open = stack_[number];
      open.flags |= kFetched;
      Value mention = open;
      mention.flags = 0;
      mention.slot = kNoSlot;
      if (mention.kind == Kind::dict || mention.kind == Kind::list) mention.kind = Kind::lost;
      push(mention);
      return;
    }
    case 7: malformed("memo slot " + std::to_string(slot) + " fetched before it was written");
    default: push(make_value(Kind::handle, number, static_cast<Role>((found & 7) - 3))); return;
  }
}

/// Where a value that is about to be pushed will go, as far as the stack tells.
template <class Consumer>
typename Machine<Consumer>::Place Machine<Consumer>::place(Kind kind) const {
  const std::size_t size = stack_.size();
  if (size == 0) return {};
  const Value& last = stack_.back();
  const bool marked = !marks_.empty() && marks_.back() > 0;
  const Value* base = marked ? &stack_[marks_.back() - 1] : nullptr;
  const std::size_t above = size - floor();
  if (above > 0 && last.kind == Kind::text) {
    const auto key = static_cast<std::uint32_t>(last.bits);
    if (base != nullptr && base->kind == Kind::dict && above % 2 == 1) return {base->role, key};
    if (above >= 2 && stack_[size - 2].kind == Kind::dict) return {stack_[size - 2].role, key};
    return {};
  }
  if (above > 0 && list_role(last) != kNoRole && consumer_.child(list_role(last), kNoKey, kind) != kNoRole)
    return {list_role(last), kNoKey};
  if (base != nullptr) return {list_role(*base), kNoKey};
  return {};
}

template <class Consumer>
void Machine<Consumer>::push_container(Kind kind) {
  Value value = make_value(kind);
  value.flags = kOwn;
  if (stack_.empty()) {
    value.role = consumer_.root_role(kind);
  } else {
    const Place at = place(kind);
    if (at.role != kNoRole) value.role = consumer_.child(at.role, at.key, kind);
    // Records that are complete make room for the next one, so that a list of ten million of them
    // in one batch (the C++ writer's) needs no more stack than one.
    if (at.key == kNoKey && value.role != kNoRole && !marks_.empty() && marks_.back() > 0 &&
        stack_.size() > marks_.back() && list_role(stack_[marks_.back() - 1]) == at.role &&
        consumer_.gathers(at.role)) {
      append_items(marks_.back() - 1, marks_.back());
    }
  }
  if (value.role != kNoRole) {
    std::uint32_t& open = open_at_[value.role];
    if (open != 0) close(open - 1);
    consumer_.at(offset());
    consumer_.open(value.role);
    open = static_cast<std::uint32_t>(stack_.size()) + 1;
  }
  push(value);
}

/// Tells the consumer that the container at `at` is complete, unless it knows.
template <class Consumer>
void Machine<Consumer>::close(std::size_t at) {
  Value& value = stack_[at];
  if ((value.flags & kClosed) != 0) return;
  value.flags |= kClosed;
  if (value.kind == Kind::list) value.flags |= kWasList;
  if (value.role == kNoRole) {
    value.kind = Kind::lost;
    return;
  }
  const Role role = value.role;
  if (open_at_[role] == at + 1) open_at_[role] = 0;
  consumer_.at(offset());
  const Value made = consumer_.close(role);
  value.kind = made.kind;
  value.bits = made.bits;
  if (made.kind == Kind::handle) {
    value.role = made.role;
    value.bits = made.bits | std::uint64_t{role} << 32;
  }
}

/// The container at `at` goes into another one.
template <class Consumer>
void Machine<Consumer>::take(std::size_t at) {
  close(at);
  Value& value = stack_[at];
  if (value.slot != kNoSlot) memo_.replace(value.slot, code(value));
}

template <class Consumer>
void Machine<Consumer>::raise_height(Value& parent, const Value& child) const {
  if (parent.height > child.height) return;
  parent.height = static_cast<std::uint8_t>(child.height + 1);
  if (parent.height > limits_.height)
    malformed("nested too deeply: " + std::to_string(parent.height) +
              " containers inside one another, expected at most " + std::to_string(limits_.height));
}

/// The container that is to be filled.
template <class Consumer>
Value& Machine<Consumer>::container(std::size_t at, Kind kind, std::string_view opcode) {
  Value& value = stack_[at];
  if (!value.is_container())
    malformed(std::string(opcode) + " on a value that is no " + (kind == Kind::list ? "list" : "dict") + " of its own");
  if ((value.flags & kFetched) != 0)
    malformed("shared before it was complete, or inside itself: " + std::string(opcode) +
              " on a container that has been fetched from the memo");
  // A list that repeats a known run is complete at once, where a window holds the run whole: that
  // must make no difference.
  if (kind == Kind::dict && (value.flags & kWasList) != 0)
    malformed(std::string(opcode) + " on a list, expected a dict");
  if ((value.flags & kClosed) != 0) {
    if (value.kind != Kind::handle || kind != Kind::list)
      malformed("changed after it was complete: " + std::string(opcode));
    const auto role = static_cast<Role>(value.bits >> 32);
    if (open_at_[role] != 0) close(open_at_[role] - 1);
    consumer_.reopen(role, value.bits & 0xffffffff);
    value.kind = Kind::list;
    value.role = role;
    value.flags = kOwn;
    value.bits = 0;
    open_at_[role] = static_cast<std::uint32_t>(at) + 1;
  }
  if (value.kind != kind)
    malformed(std::string(opcode) + " on a " + (value.kind == Kind::list ? "list" : "dict") + ", expected a " +
              (kind == Kind::list ? "list" : "dict"));
  return value;
}

template <class Consumer>
void Machine<Consumer>::append_items(std::size_t list, std::size_t from) {
  Value& parent = container(list, Kind::list, "APPEND");
  const Role role = parent.role;
  consumer_.at(offset());
  for (std::size_t i = from; i < stack_.size(); ++i) {
    Value& value = stack_[i];
    if (value.is_container()) {
      const bool fits = (value.flags & kClosed) != 0 ? value.kind == Kind::handle || value.role != kNoRole
                                                     : consumer_.child(role, kNoKey, value.kind) == value.role;
      take(i);
      raise_height(parent, value);
      if (role != kNoRole && !fits) value.kind = Kind::tuple;
    }
    if (role != kNoRole) consumer_.item(role, stack_[i]);
  }
  stack_.resize(from);
}

template <class Consumer>
void Machine<Consumer>::set_items(std::size_t dict, std::size_t from) {
  Value& parent = container(dict, Kind::dict, "SETITEM");
  if ((stack_.size() - from) % 2 != 0) malformed("SETITEMS of a key without a value");
  const Role role = parent.role;
  consumer_.at(offset());
  for (std::size_t i = from; i < stack_.size(); i += 2) {
    const Value& key = stack_[i];
    if (key.is_container()) {
      take(i);
      raise_height(parent, key);
    }
    const std::uint32_t name = key.kind == Kind::text ? static_cast<std::uint32_t>(key.bits) : kNoKey;
    Value& value = stack_[i + 1];
    if (value.is_container()) {
      const bool fits =
          (value.flags & kClosed) != 0 || (name != kNoKey && consumer_.child(role, name, value.kind) == value.role);
      take(i + 1);
      raise_height(parent, value);
      if (!fits) value.kind = Kind::tuple;
    }
    if (role != kNoRole) consumer_.field(role, name, value);
  }
  stack_.resize(from);
}

/// The values from `from` on become one tuple, or what stands for one.
template <class Consumer>
void Machine<Consumer>::make_tuple(std::size_t from) {
  Value tuple = make_value(Kind::tuple);
  const auto is_number = [](const Value& v) { return v.kind == Kind::integer || v.kind == Kind::boolean; };
  if (stack_.size() - from == 2 && is_number(stack_[from]) && is_number(stack_[from + 1])) {
    const std::uint32_t row = pools_.pairs.intern(
        {static_cast<std::int64_t>(stack_[from].bits), static_cast<std::int64_t>(stack_[from + 1].bits)});
    if (row != HashIndex::kAbsent) tuple = make_value(Kind::pair, row);
  }
  for (std::size_t i = from; i < stack_.size(); ++i) {
    if (stack_[i].is_container()) take(i);
    if (stack_[i].is_container() || stack_[i].kind == Kind::tuple) raise_height(tuple, stack_[i]);
  }
  stack_.resize(from);
  push(tuple);
}

template <class Consumer>
const char* Machine<Consumer>::mark(const char* p) {
  if (marks_.size() == limits_.marks)
    malformed("nested too deeply: more than " + std::to_string(limits_.marks) + " containers inside one another");
  marks_.push_back(stack_.size());
  run_.clear();
  if (stack_.empty()) return p;
  Value& list = stack_.back();
  if (list.kind != Kind::list || !list.is_container() || list.role == kNoRole || !consumer_.takes_runs(list.role) ||
      open_at_[list.role] != stack_.size() || !consumer_.is_empty(list.role))
    return p;
  if (bytes_.end() - p < static_cast<std::ptrdiff_t>(PickleBytes::kPadding)) return p;
  const char* q = p;
  const char* const last = bytes_.end() - static_cast<std::ptrdiff_t>(PickleBytes::kPadding);
  while (q < last) {
    if (*q == 'j') {
      q += 5;
    } else if (*q == 'h') {
      q += 2;
    } else {
      break;
    }
  }
  if (q >= last || q == p || static_cast<std::uint8_t>(*q) != kAppends) return p;
  const std::string_view run(p, static_cast<std::size_t>(q - p));
  const std::uint64_t hash = RunCache::hash_of(run);
  if (const RunCache::Entry* known = runs_.find(run, hash); known != nullptr) {
    marks_.pop_back();
    open_at_[list.role] = 0;
    list.bits = (known->bits & 0xffffffff) | std::uint64_t{list.role} << 32;
    list.kind = Kind::handle;
    list.role = static_cast<Role>(known->bits >> 32);
    list.flags |= kClosed;
    list.flags |= kWasList;
    list.height = 1;
    return q + 1;
  }
  run_.assign(run);
  run_hash_ = hash;
  run_mark_ = stack_.size();
  return p;
}

template <class Consumer>
void Machine<Consumer>::appends() {
  const std::size_t from = pop_mark();
  if (from == 0) malformed("APPENDS without a list below its MARK");
  append_items(from - 1, from);
  if (run_.empty() || run_mark_ != from) return;
  close(from - 1);
  const Value& list = stack_[from - 1];
  if (list.kind == Kind::handle) runs_.add(run_, run_hash_, (list.bits & 0xffffffff) | std::uint64_t{list.role} << 32);
  run_.clear();
}

}  // namespace snapdiff::formats::pickle
