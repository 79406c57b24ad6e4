#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/input/all_formats.hpp"
#include "formats/registry.hpp"
#include "formats/text/printed_frame.hpp"
#include "support/imported.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

using Rows = std::map<std::string, std::vector<std::int64_t>>;

namespace {

const std::string kText = R"json({"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,
"tu":"instrs","Mtu":"Minstr","tuth":500,"cmd":"./svc \"a\"","pid":77,"te":2000,"tg":1500,"pps":
[{"tb":100,"tbk":4,"tl":9,"mb":60,"mbk":2,"gb":50,"gbk":2,"eb":25,"ebk":1,"rb":0,"wb":16,"acc":[-64,200],"fs":[1,2]}
,{"tb":10,"tbk":1,"gb":10,"gbk":1,"eb":0,"ebk":0,"fs":[3,4,0]}],
"ftbl":["[root]","0x10: grow(int) (a.c:3)","0x20: main (a.c:9)","0x30: inner (b.h:1)","0x30: outer (b.h:2)"]})json";

Imported import_dhat(std::string_view text, bool peak = false, std::size_t window = 0) {
  return import_with(
      text, [&](Input& in, SnapshotSink& out) { return formats::kDhat.read(in, out, {.point = peak ? "peak" : ""}); },
      window);
}

Snapshot dhat_ok(std::string_view text, bool peak = false) {
  Imported in = import_dhat(text, peak);
  if (in.error) FAIL(in.error->text());
  REQUIRE(in.snapshots.size() == 1);
  return std::move(in.snapshots[0]);
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kText;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string dhat_error(const std::string& text) {
  const Imported in = import_dhat(text);
  REQUIRE(in.error.has_value());
  return in.error->text();
}

}  // namespace

TEST_CASE("dhat: what is live at the end, and all that ever was") {
  const Snapshot s = dhat_ok(kText);
  CHECK(rows(s) == Rows{{"grow(int):3;main:9", {1, 25, 4, 100}}, {"inner:1~;outer:2", {0, 0, 1, 10}}});
  CHECK(s.facts.command_line == "./svc \"a\"");
  CHECK(s.facts.pid == 77);
  CHECK(s.facts.producer == "dhat");
  CHECK(s.facts.sampling == Sampling::exact);
  CHECK(counter(s, "time") == 2000);
  CHECK(counter(s, "peak") == 60);
}

TEST_CASE("dhat: the peak is a moment of its own") {
  const Snapshot s = dhat_ok(kText, true);
  CHECK(rows(s) == Rows{{"grow(int):3;main:9", {2, 50}}, {"inner:1~;outer:2", {1, 10}}});
  CHECK(counter(s, "time") == 1500);
  CHECK(s.facts.position == 1);
  const Imported none =
      import_with(kText, [](Input& in, SnapshotSink& out) { return formats::kDhat.read(in, out, {.point = "12s"}); });
  REQUIRE(none.error.has_value());
  CHECK(none.error->text() == "usage: no point '12s': expected end or peak");
}

TEST_CASE("dhat: other producers' files are read where they have lifetimes") {
  const Snapshot s = dhat_ok(with("\"heap\"", "\"rust-heap\""));
  CHECK(s.facts.producer == "rust-heap");
}

TEST_CASE("dhat: modes without live blocks are refused with the reason") {
  CHECK(dhat_error(with("\"heap\"", "\"copy\"")) ==
        "unsupported at byte 28: DHAT recording of mode copy: it counts events, expected one of live blocks (mode "
        "heap)");
  CHECK(dhat_error(with("\"heap\"", "\"ad-hoc\"")).find("DHAT recording of mode ad-hoc") != std::string::npos);
  CHECK(dhat_error(with("\"bklt\":true", "\"bklt\":false")).find("without lifetimes (bklt)") != std::string::npos);
  Result<std::vector<Snapshot>> copy = formats::read_file(SNAPDIFF_TEST_DATA "/valgrind/dhat-copy-steps2.json", {});
  REQUIRE_FALSE(copy);
  CHECK(copy.error().code == ErrorCode::unsupported);
}

TEST_CASE("dhat: another version is refused") {
  CHECK(dhat_error(with("\"dhatFileVersion\":2", "\"dhatFileVersion\":1")) ==
        "unsupported at byte 19: DHAT file version 1: expected 2");
}

TEST_CASE("dhat: what breaks its rules is refused with the place") {
  const auto [from, to, words] = GENERATE(table<std::string, std::string, std::string>({
      {"\"fs\":[1,2]", "\"fs\":[1,5]", "bad frame in fs: found 5, expected less than the 5 of ftbl"},
      {"\"fs\":[1,2]", "\"fs\":[1,-1]", "bad frame in fs: expected an index of ftbl"},
      {"\"fs\":[1,2]", "\"fs\":[1,1.5]", "bad frame in fs: expected an index of ftbl"},
      {"\"fs\":[1,2]", "\"fs\":[1,99999999999]", "bad frame in fs: expected an index of ftbl"},
      {"\"fs\":[1,2]", "\"fs\":[1,\"2\"]", "bad frame in fs: expected an index of ftbl"},
      {"\"fs\":[1,2]", "\"fs\":{}", "bad fs: expected an array"},
      {",\"fs\":[1,2]", "", "program point without fs"},
      {"\"eb\":25,", "", "program point without its numbers: expected eb, ebk, tb and tbk"},
      {"\"eb\":25", "\"eb\":-25", "bad eb: expected a whole number from 0 to 2^63-1"},
      {"\"eb\":25", "\"eb\":9223372036854775808", "bad eb: expected a whole number"},
      {"\"eb\":25", "\"eb\":null", "bad eb: expected a whole number"},
      {"[\"[root]\"", "[7", "bad frame in ftbl: expected a text"},
      {"\"ftbl\"", "\"other\"", "no ftbl: expected it"},
      {"\"pps\"", "\"other\"", "no pps: expected it"},
      {"\"pid\":77", "\"pps\":[]", "second pps"},
      {"\"mode\":\"heap\",", "", "no mode: expected it"},
      {"[{\"tb\"", "[1,{\"tb\"", "bad program point: expected an object"},
  }));
  const std::string text = with(from, to);
  CAPTURE(text);
  const Imported in = import_dhat(text);
  REQUIRE(in.error.has_value());
  CHECK(in.error->code == ErrorCode::malformed);
  CHECK(in.error->offset.has_value());
  CHECK(in.error->message.find(words) == 0);
}

TEST_CASE("dhat: sums beyond 64 bits are refused") {
  const std::string text = with("\"eb\":25", "\"eb\":9223372036854775807");
  CHECK(total(dhat_ok(text), "inuse_space") == 9223372036854775807);
  std::string twice = text;
  const std::string from = "\"eb\":0";
  twice.replace(twice.find(from), from.size(), "\"eb\":1");
  CHECK(import_dhat(twice).error.value().code == ErrorCode::limit);
}

TEST_CASE("dhat: cut at every byte it is refused") {
  for (std::size_t size = 0; size < kText.size(); ++size) {
    CAPTURE(size);
    const Imported cut = import_dhat(std::string_view(kText).substr(0, size));
    REQUIRE(cut.error.has_value());
    CHECK(cut.error->code == ErrorCode::malformed);
  }
  CHECK(rows(import_dhat(kText, false, 3).snapshots.at(0)) == rows(dhat_ok(kText)));
}

TEST_CASE("dhat: real files give what their program leaks") {
  for (const int steps : {2, 4, 6, 8}) {
    const std::string name = "dhat-steps" + std::to_string(steps) + ".json";
    const auto path = steps == 2 || steps == 6 ? std::optional(std::string(SNAPDIFF_TEST_DATA "/valgrind/") + name)
                                               : shared_sample("trackers/valgrind/" + name);
    if (!path) continue;
    Result<std::vector<Snapshot>> read = formats::read_file(*path, {});
    REQUIRE(read);
    REQUIRE(read->size() == 1);
    const Rows all = rows(read->front());
    const std::string malloc = "malloc;alloc_block(unsigned long):9;";
    CHECK(all.at(malloc + "leak_cache():10;main:16") ==
          std::vector<std::int64_t>{3 * steps, 120'000 * steps, 3 * steps, 120'000 * steps});
    CHECK(all.at(malloc + "leak_strings():11;main:16") ==
          std::vector<std::int64_t>{100 * steps, 6'400 * steps, 100 * steps, 6'400 * steps});
    CHECK(total(read->front(), "inuse_space") == 126'400 * steps);
  }
}

TEST_CASE("valgrind: the forms of a frame") {
  using formats::text::parse_location;
  const auto full = parse_location("0x109206: alloc_block(unsigned long) (native_leak.cpp:9)");
  CHECK(full.address == 0x109206);
  CHECK(full.function == "alloc_block(unsigned long)");
  CHECK(full.file == "native_leak.cpp");
  CHECK(full.line == 9);
  const auto module = parse_location("0x1: operator new[](unsigned long) (in /usr/lib/b.so (deleted))");
  CHECK(module.function == "operator new[](unsigned long)");
  CHECK(module.module == "/usr/lib/b.so (deleted)");
  const auto plain = parse_location("0x1: operator new(unsigned long) (in /usr/lib/a b.so)");
  CHECK(plain.function == "operator new(unsigned long)");
  CHECK(plain.module == "/usr/lib/a b.so");
  CHECK(parse_location("0x1: ???").function.empty());
  CHECK(parse_location("0x1: (below main) (libc-start.c:308)").function == "(below main)");
  const auto rust = parse_location("0x1: app::main (src/main.rs:12:5)");
  CHECK(rust.file == "src/main.rs");
  CHECK(rust.line == 12);
  CHECK(rust.column == 5);
  CHECK(parse_location("f(int)").function == "f(int)");
  CHECK(parse_location("f(int)").address == kNoOffset);
  CHECK(parse_location("").function.empty());
  CHECK(parse_location("0x").function == "0x");
  CHECK(parse_location("0xffffffffffffffffff: f").function == "0xffffffffffffffffff: f");
  CHECK(parse_location("0x1: f (C:\\a.c:12)").file == "C:\\a.c");
}
