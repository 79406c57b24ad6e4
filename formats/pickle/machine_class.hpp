#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/pickle/opcode_reader.hpp"
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
/// tree a container is is known when it is created, from what lies below it on the stack.
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
///   void bad_text()                          a text was not UTF-8 and has been repaired
template <class Consumer>
class Machine : public OpcodeReader<Machine<Consumer>, Value, ByteWindow> {
  using Base = OpcodeReader<Machine<Consumer>, Value, ByteWindow>;
  friend Base;

 public:
  Machine(Input& in, Pools& pools, Consumer& consumer, MachineLimits limits = {})
      : Base(in, limits.stack_values, limits.marks), pools_(pools), consumer_(consumer), limits_(limits) {}

  /// Reads up to and including STOP. Throws ReadFailure.
  void run();

  /// Reads what lies after STOP and counts the bytes that are not NUL.
  std::uint64_t drain();

  using Base::offset;

 private:
  struct Place {
    Role role = kNoRole;
    std::uint32_t key = kNoKey;
  };

  using Base::bytes_;
  using Base::floor;
  using Base::malformed;
  using Base::marks_;
  using Base::memo_;
  using Base::need;
  using Base::op_;
  using Base::pass_over;
  using Base::push;
  using Base::stack_;
  static constexpr std::uint32_t code_of(std::uint32_t tag, std::uint64_t number) {
    return static_cast<std::uint32_t>(number << 3) | tag;
  }

  // What OpcodeReader asks for.
  void integer(std::int64_t v) { push(make_value(Kind::integer, static_cast<std::uint64_t>(v))); }
  void big(std::uint64_t v) { push(make_value(Kind::big, v)); }
  void huge() { push(make_value(Kind::huge)); }
  void boolean(bool v) { push(make_value(Kind::boolean, v ? 1 : 0)); }
  void none() { push(make_value(Kind::none)); }
  const char* text(const char* p, std::uint64_t n);
  void empty_list() { push_container(Kind::list); }
  void empty_dict() { push_container(Kind::dict); }
  void make_tuple(std::size_t from);
  void append(std::size_t list, std::size_t from);
  void appends(std::size_t from);
  void set_items(std::size_t dict, std::size_t from);
  const char* mark(const char* p);
  const char* memoized(const char* p) { return p; }
  void popped() {}
  void frame(std::uint64_t length);
  const char* other(const char* p, std::uint8_t opcode);
  std::uint32_t memo_code(Value& value, std::uint64_t slot);
  void fetched(std::uint32_t code);

  std::uint32_t intern(std::string_view bytes);
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

  Pools& pools_;
  Consumer& consumer_;
  MachineLimits limits_;
  RunCache runs_;
  std::string run_;  // the run of the list whose mark is open, "" when none
  std::uint64_t run_hash_ = 0;
  std::size_t run_mark_ = 0;
  std::array<std::uint32_t, 256> open_at_{};  // stack position + 1 of the open container of a role
  std::unordered_map<std::uint32_t, std::uint32_t, KeyedHash> repaired_;
  std::size_t short_text_total_ = 0;
  std::uint64_t frame_end_ = 0;
  std::uint64_t frame_at_ = 0;
};

}  // namespace snapdiff::formats::pickle
