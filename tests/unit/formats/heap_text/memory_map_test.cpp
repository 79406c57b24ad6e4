#include "formats/heap_text/memory_map.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "unit/formats/heap_text/helpers.hpp"

using snapdiff::Severity;
using snapdiff::formats::heap_text::parse_map_line;
using namespace snapdiff::test;

namespace {

/// One object of 8 bytes at the return address `pc`, under `map`.
std::string dump(const std::string& pc, const std::string& map) {
  return "heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ " + pc + "\n\nMAPPED_LIBRARIES:\n" + map;
}

/// How the frame of that address reads.
std::string resolved(const std::string& pc, const std::string& map) {
  return rows(import_ok("gperftools", dump(pc, map))).begin()->first;
}

}  // namespace

TEST_CASE("memory map: lines of /proc/<pid>/maps") {
  const auto line =
      parse_map_line("7f3c2e499000-7f3c2e59a000 r-xp 00099000 fe:00 333430      /usr/lib/my app/lib x.so");
  REQUIRE(line);
  CHECK(line->start == 0x7f3c2e499000);
  CHECK(line->limit == 0x7f3c2e59a000);
  CHECK(line->offset == 0x99000);
  CHECK(line->path == "/usr/lib/my app/lib x.so");
  CHECK(line->executable);
  CHECK_FALSE(line->deleted);

  const auto deleted = parse_map_line("00400000-00500000 r--p 00000000 00:00 12 /opt/a (deleted)");
  REQUIRE(deleted);
  CHECK(deleted->path == "/opt/a");
  CHECK(deleted->deleted);
  CHECK_FALSE(deleted->executable);

  const auto anonymous = parse_map_line("7fff0000-7fff1000 rwxp 00000000 00:00 0 ");
  REQUIRE(anonymous);
  CHECK(anonymous->path.empty());
}

TEST_CASE("memory map: brief lines") {
  const auto plain = parse_map_line("  00400000-00fcb000: $source/cppbench_server_main");
  REQUIRE(plain);
  CHECK(plain->limit == 0xfcb000);
  CHECK(plain->path == "$source/cppbench_server_main");
  CHECK(plain->executable);

  const auto full = parse_map_line("0x40000000 0x40010000 r-xp /lib/a b.so (@1f000) 0123456789abcdef0123");
  REQUIRE(full);
  CHECK(full->start == 0x40000000);
  CHECK(full->offset == 0x1f000);
  CHECK(full->path == "/lib/a b.so");
  CHECK(full->build_id == "0123456789abcdef0123");

  const auto macos = parse_map_line("0000000100000000-0000000100004000: /Users/me/my tool/bin");
  REQUIRE(macos);
  CHECK(macos->path == "/Users/me/my tool/bin");
  CHECK(macos->offset == 0);

  const auto windows = parse_map_line("7ff6a0000000-7ff6a0010000: C:\\Program Files\\app\\app.exe");
  REQUIRE(windows);
  CHECK(windows->path == "C:\\Program Files\\app\\app.exe");
}

TEST_CASE("memory map: FreeBSD lines") {
  const auto line = parse_map_line("0x400000 0x405000 5 0 0xc2f5e4c0 r-x 1 0 0x0 COW NC vnode /bin/cat NCH -1");
  REQUIRE(line);
  CHECK(line->start == 0x400000);
  CHECK(line->limit == 0x405000);
  CHECK(line->path == "/bin/cat");
  CHECK(line->executable);
}

TEST_CASE("memory map: log prefixes are dropped, other lines are no regions") {
  const auto line = parse_map_line("W1220 15:07:15.201776 8272 logger.cc:12033] 00400000-00401000 r-xp 0 00:00 3 /a");
  REQUIRE(line);
  CHECK(line->start == 0x400000);
  CHECK(line->path == "/a");
  for (const char* other : {"", "build=/path", "fade", "zz-yy", "00401000-00400000 r-xp 0 00:00 3 /a",
                            "12345678901234567-2 /a", "[stack]", "0-10x"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_map_line(other));
  }
}

TEST_CASE("memory map: offset of a frame is that of the byte before the return address in its file") {
  CHECK(resolved("0x5010", "5000-6000 r-xp 00002000 00:00 3 /opt/a\n") == "a+0x200f");
  CHECK(resolved("0x5000", "5000-6000 r-xp 00002000 00:00 3 /opt/a\n") == "a+0x1fff");  // the call ends the page before
  CHECK(resolved("0x9000", "5000-6000 r-xp 00002000 00:00 3 /opt/a\n") == "0x8fff");
  CHECK(resolved("0x5010", "5000-6000 rwxp 00000000 00:00 0 [heap]\n") == "[heap]+0xf");
  CHECK(resolved("0x5010", "5000-6000 rwxp 00000000 00:00 0\n") == "0x500f");
  CHECK(resolved("0x5010", "5000-6000 r--p 00003000 00:00 0 /opt/a\n") == "a+0x300f");
}

TEST_CASE("memory map: definitions are substituted in paths") {
  CHECK(resolved("0x5010", "build=/x/y\n5000-6000: $build/tool\n") == "tool+0xf");
  const auto snapshot = import_ok("gperftools", dump("0x5010", "\tsource=/home\n  5000-6000: $source/a/$b\n"));
  const auto& d = *snapshot.dictionary;
  REQUIRE(d.modules.size() == 2);
  CHECK(d.strings[d.modules.name[1]] == "/home/a/$b");
}

TEST_CASE("memory map: pieces of one text segment are one region") {
  const auto snapshot = import_ok("gperftools", dump("0x7010",
                                                     "5000-6000 r-xp 00001000 00:00 3 /opt/lib.so\n"
                                                     "6000-8000 r-xp 00002000 00:00 3 /opt/lib.so\n"));
  REQUIRE(snapshot.mappings.size() == 1);
  CHECK(snapshot.mappings[0].start == 0x5000);
  CHECK(snapshot.mappings[0].limit == 0x8000);
  CHECK(rows(snapshot).begin()->first == "lib.so+0x300f");
  // Not where the file offsets do not continue.
  CHECK(import_ok("gperftools", dump("0x7010",
                                     "5000-6000 r-xp 00001000 00:00 3 /opt/lib.so\n"
                                     "6000-8000 r-xp 00007000 00:00 3 /opt/lib.so\n"))
            .mappings.size() == 2);
}

TEST_CASE("memory map: text on huge pages belongs to the program that follows it") {
  const auto snapshot =
      import_ok("gperftools", dump("0x700010",
                                   "00400000-00600000 r-xp 00000000 00:00 3 /anon_hugepage (deleted)\n"
                                   "00600000-00800000 r-xp 00200000 00:00 3 /opt/server\n"));
  REQUIRE(snapshot.mappings.size() == 1);
  CHECK(snapshot.mappings[0].start == 0x400000);
  CHECK(snapshot.mappings[0].offset == 0);
  CHECK(rows(snapshot).begin()->first == "server+0x30000f");
}

TEST_CASE("memory map: code below a region that starts inside its file belongs to that file") {
  CHECK(resolved("0x5010", "6000-7000 r-xp 00002000 00:00 3 /opt/a\n") == "a+0x100f");
  CHECK(resolved("0x3010", "6000-7000 r-xp 00002000 00:00 3 /opt/a\n") == "0x300f");
}

TEST_CASE("memory map: a cut last line is told") {
  const auto snapshot = import_ok("gperftools", dump("0x5010", "5000-6000 r-xp 00002000 00:00 3 /opt/lib"));
  CHECK(has_note(snapshot, Severity::warning, "memory map has no end"));
}
