#pragma once

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::pickle {

/// What lies on the machine's stack in place of a Python object.
enum class Kind : std::uint8_t {
  none,
  boolean,    ///< bits is 0 or 1
  integer,    ///< bits is the number, signed
  big,        ///< bits is the number, unsigned, 2^63 at least
  huge,       ///< an integer of more than 64 bits; its digits were dropped
  real,       ///< bits is an IEEE 754 double
  text,       ///< bits is a row of the TextPool
  lost_text,  ///< a text that was not kept, being long and of no interest to the consumer
  pair,       ///< a tuple of two integers; bits is a row of the PairPool
  tuple,      ///< any other tuple
  dict,       ///< open: its parent has not taken it yet
  list,       ///< open
  handle,     ///< what the consumer made of a container; role is its class, bits its number
  lost,       ///< a container that was taken and dropped
};

/// Place of a container in the tree, as the consumer names it. 0: of no interest.
using Role = std::uint8_t;
inline constexpr Role kNoRole = 0;

inline constexpr std::uint32_t kNoSlot = 0xffffffff;
inline constexpr std::uint32_t kNoKey = 0xffffffff;  ///< no text in the place of a key
inline constexpr std::uint8_t kFetched = 1;          ///< a container that was also put elsewhere, from the memo
inline constexpr std::uint8_t kOwn = 2;              ///< the container itself, not another mention of it
inline constexpr std::uint8_t kClosed = 4;           ///< the consumer knows that it is complete
inline constexpr std::uint8_t kWasList = 8;          ///< complete, and a list before

/// 16 bytes. `slot` is the memo slot of a container that is still open, `height` how deeply
/// containers nest in it.
struct Value {
  Kind kind = Kind::none;
  Role role = kNoRole;
  std::uint8_t flags = 0;
  std::uint8_t height = 0;
  std::uint32_t slot = kNoSlot;
  std::uint64_t bits = 0;

  bool is_container() const { return (flags & kOwn) != 0; }
};

inline Value make_value(Kind kind, std::uint64_t bits = 0, Role role = kNoRole) {
  return {.kind = kind, .role = role, .bits = bits};
}

}  // namespace snapdiff::formats::pickle
