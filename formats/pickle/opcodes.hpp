#pragma once

#include <array>

#include "formats/pickle/value.hpp"

namespace snapdiff::formats::pickle {

/// What is done with an opcode.
///   accepted     carried out
///   unsafe       could import or call something, or ask the program for an object
///   unsupported  harmless, but in no memory snapshot
///   unknown      no opcode of any protocol
enum class Treatment : std::uint8_t { accepted, unsafe, unsupported, unknown };

/// Bytes of the opcode's fixed argument; the first part of longer ones. 0 for refused opcodes.
struct OpcodeInfo {
  std::uint8_t opcode = 0;
  std::string_view name;
  Treatment treatment = Treatment::unknown;
  std::uint8_t argument_bytes = 0;
};

/// By opcode. Those that are carried out are those that CPython writes snapshots with (Lib/pickle.py).
inline constexpr std::array<OpcodeInfo, 256> kOpcodes = [] {
  using enum Treatment;
  constexpr OpcodeInfo kRows[] = {
      {0x28, "MARK", accepted, 0},
      {0x29, "EMPTY_TUPLE", accepted, 0},
      {0x2e, "STOP", accepted, 0},
      {0x47, "BINFLOAT", accepted, 8},
      {0x4a, "BININT", accepted, 4},
      {0x4b, "BININT1", accepted, 1},
      {0x4d, "BININT2", accepted, 2},
      {0x4e, "NONE", accepted, 0},
      {0x58, "BINUNICODE", accepted, 4},
      {0x5d, "EMPTY_LIST", accepted, 0},
      {0x61, "APPEND", accepted, 0},
      {0x64, "DICT", accepted, 0},
      {0x65, "APPENDS", accepted, 0},
      {0x68, "BINGET", accepted, 1},
      {0x6a, "LONG_BINGET", accepted, 4},
      {0x6c, "LIST", accepted, 0},
      {0x71, "BINPUT", accepted, 1},
      {0x72, "LONG_BINPUT", accepted, 4},
      {0x73, "SETITEM", accepted, 0},
      {0x74, "TUPLE", accepted, 0},
      {0x75, "SETITEMS", accepted, 0},
      {0x7d, "EMPTY_DICT", accepted, 0},
      {0x80, "PROTO", accepted, 1},
      {0x85, "TUPLE1", accepted, 0},
      {0x86, "TUPLE2", accepted, 0},
      {0x87, "TUPLE3", accepted, 0},
      {0x88, "NEWTRUE", accepted, 0},
      {0x89, "NEWFALSE", accepted, 0},
      {0x8a, "LONG1", accepted, 1},
      {0x8b, "LONG4", accepted, 4},
      {0x8c, "SHORT_BINUNICODE", accepted, 1},
      {0x8d, "BINUNICODE8", accepted, 8},
      {0x94, "MEMOIZE", accepted, 0},
      {0x95, "FRAME", accepted, 8},
      {'c', "GLOBAL", unsafe, 0},
      {0x93, "STACK_GLOBAL", unsafe, 0},
      {'R', "REDUCE", unsafe, 0},
      {'b', "BUILD", unsafe, 0},
      {'i', "INST", unsafe, 0},
      {'o', "OBJ", unsafe, 0},
      {0x81, "NEWOBJ", unsafe, 0},
      {0x92, "NEWOBJ_EX", unsafe, 0},
      {0x82, "EXT1", unsafe, 0},
      {0x83, "EXT2", unsafe, 0},
      {0x84, "EXT4", unsafe, 0},
      {'P', "PERSID", unsafe, 0},
      {'Q', "BINPERSID", unsafe, 0},
      {0x97, "NEXT_BUFFER", unsafe, 0},
      {0x98, "READONLY_BUFFER", unsafe, 0},
      {'0', "POP", unsupported, 0},
      {'1', "POP_MARK", unsupported, 0},
      {'2', "DUP", unsupported, 0},
      {'F', "FLOAT", unsupported, 0},
      {'I', "INT", unsupported, 0},
      {'L', "LONG", unsupported, 0},
      {'S', "STRING", unsupported, 0},
      {'T', "BINSTRING", unsupported, 0},
      {'U', "SHORT_BINSTRING", unsupported, 0},
      {'V', "UNICODE", unsupported, 0},
      {'g', "GET", unsupported, 0},
      {'p', "PUT", unsupported, 0},
      {'B', "BINBYTES", unsupported, 0},
      {'C', "SHORT_BINBYTES", unsupported, 0},
      {0x8e, "BINBYTES8", unsupported, 0},
      {0x8f, "EMPTY_SET", unsupported, 0},
      {0x90, "ADDITEMS", unsupported, 0},
      {0x91, "FROZENSET", unsupported, 0},
      {0x96, "BYTEARRAY8", unsupported, 0},
  };
  std::array<OpcodeInfo, 256> table{};
  for (const OpcodeInfo& row : kRows) table[row.opcode] = row;
  return table;
}();

constexpr const OpcodeInfo& opcode_info(std::uint8_t opcode) { return kOpcodes[opcode]; }

/// The opcode of this name; of one that is not in the table the compiler says so.
consteval std::uint8_t operator""_opcode(const char* name, std::size_t size) {
  std::size_t opcode = 0;
  while (kOpcodes[opcode].name != std::string_view(name, size)) ++opcode;
  return static_cast<std::uint8_t>(opcode);
}

/// For templates: clang 14 compiles a consteval call in one as a call at run time, of a function that is not there.
inline constexpr std::uint8_t kAppends = "APPENDS"_opcode, kDict = "DICT"_opcode, kProto = "PROTO"_opcode,
                              kStop = "STOP"_opcode, kTuple1 = "TUPLE1"_opcode;

/// "0x63"
inline std::string hex_byte(std::uint8_t byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  return {'0', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

/// Throws the Failure for an opcode that is not accepted.
[[noreturn]] inline void refuse(std::uint8_t opcode, std::uint64_t offset) {
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
