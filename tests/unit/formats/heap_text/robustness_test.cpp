#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/formats/heap_text/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

struct Minimal {
  std::string format;
  std::string text;
};

/// A whole small file of each kind.
const std::vector<Minimal>& minimal_files() {
  static const std::string kRows = "1: 80 [2: 92] @ 0x1101 0x1201\n2: 8 [2: 8] @ 0x1301\n";
  static const std::string kMappings =
      "\nMAPPED_LIBRARIES:\nb=/opt\n1000-1200 r-xp 00000000 00:00 1 /opt/a\n1200-2000: $b/c d (@200)\n";
  static const std::string kJemalloc =
      "heap_v2/1\n  t*: 3: 88 [4: 100]\n  t0: 3: 88 [4: 100] x\n@ 0x1101 0x1201\n  t*: 1: 80 [2: 92]\n  t0: 1: 80 [2: "
      "92]\n"
      "@ 0x1301\n  t*: 2: 8 [2: 8]\n";
  static const std::vector<Minimal> kFiles{
      {"gperftools", "heap profile: 3: 88 [4: 100] @ heapprofile\n" + kRows + kMappings},
      {"gperftools", "%warn x\n--- growth\nheap profile: 3: 88 [3: 88] @ heap_v2/64\n" + kRows + kMappings},
      {"jemalloc", kJemalloc + kMappings},
      {"go-text",
       "heap profile: 3: 88 [4: 100] @ heap/2\n1: 80 [2: 92] @ 0x1101 0x1201\n#\t0x1100\tm.f+0x2\t/s/m.go:3\n\n"
       "2: 8 [2: 8] @ 0x1301\n\n# runtime.MemStats\n# HeapSys = 123\n# MaxRSS = 12345\n"},
      {"java-heapz",
       "--- heapz 1 ---\nformat = java\nresolution = bytes\n 80 1 @ 0x3 0x4\n 8 2 @ 0x5\n 0x3 a.b (B.java:3)\n"
       " 0x4 GC\n 0x5 n (/l/n.so)\n"},
      {"symbolized", "--- symbol\nbinary=/opt/a\n0x1100 f--g\n0x1200 h\n---\n--- heap\n" + kJemalloc + kMappings},
  };
  return kFiles;
}

/// A cut is either refused, told as partial, or leaves every total as it was.
void check_cut(const Minimal& file, std::size_t size, const Snapshot& whole) {
  CAPTURE(file.format, size, file.text.substr(0, size));
  const Imported cut = import_text(file.format, std::string_view(file.text).substr(0, size));
  if (cut.error) {
    CHECK((cut.error->code == ErrorCode::malformed || cut.error->code == ErrorCode::unsupported));
    REQUIRE(cut.error->offset.has_value());
    CHECK(*cut.error->offset <= size);
    return;
  }
  REQUIRE(cut.snapshot.has_value());
  if (cut.snapshot->facts.partial) {
    CHECK(has_note(*cut.snapshot, Severity::data_loss, ""));
    return;
  }
  CHECK(total(*cut.snapshot, "inuse_space") == total(whole, "inuse_space"));
  CHECK(total(*cut.snapshot, "inuse_objects") == total(whole, "inuse_objects"));
}

}  // namespace

TEST_CASE("robustness: a dump whose lines are all indented is read as it is without") {
  for (const Minimal& file : minimal_files()) {
    CAPTURE(file.format);
    for (const std::string indent : {" ", "\t", "      "}) {
      std::string pasted = indent;
      for (std::size_t i = 0; i < file.text.size(); ++i) {
        pasted += file.text[i];
        if (file.text[i] == '\n' && i + 1 < file.text.size()) pasted += indent;
      }
      for (const std::string& text : {pasted, "\n\n" + pasted}) {
        CHECK(importer(file.format).sniff(text) == importer(file.format).sniff(file.text));
        for (const snapdiff::formats::Format* each : all_importers()) CHECK(each->refusal(text).empty());
        CHECK(describe(import_ok(file.format, text)) == describe(import_ok(file.format, file.text)));
      }
    }
  }
  const std::string error =
      import_error("gperftools", "   heap profile: 1: 8 [1: 8] @ heapprofile\n   1: 8 [1: 8] @ 0x12 x\n");
  CHECK(error.find("byte 65") != std::string::npos);
}

TEST_CASE("robustness: every truncation of a small file is refused, told, or loses no bytes") {
  for (const Minimal& file : minimal_files()) {
    const Snapshot whole = import_ok(file.format, file.text);
    CHECK_FALSE(whole.facts.partial);
    for (std::size_t size = 0; size < file.text.size(); ++size) check_cut(file, size, whole);
  }
}

TEST_CASE("robustness: one flipped bit never crashes a reader, errors have an offset inside the file") {
  for (const Minimal& file : minimal_files()) {
    for (std::size_t at = 0; at < file.text.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string text = file.text;
        text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1u << bit));
        const Imported out = import_text(file.format, text);
        if (!out.error) continue;
        CAPTURE(file.format, at, bit, out.error->text());
        CHECK(out.error->code != ErrorCode::internal);
        if (out.error->offset) CHECK(*out.error->offset <= text.size());
      }
    }
  }
}

TEST_CASE("robustness: CRLF line ends read like LF ones") {
  for (const Minimal& file : minimal_files()) {
    std::string crlf;
    for (const char c : file.text) {
      if (c == '\n') crlf += '\r';
      crlf += c;
    }
    CHECK(describe(import_ok(file.format, crlf)) == describe(import_ok(file.format, file.text)));
  }
}

TEST_CASE("robustness: a file handed out in small windows reads like a whole one") {
  std::vector<Minimal> files = minimal_files();
  files.push_back({"gperftools", data_file("gperftools/svc/svc.0012.heap")});
  files.push_back({"jemalloc", data_file("jemalloc/svc/sampled.0011.heap")});
  files.push_back({"go-text", data_file("go_text/goq/sampled.txt")});
  files.push_back({"java-heapz", data_file("java_heapz/java/java.heap")});
  files.push_back({"symbolized", data_file("symbolized/cases/jeprof.symbolized")});
  for (const Minimal& file : files) {
    const std::string whole = describe(import_ok(file.format, file.text));
    for (std::size_t window = 1; window <= 64; ++window) {
      const Imported out = import_text(file.format, file.text, window);
      REQUIRE(out.snapshot.has_value());
      if (describe(*out.snapshot) != whole) FAIL(file.format << " differs in windows of " << window);
    }
  }
}

namespace {

/// A row with `frames` addresses, about 9 bytes each.
std::string deep_row(std::size_t frames) {
  std::string row = "1: 8 [1: 8] @";
  for (std::size_t i = 0; i < frames; ++i) row += " 0x1" + std::to_string(1000 + i % 9000);
  return row + "\n";
}
const std::string kHeader = "heap profile: 1: 8 [1: 8] @ heapprofile\n";

}  // namespace

TEST_CASE("robustness: rows longer than 64 KiB") {
  for (const std::size_t window : {std::size_t{0}, std::size_t{100}}) {
    const std::string text = kHeader + deep_row(20000);
    const Imported out = import_text("gperftools", text, window);
    REQUIRE(out.snapshot.has_value());
    CHECK(out.snapshot->dictionary->stacks.frames(out.snapshot->samples.stack[0]).size() == 20000);
  }
}

TEST_CASE("robustness: a stack of 1 000 000 frames is read, a deeper one refused") {
  const Snapshot s = import_ok("gperftools", kHeader + deep_row(1'000'000));
  CHECK(s.dictionary->stacks.frames(s.samples.stack[0]).size() == 1'000'000);
  CHECK(import_error("gperftools", kHeader + deep_row(1'000'001)).find("stack too deep: more than 1000000 frames") !=
        std::string::npos);
}

TEST_CASE("robustness: a line without end is refused before it fills the memory") {
  std::string text = kHeader + "#";
  text.append((64u << 20) + 1, 'x');
  for (const std::size_t window : {std::size_t{0}, std::size_t{1} << 20}) {
    const Imported out = import_text("gperftools", text, window);
    REQUIRE(out.error.has_value());
    CHECK(out.error->code == ErrorCode::limit);
    CHECK(out.error->offset == kHeader.size());
  }
}

TEST_CASE("robustness: errors of the input and of the sink are handed on") {
  class Failing : public Input {
   public:
    Result<std::string_view> peek(std::size_t) override { return Error{ErrorCode::io, "read failed", 7}; }
    void consume(std::size_t) override {}
    std::uint64_t offset() const override { return 0; }
    const std::string& name() const override { return name_; }
    std::string_view compression() const override { return {}; }

   private:
    std::string name_;
  };
  for (const snapdiff::formats::Format* each : all_importers()) {
    Failing in;
    SnapshotList list;
    const Status status = each->read(in, list);
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().code == ErrorCode::io);
  }
}
