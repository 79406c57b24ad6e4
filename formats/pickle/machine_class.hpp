#pragma once

#include "formats/pickle/opcode_reader.hpp"
#include "formats/pickle/run_cache.hpp"
#include "formats/pickle/text_pool.hpp"

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

  /// Reads up to and including STOP. Throws Failure.
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

  /// The values from `from` on become one tuple, or what stands for one.
  void make_tuple(std::size_t from) {
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
    stack_.shrink_to(from);
    push(tuple);
  }

  void append(std::size_t list, std::size_t from) {
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
    stack_.shrink_to(from);
  }

  void appends(std::size_t from) {
    append(from - 1, from);
    if (run_.empty() || run_mark_ != from) return;
    close(from - 1);
    const Value& list = stack_[from - 1];
    if (list.kind == Kind::handle)
      runs_.add(run_, run_hash_, (list.bits & 0xffffffff) | std::uint64_t{list.role} << 32);
    run_.clear();
  }

  void set_items(std::size_t dict, std::size_t from) {
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
    stack_.shrink_to(from);
  }

  const char* mark(const char* p) {
    run_.clear();
    if (stack_.empty()) return p;
    Value& list = stack_.back();
    if (list.kind != Kind::list || !list.is_container() || list.role == kNoRole || !consumer_.takes_runs(list.role) ||
        open_at_[list.role] != stack_.size() || !consumer_.is_empty(list.role))
      return p;
    if (bytes_.end() - p < static_cast<std::ptrdiff_t>(ByteWindow::kPadding)) return p;
    const char* q = p;
    const char* const last = bytes_.end() - static_cast<std::ptrdiff_t>(ByteWindow::kPadding);
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

  /// Where a value that is about to be pushed will go, as far as the stack says.
  Place place(Kind kind) const {
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

  void push_container(Kind kind) {
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
          consumer_.gathers(at.role))
        append(marks_.back() - 1, marks_.back());
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

  /// Reports to the consumer that the container at `at` is complete, unless it knows.
  void close(std::size_t at) {
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
  void take(std::size_t at) {
    close(at);
    Value& value = stack_[at];
    if (value.slot != kNoSlot) memo_.replace(value.slot, code(value));
  }

  void raise_height(Value& parent, const Value& child) const {
    if (parent.height > child.height) return;
    parent.height = static_cast<std::uint8_t>(child.height + 1);
    if (parent.height > limits_.height)
      malformed("nested too deeply: " + std::to_string(parent.height) +
                " containers inside one another, expected at most " + std::to_string(limits_.height));
  }

  /// The container that is to be filled.
  Value& container(std::size_t at, Kind kind, std::string_view opcode) {
    Value& value = stack_[at];
    if (!value.is_container())
      malformed(std::string(opcode) + " on a value that is no " + (kind == Kind::list ? "list" : "dict") +
                " of its own");
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
