#pragma once

#include "formats/input/utf8.hpp"
#include "formats/pickle/machine_class.hpp"

namespace snapdiff::formats::pickle {

template <class Consumer>
void Machine<Consumer>::run() {
  const char* p = nullptr;
  Base::run_opcodes(p);
  if (stack_[0].role == kNoRole || !stack_[0].is_container()) consumer_.root_role(stack_[0].kind);
  if (stack_[0].is_container()) take(0);
  op_ = p;
}

template <class Consumer>
const char* Machine<Consumer>::other(const char* p, std::uint8_t opcode) {
  switch (opcode) {
    case "BINFLOAT"_opcode: push(make_value(Kind::real, __builtin_bswap64(Base::take(p, 8)))); return p;
    case "LIST"_opcode:
    case "DICT"_opcode: {
      const std::size_t from = Base::pop_mark();
      if (opcode == kDict && (stack_.size() - from) % 2 != 0) malformed("DICT of a key without a value");
      make_tuple(from);
      return p;
    }
    default: refuse(opcode, offset());
  }
}

template <class Consumer>
std::uint64_t Machine<Consumer>::drain() {
  const std::uint64_t other = count_rest(bytes_, op_);
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

template <class Consumer>
std::uint32_t Machine<Consumer>::intern(std::string_view bytes) {
  const std::size_t before = pools_.texts.size();
  const std::uint32_t row = pools_.texts.intern(bytes);
  if (row < before) {
    if (repaired_.empty()) return row;
    const auto found = repaired_.find(row);
    return found == repaired_.end() ? row : found->second;
  }
  if (row >= (1U << 29)) fail(ErrorCode::limit, "too many different texts", offset());
  if (is_utf8(bytes)) return row;
  const std::uint32_t good = pools_.texts.intern(repaired_utf8(bytes));
  repaired_[row] = good;
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
std::uint32_t Machine<Consumer>::memo_code(Value& value, std::uint64_t slot) {
  if (!value.is_container()) return code(value);
  if (value.slot != kNoSlot) malformed("memoized twice: a container has a memo slot already");
  if (slot >= kNoSlot) fail(ErrorCode::limit, "too many memo slots: beyond 4294967294", offset());
  value.slot = static_cast<std::uint32_t>(slot);
  return code_of(6, static_cast<std::uint64_t>(&value - stack_.data()));
}

template <class Consumer>
void Machine<Consumer>::fetched(std::uint32_t code) {
  const std::uint64_t number = code >> 3;
  switch (code & 7) {
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
    default: push(make_value(Kind::handle, number, static_cast<Role>((code & 7) - 3))); return;
  }
}

}  // namespace snapdiff::formats::pickle
