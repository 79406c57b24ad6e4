#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace snapdiff::formats::pickle {

/// Opcodes that are carried out (CPython Lib/pickle.py); every other one is refused.
enum Opcode : std::uint8_t {
  kMark = 0x28,
  kEmptyTuple = 0x29,
  kStop = 0x2e,
  kBinFloat = 0x47,
  kBinInt = 0x4a,
  kBinInt1 = 0x4b,
  kBinInt2 = 0x4d,
  kNone = 0x4e,
  kBinUnicode = 0x58,
  kEmptyList = 0x5d,
  kAppend = 0x61,
  kDict = 0x64,
  kAppends = 0x65,
  kBinGet = 0x68,
  kLongBinGet = 0x6a,
  kList = 0x6c,
  kBinPut = 0x71,
  kLongBinPut = 0x72,
  kSetItem = 0x73,
  kTuple = 0x74,
  kSetItems = 0x75,
  kEmptyDict = 0x7d,
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kMemoize = 0x94,
  kFrame = 0x95,
};

/// What is done with an opcode.
///   accepted     carried out
///   unsafe       could import or call something, or ask the program for an object
///   unsupported  harmless, but in no memory snapshot
///   unknown      no opcode of any protocol
enum class Treatment : std::uint8_t { accepted, unsafe, unsupported, unknown };

/// Bytes of the opcode's fixed argument; the first part of longer ones. 0 for refused opcodes.
struct OpcodeInfo {
  std::string_view name;
  Treatment treatment = Treatment::unknown;
  std::uint8_t argument_bytes = 0;
};

const OpcodeInfo& opcode_info(std::uint8_t opcode);

/// Throws the ReadFailure for an opcode that is not accepted.
[[noreturn]] void refuse(std::uint8_t opcode, std::uint64_t offset);

/// "0x63"
std::string hex_byte(std::uint8_t byte);

}  // namespace snapdiff::formats::pickle
