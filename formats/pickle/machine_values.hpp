#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/pickle/machine_class.hpp"
#include "formats/pickle/utf8.hpp"

/// Numbers and texts of a pickle, and what the memo keeps of them.
namespace snapdiff::formats::pickle {

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

}  // namespace snapdiff::formats::pickle
