#include "formats/pickle/opcodes.hpp"

#include "formats/pickle/value.hpp"

namespace snapdiff::formats::pickle {

std::string hex_byte(std::uint8_t byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  return {'0', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

void refuse(std::uint8_t opcode, std::uint64_t offset) {
  const OpcodeInfo& info = kOpcodes[opcode];
  const std::string name = std::string(info.name) + " (" + hex_byte(opcode) + ")";
  switch (info.treatment) {
    case Treatment::unsafe:
      fail(ErrorCode::unsupported,
           "unsafe pickle: opcode " + name + " at byte " + std::to_string(offset) +
               ", expected plain data only; nothing was imported or called",
           offset);
    case Treatment::unsupported:
      fail(ErrorCode::unsupported,
           "unsupported pickle: opcode " + name + " at byte " + std::to_string(offset) +
               ", expected only what memory snapshots are written with",
           offset);
    default: fail_malformed("not an opcode: byte " + hex_byte(opcode) + ", expected a pickle opcode", offset);
  }
}

}  // namespace snapdiff::formats::pickle
