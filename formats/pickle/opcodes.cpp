#include "formats/pickle/opcodes.hpp"

#include <array>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/value.hpp"

namespace snapdiff::formats::pickle {
namespace {

using Table = std::array<OpcodeInfo, 256>;

constexpr Table make_table() {
  Table t{};
  const auto accept = [&t](std::uint8_t code, std::string_view name, std::uint8_t bytes = 0) {
    t[code] = {name, Treatment::accepted, bytes};
  };
  const auto refuse_as = [&t](Treatment treatment, std::uint8_t code, std::string_view name) {
    t[code] = {name, treatment, 0};
  };
  accept(kMark, "MARK");
  accept(kEmptyTuple, "EMPTY_TUPLE");
  accept(kStop, "STOP");
  accept(kBinFloat, "BINFLOAT", 8);
  accept(kBinInt, "BININT", 4);
  accept(kBinInt1, "BININT1", 1);
  accept(kBinInt2, "BININT2", 2);
  accept(kNone, "NONE");
  accept(kBinUnicode, "BINUNICODE", 4);
  accept(kEmptyList, "EMPTY_LIST");
  accept(kAppend, "APPEND");
  accept(kDict, "DICT");
  accept(kAppends, "APPENDS");
  accept(kBinGet, "BINGET", 1);
  accept(kLongBinGet, "LONG_BINGET", 4);
  accept(kList, "LIST");
  accept(kBinPut, "BINPUT", 1);
  accept(kLongBinPut, "LONG_BINPUT", 4);
  accept(kSetItem, "SETITEM");
  accept(kTuple, "TUPLE");
  accept(kSetItems, "SETITEMS");
  accept(kEmptyDict, "EMPTY_DICT");
  accept(kProto, "PROTO", 1);
  accept(kTuple1, "TUPLE1");
  accept(kTuple2, "TUPLE2");
  accept(kTuple3, "TUPLE3");
  accept(kNewTrue, "NEWTRUE");
  accept(kNewFalse, "NEWFALSE");
  accept(kLong1, "LONG1", 1);
  accept(kLong4, "LONG4", 4);
  accept(kShortBinUnicode, "SHORT_BINUNICODE", 1);
  accept(kBinUnicode8, "BINUNICODE8", 8);
  accept(kMemoize, "MEMOIZE");
  accept(kFrame, "FRAME", 8);

  const auto unsafe = [&](std::uint8_t code, std::string_view name) { refuse_as(Treatment::unsafe, code, name); };
  unsafe('c', "GLOBAL");
  unsafe(0x93, "STACK_GLOBAL");
  unsafe('R', "REDUCE");
  unsafe('b', "BUILD");
  unsafe('i', "INST");
  unsafe('o', "OBJ");
  unsafe(0x81, "NEWOBJ");
  unsafe(0x92, "NEWOBJ_EX");
  unsafe(0x82, "EXT1");
  unsafe(0x83, "EXT2");
  unsafe(0x84, "EXT4");
  unsafe('P', "PERSID");
  unsafe('Q', "BINPERSID");
  unsafe(0x97, "NEXT_BUFFER");
  unsafe(0x98, "READONLY_BUFFER");

  const auto other = [&](std::uint8_t code, std::string_view name) { refuse_as(Treatment::unsupported, code, name); };
  other('0', "POP");
  other('1', "POP_MARK");
  other('2', "DUP");
  other('F', "FLOAT");
  other('I', "INT");
  other('L', "LONG");
  other('S', "STRING");
  other('T', "BINSTRING");
  other('U', "SHORT_BINSTRING");
  other('V', "UNICODE");
  other('g', "GET");
  other('p', "PUT");
  other('B', "BINBYTES");
  other('C', "SHORT_BINBYTES");
  other(0x8e, "BINBYTES8");
  other(0x8f, "EMPTY_SET");
  other(0x90, "ADDITEMS");
  other(0x91, "FROZENSET");
  other(0x96, "BYTEARRAY8");
  return t;
}

constexpr Table kOpcodes = make_table();

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
