#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/formats/heaptrack/small_recording.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

using Rows = std::map<std::string, std::vector<std::int64_t>>;

namespace {

const std::string kHead = "v 10400 3\ns 1 m\ns 1 f\ni 1 1 2 0 1\nt 1 0\na 8 1\n+ 0\n";

/// The whole head is still there, and `bad` was counted once.
void check_skipped(const std::string& bad, std::string_view note) {
  CAPTURE(bad);
  const Snapshot s = recording_ok(kHead + bad + "\n+ 0\n");
  CHECK(rows(s) == Rows{{"f:1", {2, 16, 2, 16, 0}}});
  CHECK(note_count(s, Severity::data_loss, note) == 1);
}

}  // namespace

TEST_CASE("heaptrack: a newer file version is refused with both versions") {
  CHECK(recording_error("v 10500 4\n+ 0\n") == "unsupported at byte 0: heaptrack file version 4: expected 0 to 3");
}

TEST_CASE("heaptrack: without a version line nothing is read") {
  CHECK(recording_error("s 1 a\n") ==
        "malformed at byte 0: no version line: found \"s 1 a\", expected v and two numbers");
  CHECK(recording_error("v\n") == "malformed at byte 0: no version line: found \"v\", expected v and two numbers");
  CHECK(recording_error("v 10400 3 9\n") ==
        "malformed at byte 0: bad version line: found \"v 10400 3 9\", expected v and two numbers");
  CHECK(recording_error("") == "malformed at byte 0: no version line: the input ends, expected v and two numbers");
}

TEST_CASE("heaptrack: a raw recording is refused with advice") {
  CHECK(recording_error("v 10400 3\nx /bin/a\n") ==
        "unsupported at byte 10: raw heaptrack recording, without names: expected an interpreted one (heaptrack "
        "--interpret FILE)");
  CHECK(recording_error("v 10400 3\nm 1 /bin/a 10\n").find("raw heaptrack recording") != std::string::npos);
}

TEST_CASE("heaptrack: a second command line or version is damage") {
  CHECK(recording_error("v 10400 3\nX a\nX b\n") ==
        "malformed at byte 14: second command line: expected one recording in a file");
  CHECK(recording_error("v 10400 3\nv 10400 3\n") ==
        "malformed at byte 10: second version line: expected one recording in a file");
}

TEST_CASE("heaptrack: events out of range are skipped and counted") {
  check_skipped("+ 7", "event that names no allocation");
  check_skipped("- 7", "event that names no allocation");
  check_skipped("+ ffffffffffffffffff", "event that names no allocation");
  check_skipped("+", "event that names no allocation");
  check_skipped("+ ", "event that names no allocation");
  check_skipped("+ 0x", "event that names no allocation");
  check_skipped("- 0 0", "event that names no allocation");
}

TEST_CASE("heaptrack: lines that cannot be read are skipped and counted") {
  check_skipped("q 1 2", "could not be read");
  check_skipped("i zz", "could not be read");
  check_skipped("t 1", "could not be read");
  check_skipped("a g 1", "could not be read");
  check_skipped("c", "could not be read");
  check_skipped("R -1", "could not be read");
  check_skipped("I", "could not be read");
  check_skipped("s", "could not be read");
  check_skipped("hello", "could not be read");
  check_skipped(std::string("\0\xff", 2), "could not be read");
}

TEST_CASE("heaptrack: a free of what is not live is skipped and counted") {
  const Snapshot s = recording_ok(kHead + "- 0\n- 0\n- 0\n+ 0\n");
  CHECK(rows(s) == Rows{{"f:1", {1, 8, 2, 16, 1}}});
  CHECK(note_count(s, Severity::data_loss, "not live") == 2);
}

TEST_CASE("heaptrack: indexes out of range keep the bytes and the numbers of later lines") {
  // A string, a pointer and a trace that point nowhere; what comes behind them is found all the same.
  const Snapshot s = recording_ok(
      "v 10400 3\ns 1 f\ni 1 9 9 9 1\ni 2 0 1\nt 9 0\nt 2 9\nt 2 1\nt 1 3\na 8 4\na 8 9\na 8 2\n+ 0\n+ 1\n+ 2\n");
  CHECK(rows(s) ==
        Rows{{"[];f;[]", {1, 8, 1, 8, 0}}, {"[no stack recorded]", {1, 8, 1, 8, 0}}, {"f", {1, 8, 1, 8, 0}}});
  CHECK(note_count(s, Severity::data_loss, "index out of range") == 4);
}

TEST_CASE("heaptrack: a trace cannot be its own parent or that of one in front of it") {
  const Snapshot s = recording_ok("v 10400 3\ns 1 f\ni 1 0 1\nt 1 1\nt 1 3\nt 1 2\na 8 1\na 8 3\n+ 0\n+ 1\n");
  CHECK(rows(s) == Rows{{"f", {1, 8, 1, 8, 0}}, {"f;f", {1, 8, 1, 8, 0}}});
  CHECK(note_count(s, Severity::data_loss, "index out of range") == 2);
}

TEST_CASE("heaptrack: a time stamp that goes back is ignored") {
  const Snapshot s = recording_ok(kHead + "c 64\nc 32\n");
  CHECK(counter(s, "time") == 100);
  CHECK(note_count(s, Severity::warning, "time stamp before") == 1);
}

TEST_CASE("heaptrack: sums beyond 64 bits are refused") {
  const std::string half = "v 10400 3\na 4000000000000000 0\n+ 0\n";
  CHECK(recording_ok(half).samples.size() == 1);
  CHECK(recording_error(half + "+ 0\n") ==
        "limit at byte 35: live bytes are beyond 2^63-1, expected them to fit in 64 bits");
  CHECK(recording_error(half + "- 0\n+ 0\n").find("limit: bytes ever allocated are beyond 2^63-1") == 0);
  CHECK(rows(recording_ok(half + "- 0\n+ 0\n", "peak")).begin()->second ==
        std::vector<std::int64_t>{1, 0x4000000000000000});
  const Snapshot too_large = recording_ok("v 10400 3\na 8000000000000000 0\n+ 0\n");
  CHECK(too_large.samples.size() == 0);
  CHECK(note_count(too_large, Severity::data_loss, "") == 2);
}

TEST_CASE("heaptrack: a line without an end is limited") {
  const std::string text = "v 10400 3\ns " + std::string(std::size_t{17} << 20, 'a');
  const Imported out = import_recording(text);
  REQUIRE(out.error.has_value());
  CHECK(out.error->text() == "limit at byte 10: line too long: no end within 16 MiB, expected a line of a recording");
}

TEST_CASE("heaptrack: very deep traces are cut, and said so") {
  std::string text = "v 10400 3\ns 1 f\ni 1 0 1\nt 1 0\n";
  constexpr std::size_t kDepth = 70'000;
  std::string number;
  for (std::size_t i = 1; i < kDepth; ++i) {
    char line[32];
    std::snprintf(line, sizeof line, "t 1 %zx\n", i);
    text += line;
  }
  char last[32];
  std::snprintf(last, sizeof last, "a 8 %zx\n+ 0\n", kDepth);
  const Snapshot s = recording_ok(text + last);
  REQUIRE(s.samples.size() == 1);
  const auto frames = s.dictionary->stacks.frames(s.samples.stack[0]);
  CHECK(frames.size() == 65537);
  CHECK(stack_text(s, s.samples.stack[0]).ends_with("f;[stack cut]"));
}

TEST_CASE("heaptrack: a chain of traces that all allocate costs memory in proportion to the file") {
  std::string text = "v 10400 3\ns 1 f\n";
  constexpr std::size_t kDepth = 12'000;  // 72 million frames, were each stack written out
  char line[64];
  for (std::size_t i = 1; i <= kDepth; ++i) {
    std::snprintf(line, sizeof line, "i %zx 0 1\nt %zx %zx\na 8 %zx\n+ %zx\n", i, i, i - 1, i, i - 1);
    text += line;
  }
  const Snapshot s = recording_ok(text);
  CHECK(s.dictionary->stacks.frame.size() < (std::size_t{1} << 22) + 65'537 + kDepth * 257);
  CHECK(total(s, "inuse_space") == 8 * static_cast<std::int64_t>(kDepth));
  bool said = false;
  for (const Note& note : s.facts.notes.all()) said = said || note.text == "very deep stacks are cut at their root";
  CHECK(said);
}

TEST_CASE("heaptrack: cut at every byte, all whole lines count and the rest is said") {
  const std::string& text = small_recording();
  const std::size_t first_line = text.find('\n') + 1;
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    const Imported cut = import_recording(std::string_view(text).substr(0, size));
    if (size < first_line) {
      CHECK(cut.error.has_value());
      continue;
    }
    REQUIRE(cut.snapshots.size() == 1);
    const std::size_t whole = text.rfind('\n', size - 1) + 1;
    CHECK(cut.snapshots[0].facts.partial == (whole != size));
    CHECK(note_count(cut.snapshots[0], Severity::data_loss, "ends early") == (whole != size ? 1 : 0));
    CHECK(rows(cut.snapshots[0]) == rows(recording_ok(std::string_view(text).substr(0, whole))));
  }
}
