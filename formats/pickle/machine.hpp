#pragma once

#include <cstdint>
#include <string>

#include "formats/pickle/machine_class.hpp"
#include "formats/pickle/machine_containers.hpp"
#include "formats/pickle/machine_values.hpp"
#include "formats/pickle/opcodes.hpp"

/// Runs the opcodes; machine_class.hpp says what is made of them.
namespace snapdiff::formats::pickle {

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

}  // namespace snapdiff::formats::pickle
