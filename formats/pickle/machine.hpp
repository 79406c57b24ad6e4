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
  Base::run_opcodes(p);
  if (stack_[0].role == kNoRole || !stack_[0].is_container()) consumer_.root_role(stack_[0].kind);
  if (stack_[0].is_container()) take(0);
  op_ = p;
}

template <class Consumer>
const char* Machine<Consumer>::other(const char* p, std::uint8_t opcode) {
  switch (opcode) {
    case kBinFloat: push(make_value(Kind::real, __builtin_bswap64(Base::take(p, 8)))); return p;
    case kList:
    case kDict: {
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

}  // namespace snapdiff::formats::pickle
