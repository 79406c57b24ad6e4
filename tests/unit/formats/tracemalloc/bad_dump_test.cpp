#include <set>

#include "formats/input/all_formats.hpp"
#include "formats/pickle/opcodes.hpp"
#include "formats/tracemalloc/dump_machine.hpp"
#include "helpers.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using formats::tracemalloc::DumpMachine;

namespace {

std::string with(std::string bytes, const std::string& what, const std::string& instead) {
  const std::size_t at = bytes.find(what);
  REQUIRE(at != std::string::npos);
  return bytes.replace(at, what.size(), instead);
}

const std::string kTrace = one_trace();

}  // namespace

TEST_CASE("tracemalloc: a pickle that calls os.system is refused by opcode and byte, whatever its protocol") {
  const std::string by_name = "\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x02id\x94\x85\x94R\x94."s;
  Error error = error_of(by_name);
  CHECK(error.code == ErrorCode::unsupported);
  CHECK(error.offset == 19);
  CHECK(error.message ==
        "unsafe pickle: global posix.system at byte 19, expected tracemalloc.Snapshot and tracemalloc._Traces only; "
        "nothing was imported or called");
  error = error_of("\x80\2cposix\nsystem\nX\2\0\0\0id\x85R."s);
  CHECK(error.offset == 2);
  CHECK(error.message.find("unsafe pickle: global posix.system at byte 2") == 0);
  error = error_of("cos\nsystem\n(S'id'\ntR."s);
  CHECK(error.offset == 0);
  CHECK(error.message.find("unsafe pickle: opcode GLOBAL (0x63) at byte 0") == 0);
}

TEST_CASE("tracemalloc: a call deep inside a dump is refused, and so is any other class") {
  const std::string good = dump_around(kTrace);
  const std::size_t at = good.find(kTrace);
  for (const std::string& name : {"os\nsystem\n"s, "tracemalloc\nStatistic\n"s, "tracemalloc.Snapshot\nload\n"s,
                                  "tracemalloc\nSnapshot.load\n"s, "builtins\ngetattr\n"s}) {
    const Error error = error_of(good.substr(0, at) + "c" + name + good.substr(at));
    CHECK(error.code == ErrorCode::unsupported);
    CHECK(error.offset == at);
    CHECK(error.message.find("unsafe pickle: global ") == 0);
  }
  const Error reduce = error_of(good.substr(0, at) + "h\2)R" + good.substr(at));
  CHECK(reduce.offset == at + 3);
  CHECK(reduce.message.find("unsafe pickle: opcode REDUCE (0x52)") == 0);
}

TEST_CASE("tracemalloc: every opcode that dumps are not written with is refused by name and byte") {
  const std::string allowed = "\x80\x95\x8c\x8d\x94\x93)\x81}](hjKMJtesubaN.cqrX"s + "\x85\x86\x87\x88\x89\x8a\x8b"s;
  const std::set<char> accepted(allowed.begin(), allowed.end());
  const std::string good = dump_around(kTrace);
  const std::size_t at = good.find(kTrace);
  int refused = 0;
  for (int opcode = 0; opcode < 256; ++opcode) {
    if (accepted.count(static_cast<char>(opcode)) != 0) continue;
    const Error error =
        error_of(good.substr(0, at) + static_cast<char>(opcode) + "\0\0\0\0\0\0\0\0\n\n"s + good.substr(at));
    INFO(opcode << ": " << error.message);
    CHECK(error.offset == at);
    const bool named = !formats::pickle::opcode_info(static_cast<std::uint8_t>(opcode)).name.empty();
    CHECK(error.code == (named ? ErrorCode::unsupported : ErrorCode::malformed));
    if (named) CHECK(error.message.find("at byte " + std::to_string(at)) != std::string::npos);
    ++refused;
  }
  CHECK(refused == 256 - 35);
}

TEST_CASE("tracemalloc: every truncation of a small dump is an error inside it, whatever the window") {
  const std::string bytes = dump_around(kTrace + "(K\0K\1h\x0eK\1t\x94"s + "(K\0\x8a\5\0\0\0\0\1h\x0eK\1t\x94"s);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    for (const std::size_t window : {0U, 1U, 17U}) {
      MemoryInput in(std::string_view(bytes).substr(0, size), window);
      SnapshotList list;
      const Status read = formats::kTracemalloc.read(in, list);
      REQUIRE_FALSE(read.has_value());
      CHECK(list.snapshots.empty());
      CHECK(read.error().code == ErrorCode::malformed);
      CHECK(read.error().offset.value_or(bytes.size() + 1) <= size);
    }
  }
}

TEST_CASE("tracemalloc: every flipped bit of a small dump is an error or a snapshot, the same in every window") {
  const std::string bytes = dump_around(kTrace + "(K\0K\1h\x0eK\1t\x94"s);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      std::string first;
      for (const std::size_t window : {0U, 7U}) {
        MemoryInput in(damaged, window);
        SnapshotList list;
        const Status read = formats::kTracemalloc.read(in, list);
        std::string outcome = read ? std::to_string(list.snapshots.size()) : read.error().text();
        CHECK_FALSE(outcome.empty());
        if (window == 0) first = outcome;
        INFO(at << " bit " << bit);
        CHECK(outcome == first);
      }
    }
  }
}

TEST_CASE("tracemalloc: traces that are none are told by their number") {
  const auto message = [](const std::string& second) { return error_of(dump_around(kTrace + second)).message; };
  const std::string expected =
      ", expected (size, frames), (domain, size, frames) or (domain, size, frames, total_nframe)";
  CHECK(message("(K\0K\1h\x0eK\1K\1t"s) == "_traces[1] is a tuple of 5" + expected);
  CHECK(message("(K\1t"s) == "_traces[1] is a tuple of 1" + expected);
  CHECK(message("(K\1K\2K\3t"s) == "_traces[1] is a tuple of other things" + expected);
  CHECK(message("K\1"s) == "_traces[1] is no tuple" + expected);
  CHECK(message("N") == "_traces[1] is no tuple" + expected);
  CHECK(message(")") == "_traces[1] is a tuple of frames or empty" + expected);
  CHECK(message("h\x0e") == "_traces[1] is a tuple of frames or empty" + expected);
  CHECK(message("h\x0f") == "_traces[1] was fetched from the memo, expected each trace to be a tuple of its own");
  CHECK(message("(K\0J\xff\xff\xff\xffh\x0eK\1t"s) ==
        "_traces[1]: size is negative: found -1, expected an int of 0 or more");
  CHECK(message("(K\0\x88h\x0eK\1t"s) == "_traces[1]: size is a bool, expected an int of 0 or more");
  CHECK(message("(K\0Nh\x0eK\1t"s) == "_traces[1]: size is no number, expected an int of 0 or more");
  CHECK(message("(K\0\x8a\x09\0\0\0\0\0\0\0\0\1h\x0eK\1t"s).find("_traces[1]: size out of range") == 0);
  CHECK(message("(J\xff\xff\xff\xffK\1h\x0eK\1t"s) == "_traces[1] is a tuple of other things" + expected);
  CHECK(message("(K\0K\1h\x0e\x88t"s) == "_traces[1] is a tuple of other things" + expected);
  CHECK(error_of(dump_around(kTrace + ")"s)).code == ErrorCode::malformed);
}

TEST_CASE("tracemalloc: sums beyond 64 bits are an error") {
  const std::string most = "(K\0\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fh\x0eK\1t\x94"s;
  CHECK(rows_of(read_all(dump_around(one_trace(0) + most)).at(0)).begin()->second.second == INT64_MAX);
  const Error error = error_of(dump_around(kTrace + most));
  CHECK(error.code == ErrorCode::limit);
  CHECK(error.message.find("beyond 2^63-1") != std::string::npos);
}

TEST_CASE("tracemalloc: lines out of range are an error") {
  const std::string negative = with(kTrace, "K\x09\x86", "J\xff\xff\xff\xff\x86");
  CHECK(error_of(dump_around(negative)).message.find("line of a frame out of range: found -1") == 0);
}

TEST_CASE("tracemalloc: what surrounds the traces has to be what a dump has") {
  const std::string good = dump_around(kTrace);
  const auto message = [](const std::string& bytes) { return error_of(bytes).message; };
  CHECK(message(with(good, "_traces\x94]", "_tracez\x94]")).find("_Traces without _traces") == 0);
  CHECK(message(with(good, "\6traces", "\6tracez")).find("Snapshot without traces") == 0);
  CHECK(message(with(dump_around(""), "]\x94(e", "K\1")).find("_traces of the wrong type") == 0);
  CHECK(message(with(good, "K\x19ub", "Nub")).find("traceback_limit of the wrong type") == 0);
  CHECK(message(with(good, "esb", "es")).find("SETITEMS of a key without a value") == 0);
  CHECK(message(with(good, "esb", "es0")).find("unsupported pickle: opcode POP (0x30)") == 0);
  CHECK(message("\x80\4K\1."s).find("not a dump: the pickle holds no tracemalloc.Snapshot") == 0);
  CHECK(message("\x80\4}."s).find("not a dump") == 0);
  CHECK(message("\x80\4."s).find("STOP with 0 values") == 0);
  CHECK(message("\x80\6."s).find("unsupported pickle protocol: found 6, expected 2 to 5") == 0);
  CHECK(message("hello").find("not a pickle: first byte is 0x68") == 0);
  CHECK(message(with(good, ")\x81", "K\1\x85\x81")).find("NEWOBJ with arguments") == 0);
  CHECK(message(with(good, "esb", "esK\1K\2sb")).find("key of a dict that is no text") == 0);
}

TEST_CASE("tracemalloc: attributes that are not known are skipped and told") {
  const Snapshot s = read_all(with(dump_around(kTrace), "\x8c\x0ftraceback_limit\x94K\x19",
                                   "\x8c\x0ftraceback_limit\x94K\x19\x8c\x03new\x94](K\1K\2\x88Ne"s))
                         .at(0);
  CHECK(rows_of(s) == Rows{{"app/a.py:9", {1, 100}}});
  CHECK(has_note(s, Severity::info, "attribute of the snapshot that is not known"));
}

TEST_CASE("tracemalloc: attacks through memo, marks, stack and lengths are errors") {
  const std::string good = dump_around(kTrace);
  const std::size_t at = good.find(kTrace);
  const auto error = [&](const std::string& inserted) {
    return error_of(good.substr(0, at) + inserted + good.substr(at));
  };
  CHECK(error("h\x63").message == "memo slot 99 fetched before it was written");
  CHECK(error("j\xff\xff\xff\xff").message.find("fetched before it was written") != std::string::npos);
  CHECK(error("K\1q\3"s).message == "memo slot 3 written twice, expected each one once");
  CHECK(error("h\4").message.find("_traces[0] was fetched") == 0);    // the dict, inside itself
  CHECK(error("h\x0b").message.find("_traces[0] was fetched") == 0);  // the list in itself
  CHECK(error(std::string(100, '(')).message.find("nested too deeply") == 0);
  CHECK(error(std::string(100, '}')).message.find("more than 64 dicts") == 0);
  CHECK(error(std::string(DumpMachine::kMostStackValues + 1, 'N')).message.find("stack too deep") == 0);
  CHECK(error("X\xff\xff\xff\xff").message.find("text too long: 4294967295 bytes") == 0);
  CHECK(error("\x8d\xff\xff\xff\xff\xff\xff\xff\xff").message.find("text too long") == 0);
  CHECK(error("\x8b\xff\xff\xff\xff").message.find("LONG4 of negative length") == 0);
  CHECK(error("\x8b\xff\xff\xff\x7f").message.find("truncated pickle") == 0);
  CHECK(error("c" + std::string(300, 'x')).message.find("GLOBAL with a name of more than 256 bytes") == 0);
  CHECK(error("\x86").message.find("stack underflow") == 0);
  CHECK(error("u").message.find("SETITEM on a value that is no dict") == 0);
  CHECK(error("b").message.find("stack underflow") == 0);
  std::string far;
  for (int i = 0; i < 70'000; ++i) {
    const int slot = 1000 + 2 * i;
    far += "K\1r"s + static_cast<char>(slot & 0xff) + static_cast<char>(slot >> 8 & 0xff) +
           static_cast<char>(slot >> 16) + "\0"s;
  }
  CHECK(error(far).message.find("far beyond the") != std::string::npos);
  // Tuples of fetched tuples, each twice as large when written out: nothing is ever written out.
  std::string bomb = "(K\1\x85\x94";
  for (int i = 0; i < 100; ++i) {
    const char slot = static_cast<char>(12 + i);
    bomb += "h"s + slot + "h" + slot + "\x86\x94";
  }
  CHECK(error(bomb + "t").message.find("_traces[0] is a tuple of 101") == 0);
}
