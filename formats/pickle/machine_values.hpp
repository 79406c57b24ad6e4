#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/input/utf8.hpp"
#include "formats/pickle/machine_class.hpp"

/// Numbers and texts of a pickle, and what the memo keeps of them.
namespace snapdiff::formats::pickle {

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
