#include "formats/pickle/opcodes.hpp"

#include <array>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/value.hpp"

namespace snapdiff::formats::pickle {
namespace {

struct Row {
  std::uint8_t opcode;
  OpcodeInfo info;
};

constexpr auto accepted = Treatment::accepted;
constexpr auto unsafe = Treatment::unsafe;
constexpr auto unsupported = Treatment::unsupported;

constexpr Row kRows[] = {
    {kMark, {"MARK", accepted, 0}},
    {kEmptyTuple, {"EMPTY_TUPLE", accepted, 0}},
    {kStop, {"STOP", accepted, 0}},
    {kBinFloat, {"BINFLOAT", accepted, 8}},
    {kBinInt, {"BININT", accepted, 4}},
    {kBinInt1, {"BININT1", accepted, 1}},
    {kBinInt2, {"BININT2", accepted, 2}},
    {kNone, {"NONE", accepted, 0}},
    {kBinUnicode, {"BINUNICODE", accepted, 4}},
    {kEmptyList, {"EMPTY_LIST", accepted, 0}},
    {kAppend, {"APPEND", accepted, 0}},
    {kDict, {"DICT", accepted, 0}},
    {kAppends, {"APPENDS", accepted, 0}},
    {kBinGet, {"BINGET", accepted, 1}},
    {kLongBinGet, {"LONG_BINGET", accepted, 4}},
    {kList, {"LIST", accepted, 0}},
    {kBinPut, {"BINPUT", accepted, 1}},
    {kLongBinPut, {"LONG_BINPUT", accepted, 4}},
    {kSetItem, {"SETITEM", accepted, 0}},
    {kTuple, {"TUPLE", accepted, 0}},
    {kSetItems, {"SETITEMS", accepted, 0}},
    {kEmptyDict, {"EMPTY_DICT", accepted, 0}},
    {kProto, {"PROTO", accepted, 1}},
    {kTuple1, {"TUPLE1", accepted, 0}},
    {kTuple2, {"TUPLE2", accepted, 0}},
    {kTuple3, {"TUPLE3", accepted, 0}},
    {kNewTrue, {"NEWTRUE", accepted, 0}},
    {kNewFalse, {"NEWFALSE", accepted, 0}},
    {kLong1, {"LONG1", accepted, 1}},
    {kLong4, {"LONG4", accepted, 4}},
    {kShortBinUnicode, {"SHORT_BINUNICODE", accepted, 1}},
    {kBinUnicode8, {"BINUNICODE8", accepted, 8}},
    {kMemoize, {"MEMOIZE", accepted, 0}},
    {kFrame, {"FRAME", accepted, 8}},
    {'c', {"GLOBAL", unsafe, 0}},
    {0x93, {"STACK_GLOBAL", unsafe, 0}},
    {'R', {"REDUCE", unsafe, 0}},
    {'b', {"BUILD", unsafe, 0}},
    {'i', {"INST", unsafe, 0}},
    {'o', {"OBJ", unsafe, 0}},
    {0x81, {"NEWOBJ", unsafe, 0}},
    {0x92, {"NEWOBJ_EX", unsafe, 0}},
    {0x82, {"EXT1", unsafe, 0}},
    {0x83, {"EXT2", unsafe, 0}},
    {0x84, {"EXT4", unsafe, 0}},
    {'P', {"PERSID", unsafe, 0}},
    {'Q', {"BINPERSID", unsafe, 0}},
    {0x97, {"NEXT_BUFFER", unsafe, 0}},
    {0x98, {"READONLY_BUFFER", unsafe, 0}},
    {'0', {"POP", unsupported, 0}},
    {'1', {"POP_MARK", unsupported, 0}},
    {'2', {"DUP", unsupported, 0}},
    {'F', {"FLOAT", unsupported, 0}},
    {'I', {"INT", unsupported, 0}},
    {'L', {"LONG", unsupported, 0}},
    {'S', {"STRING", unsupported, 0}},
    {'T', {"BINSTRING", unsupported, 0}},
    {'U', {"SHORT_BINSTRING", unsupported, 0}},
    {'V', {"UNICODE", unsupported, 0}},
    {'g', {"GET", unsupported, 0}},
    {'p', {"PUT", unsupported, 0}},
    {'B', {"BINBYTES", unsupported, 0}},
    {'C', {"SHORT_BINBYTES", unsupported, 0}},
    {0x8e, {"BINBYTES8", unsupported, 0}},
    {0x8f, {"EMPTY_SET", unsupported, 0}},
    {0x90, {"ADDITEMS", unsupported, 0}},
    {0x91, {"FROZENSET", unsupported, 0}},
    {0x96, {"BYTEARRAY8", unsupported, 0}},
};

constexpr std::array<OpcodeInfo, 256> make_table() {
  std::array<OpcodeInfo, 256> table{};
  for (const Row& row : kRows) table[row.opcode] = row.info;
  return table;
}

constexpr std::array<OpcodeInfo, 256> kOpcodes = make_table();

}  // namespace

const OpcodeInfo& opcode_info(std::uint8_t opcode) { return kOpcodes[opcode]; }

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
