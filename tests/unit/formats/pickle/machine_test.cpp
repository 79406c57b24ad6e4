#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/machine.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats::pickle;
using test::MemoryInput;
using namespace std::string_literals;

namespace {

/// Writes what it is told as text. Roles: 1 a dict of anything, 2 a list of numbers and texts that
/// are closed to handles, 3 a list of dicts.
class Recorder {
 public:
  explicit Recorder(Pools& pools) : pools_(pools) {}
  Role root_role(Kind kind) { return kind == Kind::dict ? 1 : kind == Kind::list ? 3 : 0; }
  static Role child(Role parent, std::uint32_t key, Kind kind) {
    if (parent == 3) return key == kNoKey && kind == Kind::dict ? 4 : 0;
    if (parent != 1 && parent != 4) return 0;
    return key != kNoKey && kind == Kind::list ? 2 : 0;
  }
  static bool gathers(Role role) { return role == 3; }
  static bool takes_runs(Role role) { return role == 2; }
  bool is_empty(Role) const { return items_.empty(); }
  static bool wants_text(Role, std::uint32_t) { return true; }
  void open(Role role) {
    if (role == 2) items_.clear();
  }
  void field(Role, std::uint32_t key, const Value& value) {
    log += " " + (key == kNoKey ? "?"s : std::string(pools_.texts[key])) + "=" + text(value);
  }
  void item(Role role, const Value& value) {
    if (role == 2) items_ += text(value) + ",";
  }
  Value close(Role role) {
    if (role != 2) return make_value(Kind::lost, 0, role);
    lists.push_back(items_);
    items_.clear();
    return make_value(Kind::handle, lists.size() - 1, 1);
  }
  void reopen(Role, std::uint64_t number) { items_ = lists[number]; }
  void at(std::uint64_t) {}
  void bad_text() { ++bad_texts; }

  std::string log;
  std::vector<std::string> lists;
  int bad_texts = 0;

 private:
  std::string text(const Value& v) const {
    switch (v.kind) {
      case Kind::none: return "None";
      case Kind::boolean: return v.bits != 0 ? "True" : "False";
      case Kind::integer: return std::to_string(static_cast<std::int64_t>(v.bits));
      case Kind::big: return std::to_string(v.bits);
      case Kind::huge: return "huge";
      case Kind::real: return std::to_string(std::bit_cast<double>(v.bits));
      case Kind::text: return "'" + std::string(pools_.texts[static_cast<std::uint32_t>(v.bits)]) + "'";
      case Kind::pair:
        return "(" + std::to_string(pools_.pairs[v.bits].first) + "," + std::to_string(pools_.pairs[v.bits].second) +
               ")";
      case Kind::handle: return "[" + lists[v.bits & 0xffffffff] + "]";
      default: return "-";
    }
  }
  Pools& pools_;
  std::string items_;
};

struct Outcome {
  std::string log;
  Error error;
  bool failed = false;
  std::uint64_t behind = 0;
  int bad_texts = 0;
};

Outcome run(std::string_view bytes, std::size_t window = 0, MachineLimits limits = {}) {
  MemoryInput in(bytes, window);
  Pools pools;
  Recorder recorder(pools);
  Outcome out;
  try {
    Machine<Recorder> machine(in, pools, recorder, limits);
    machine.run();
    out.behind = machine.drain();
  } catch (const snapdiff::Failure& error) {
    out.error = error.error;
    out.failed = true;
  }
  out.log = recorder.log;
  out.bad_texts = recorder.bad_texts;
  return out;
}

const std::string kHead = "\x80\x04"s;

}  // namespace

TEST_CASE("machine: every kind of value reaches the consumer") {
  const std::string body =
      "}\x94("
      "\x8c\x01"
      "aK\x07"
      "\x8c\x01"
      "bM\x00\x01"
      "\x8c\x01"
      "cJ\xff\xff\xff\xff"
      "\x8c\x01"
      "d\x8a\x06\x00\x00\x00\x00\x00\x7f"
      "\x8c\x01"
      "e\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"
      "\x8c\x01"
      "f\x8a\x00"
      "\x8c\x01"
      "gG\x3f\xf8\x00\x00\x00\x00\x00\x00"
      "\x8c\x01"
      "hN"
      "\x8c\x01"
      "i\x88"
      "\x8c\x01"
      "jX\x02\x00\x00\x00hi"
      "\x8c\x01"
      "kK\x01K\x02\x86"
      "\x8c\x01"
      "l](K\x01K\x02"
      "e"
      "\x8c\x01"
      "m\x8a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
      "\x8c\x01"
      "n\x8b\x02\x00\x00\x00\x00\x80"
      "\x8c\x01"
      "o)u."s;
  for (const std::size_t window : std::vector<std::size_t>{0, 1, 16, 23}) {
    const Outcome out = run(kHead + body, window);
    CAPTURE(window, out.error.message);
    CHECK(out.log ==
          " a=7 b=256 c=-1 d=139637976727552 e=18446744073709551615 f=0 g=1.500000 h=None i=True j='hi' k=(1,2) "
          "l=[1,2,] m=huge n=-32768 o=-");
    CHECK_FALSE(out.failed);
  }
}

TEST_CASE("machine: lists are shared through the memo, runs of fetches are one step") {
  // Two texts in memo 1 and 2; the same run of fetches twice, then the list itself from the memo.
  const std::string body =
      "}\x94(\x8c\x01x\x94\x8c\x01y\x94"
      "\x8c\x01"
      "a](h\x01h\x02"
      "e"
      "\x8c\x01"
      "b]\x94(h\x01h\x02"
      "e"
      "\x8c\x01"
      "ch\x03"
      "\x8c\x01"
      "d]h\x01"
      "a"
      "u."s;
  const Outcome out = run(kHead + body + std::string(64, '\0'));
  CHECK(out.error.message == "");
  CHECK(out.log.find(" a=['x','y',] b=['x','y',] c=['x','y',] d=['x',]") != std::string::npos);
}

TEST_CASE("machine: a list in several batches is one list") {
  const Outcome good = run(kHead +
                           "}\x94(\x8c\x01x\x94K\x05\x8c\x01"
                           "a](h\x01h\x01"
                           "e(h\x01"
                           "eh\x01"
                           "a"
                           "\x8c\x01zK\x01u."s +
                           std::string(32, '\0'));
  CHECK(good.error.message == "");
  CHECK(good.log.find("a=['x','x','x','x',]") != std::string::npos);
}

TEST_CASE("machine: a list that begins with a known run can go on with a new record") {
  // As CPython writes a stack of 1001 frames the last of which is new: APPENDS, dict, APPEND.
  const std::string head =
      "}\x94(\x8c\x01x\x94K\x05\x8c\x01"
      "a](h\x01h\x01"
      "e\x8c\x01"
      "b](h\x01h\x01"
      "e";
  const Outcome out = run(kHead + head +
                          "h\x01"
                          "a\x8c\x01zK\x01u."s +
                          std::string(32, '\0'));
  CHECK(out.error.message == "");
  CHECK(out.log.find("a=['x','x',] b=['x','x','x',]") != std::string::npos);
}

TEST_CASE("machine: every opcode outside the list is refused by name and offset") {
  int refused = 0;
  for (unsigned code = 0; code < 256; ++code) {
    const OpcodeInfo& info = opcode_info(static_cast<std::uint8_t>(code));
    if (info.treatment == Treatment::accepted) continue;
    const Outcome out = run(kHead + "}"s + static_cast<char>(code) + std::string(40, '.'));
    CAPTURE(code, out.error.message);
    REQUIRE(out.failed);
    CHECK(out.error.offset == 3);
    if (info.treatment == Treatment::unsafe) {
      CHECK(out.error.code == ErrorCode::unsupported);
      CHECK(out.error.message.find("unsafe pickle: opcode " + std::string(info.name) + " ") == 0);
      CHECK(out.error.message.find("at byte 3") != std::string::npos);
    } else if (info.treatment == Treatment::unsupported) {
      CHECK(out.error.code == ErrorCode::unsupported);
      CHECK(out.error.message.find("unsupported pickle: opcode " + std::string(info.name) + " ") == 0);
    } else {
      CHECK(out.error.code == ErrorCode::malformed);
      CHECK(out.error.message.find(hex_byte(static_cast<std::uint8_t>(code))) != std::string::npos);
    }
    ++refused;
  }
  CHECK(refused == 256 - 34);
}

TEST_CASE("machine: the unsafe opcodes are those of the pickle format") {
  const std::vector<std::pair<unsigned, std::string>> unsafe = {
      {0x63, "GLOBAL"}, {0x93, "STACK_GLOBAL"}, {0x52, "REDUCE"},    {0x62, "BUILD"},       {0x69, "INST"},
      {0x6f, "OBJ"},    {0x81, "NEWOBJ"},       {0x92, "NEWOBJ_EX"}, {0x82, "EXT1"},        {0x83, "EXT2"},
      {0x84, "EXT4"},   {0x50, "PERSID"},       {0x51, "BINPERSID"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};
  for (const auto& [code, name] : unsafe) {
    CHECK(opcode_info(static_cast<std::uint8_t>(code)).treatment == Treatment::unsafe);
    CHECK(opcode_info(static_cast<std::uint8_t>(code)).name == name);
  }
}

TEST_CASE("machine: os.system is refused, nothing is called") {
  // pickle.dumps of an object whose __reduce__ gives (os.system, ("true",)), protocol 4.
  const std::string bytes =
      "\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94."s;
  const Outcome out = run(bytes);
  REQUIRE(out.failed);
  CHECK(out.error.message.find("unsafe pickle: opcode STACK_GLOBAL") == 0);
  CHECK(out.error.offset == 28);
}

TEST_CASE("machine: errors say what is wrong and where") {
  struct Case {
    std::string bytes;
    std::string message;
    std::uint64_t offset;
  };
  const std::string many_marks(100, '(');
  std::string deep = kHead + std::string(70, ']') + std::string(69, 'a') + ".";
  const std::vector<Case> cases = {
      {"", "empty input", 0},
      {"{\"segments\": []}", "not a pickle: first byte is 0x7b", 0},
      {"\x80\x01}."s, "unsupported pickle protocol: found 1, expected 2 to 5", 0},
      {"\x80\x06}."s, "unsupported pickle protocol: found 6", 0},
      {"\x80"s, "truncated pickle", 0},
      {kHead + "}", "truncated pickle: input ends at byte 3", 3},
      {kHead + "K", "truncated pickle", 2},
      {kHead + "}\x8c\x05"
               "ab"s,
       "truncated pickle", 3},
      {kHead + "a.", "stack underflow", 2},
      {kHead + "]a.", "stack underflow", 3},
      {kHead + "}K\x01s.", "stack underflow", 5},
      {kHead + "e.", "no MARK", 2},
      {kHead + "u.", "no MARK", 2},
      {kHead + "(e.", "APPENDS without a list", 3},
      {kHead + "](K\x01u.", "SETITEM on a list, expected a dict", 6},
      {kHead + "}(K\x01"
               "e.",
       "APPEND on a dict, expected a list", 6},
      {kHead + "}(K\x01u.", "SETITEMS of a key without a value", 6},
      {kHead + "K\x01(K\x01"
               "e.",
       "APPEND on a value", 7},
      {kHead + "}}.", "STOP with 2 values", 4},
      {kHead + "}(.", "STOP with 1 values", 4},
      {kHead + ".", "STOP with 0 values", 2},
      {kHead + "h\x07.", "memo slot 7 fetched before it was written", 2},
      {kHead + "](K\x01]\x94h\x00"
               "ae."s,
       "inside itself", 10},
      {kHead + "\x86.", "stack underflow", 2},
      {kHead + "\x8b\xff\xff\xff\xff.", "LONG4 of negative length: found -1", 2},
      {kHead + "}\x94q\x00."s, "memoized twice", 4},
      {kHead + "\x8c\x01"
               "aq\x00\x8c\x01"
               "bq\x00."s,
       "memo slot 0 written twice", 10},
      {kHead + many_marks, "nested too deeply", 66},
      {deep, "nested too deeply", 136},
      {kHead + "\x95\x40\x00\x00\x00\x00\x00\x00\x00}."s,
       "frame beyond the end: it should end at byte 75, the input ends at byte 13", 2},
  };
  for (const Case& c : cases) {
    const Outcome out = run(c.bytes);
    CAPTURE(c.message, out.error.message, c.bytes.size());
    CHECK(out.failed);
    CHECK(out.error.message.find(c.message) != std::string::npos);
    CHECK(out.error.offset.value_or(9999) == c.offset);
  }
}

TEST_CASE("machine: a list put into itself is refused") {
  CHECK(run(kHead + "](K\x01]\x94h\x00"
                    "ae."s)
            .failed);
  const Outcome out = run(kHead +
                          "]\x94(h\x00"
                          "e."s);
  CHECK(out.failed);
  CHECK(out.error.message.find("inside itself") != std::string::npos);
}

TEST_CASE("machine: five bytes do not buy a memo of gigabytes") {
  const Outcome out = run(kHead + "}r\xfe\xff\xff\xff."s);
  CHECK_FALSE(out.failed);  // one slot out of order is harmless
  std::string many = kHead + "]";
  for (unsigned i = 0; i < 100'000; ++i) {
    const unsigned index = 1'000'000 + i * 7;
    many += "Nr"s;
    for (unsigned b = 0; b < 4; ++b) many += static_cast<char>(index >> (8 * b) & 0xff);
    many += "a";
  }
  const Outcome refused = run(many + ".");
  REQUIRE(refused.failed);
  CHECK(refused.error.message.find("far beyond") != std::string::npos);
}

TEST_CASE("machine: expansion by sharing costs nothing") {
  // l0 = []; l1 = [l0, l0]; l2 = [l1, l1]; ... : 2^60 lists if they were expanded.
  std::string bytes = kHead + "](";
  bytes += "]\x94";
  for (unsigned i = 1; i < 60; ++i) {
    bytes += "]\x94(h"s + static_cast<char>(i - 1) + "h"s + static_cast<char>(i - 1) + "e"s;
  }
  const Outcome out = run(bytes + "e.");
  CHECK_FALSE(out.failed);
}

TEST_CASE("machine: values that wait for a container are limited") {
  MachineLimits limits;
  limits.stack_values = 1000;
  const Outcome out = run(kHead + "](" + std::string(2000, 'N') + "e.", 0, limits);
  REQUIRE(out.failed);
  CHECK(out.error.code == ErrorCode::limit);
}

TEST_CASE("machine: records of a list in one batch need no stack") {
  MachineLimits limits;
  limits.stack_values = 100;
  std::string bytes = kHead + "](";
  for (int i = 0; i < 5000; ++i)
    bytes +=
        "}(\x8c\x01"
        "aK\x01u";
  CHECK_FALSE(run(bytes + "e.", 0, limits).failed);
}

TEST_CASE("machine: bytes that are no UTF-8 are replaced and counted") {
  const Outcome out = run(kHead +
                          "}(\x8c\x02"
                          "a\xffK\x01\x8c\x02"
                          "a\xffK\x02u."s);
  CHECK(out.log == " a\xef\xbf\xbd=1 a\xef\xbf\xbd=2");
  CHECK(out.bad_texts == 1);
}

TEST_CASE("machine: NULs behind STOP are nothing, other bytes are counted") {
  CHECK(run(kHead + "}.\0\0\0"s).behind == 0);
  CHECK(run(kHead + "}.\0x\0yz"s).behind == 3);
}

TEST_CASE("machine: text that is wanted has a limit") {
  MachineLimits limits;
  limits.text_bytes = 100;
  std::string text(200, 't');
  const Outcome out = run(kHead +
                              "}(\x8c\x01"
                              "a\x8c\xc8"s +
                              text + "u.",
                          0, limits);
  REQUIRE(out.failed);
  CHECK(out.error.code == ErrorCode::limit);
}
