#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/memo.hpp"
#include "formats/pickle/pickle_bytes.hpp"
#include "formats/pickle/run_cache.hpp"
#include "formats/pickle/text_pool.hpp"
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

}  // namespace snapdiff::formats::pickle
