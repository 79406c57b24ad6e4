#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/input/all_formats.hpp"
#include "formats/text/time_stamp.hpp"
#include "formats/tracker_lines/run_tables.hpp"
#include "helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::formats::tracker_lines;
using snapdiff::formats::text::nanoseconds_of;
using snapdiff::formats::text::parse_rfc3339;
using namespace snapdiff::test;
using Rows = std::vector<std::string>;

TEST_CASE("tracker lines: frames of inline stacks") {
  const auto [text, function, file, line] = GENERATE(table<std::string, std::string, std::string, int>({
      {"f (a.c:3)", "f", "a.c", 3},
      {"f(int) (a.c:3)", "f(int)", "a.c", 3},
      {"operator() (C:\\x\\a.cpp:12)", "operator()", "C:\\x\\a.cpp", 12},
      {"f (dir (old)/a.c:3)", "f (dir", "old)/a.c", 3},
      {"f", "f", "", 0},
      {"f(int)", "f(int)", "", 0},
      {"f (int)", "f (int)", "", 0},
      {"f (a.c)", "f (a.c)", "", 0},
      {"f (:3)", "f (:3)", "", 0},
      {"f (a.c:x)", "f (a.c:x)", "", 0},
      {"f (a.c:99999999999)", "f (a.c:99999999999)", "", 0},
      {" (a.c:3)", " (a.c:3)", "", 0},
      {")", ")", "", 0},
      {"", "", "", 0},
  }));
  INFO(text);
  const InlineFrame frame = parse_inline_frame(text);
  if (text != "f (dir (old)/a.c:3)") {
    CHECK(frame.function == function);
    CHECK(frame.file == file);
  }
  CHECK(frame.line == line);
}

TEST_CASE("tracker lines: times of RFC 3339") {
  const auto [text, seconds, nanoseconds] = GENERATE(table<std::string, std::int64_t, std::int64_t>({
      // date -u -d TEXT +%s
      {"1970-01-01T00:00:00Z", 0, 0},
      {"2026-01-01T00:00:00.5Z", 1767225600, 500000000},
      {"2026-01-01t01:00:00z", 1767229200, 0},
      {"2026-01-01 01:00:00.000000001+01:00", 1767225600, 1},
      {"2025-12-31T23:30:00-00:30", 1767225600, 0},
      {"2024-02-29T12:00:00.1234567899Z", 1709208000, 123456789},
      {"2016-12-31T23:59:60Z", 1483228800, 0},
      {"1969-12-31T23:59:59Z", -1, 0},
  }));
  INFO(text);
  CHECK(parse_rfc3339(text) == seconds * 1000000000 + nanoseconds);
}

TEST_CASE("tracker lines: what is no time") {
  for (const char* text :
       {"", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Z ",
        "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00", "9999-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
        "26-01-01T00:00:00Z", "2026-01-01T00:00:0"}) {
    INFO(text);
    CHECK_FALSE(parse_rfc3339(text));
  }
  CHECK(nanoseconds_of(1.25) == 1250000000);
  CHECK(nanoseconds_of(-0.5) == -500000000);
  CHECK_FALSE(nanoseconds_of(1e300));
  CHECK_FALSE(nanoseconds_of(std::int64_t{9223372037}));
  CHECK(nanoseconds_of(std::int64_t{9223372036}) == 9223372036000000000);
}

TEST_CASE("tracker lines: recognised by the first line that says something") {
  for (const std::string& text :
       {kHeader + "\n", std::string(R"( { "version" : 1 , "format" : "snapdiff-tracker", "k":"header"})"),
        "\xef\xbb\xbf" + kHeader, "# comment\r\n\r\n" + kHeader,
        std::string(R"({"k":"header","format":"snapdiff-tracker","version":9})")}) {
    INFO(text);
    CHECK(formats::kTrackerLines.sniff(text) == Match::certain);
    CHECK(formats::kTrackerLines.refusal(text).empty());
  }
  for (const std::string& text :
       {std::string("{\"k\":\"live\"}\n") + kHeader, std::string("[") + kHeader, std::string("# ") + kHeader,
        std::string(), std::string("#"), std::string("{\"format\":\"snapdiff-trackers\"}"),
        std::string("{\"text\":\"format\"}"), std::string("{\"format\":")}) {
    INFO(text);
    CHECK(formats::kTrackerLines.sniff(text) == Match::no);
  }
  CHECK(formats::kTrackerLines.refusal("{\"k\":\"header\",\"version\":1}\n").find("without \"format\"") !=
        std::string::npos);
  std::string wide = "\xff\xfe";
  for (const char c : kHeader) wide.append({c, '\0'});
  CHECK(formats::kTrackerLines.sniff(wide) == Match::no);
  CHECK(formats::kTrackerLines.refusal(wide).find("UTF-16") != std::string::npos);
}

TEST_CASE("tracker lines: bytes that are no UTF-8 are kept, and told") {
  const auto all = read_lines(one_snapshot({"{\"k\":\"live\",\"type\":\"caf\xe9 \xc3\xa9\",\"count\":1}",
                                            R"({"k":"live","type":"a\udce9","count":2})",
                                            R"({"k":"live","type":"\ud800x\ud83d\ude00","count":3})"}));
  CHECK(rows_of(all.at(0)) == Rows{"a\xe9 {type=a\xe9} - 2", "caf\xe9 \xc3\xa9 {type=caf\xe9 \xc3\xa9} - 1",
                                   "\xef\xbf\xbdx\xf0\x9f\x98\x80 {type=\xef\xbf\xbdx\xf0\x9f\x98\x80} - 3"});
  REQUIRE(note_with(all[0], "no UTF-8") != nullptr);
  CHECK(note_with(all[0], "no UTF-8")->count == 3);
  CHECK_FALSE(all[0].facts.partial);
}

TEST_CASE("tracker lines: names hold any character that JSON can write") {
  const auto all = read_lines(one_snapshot({R"({"k":"live","type":"a\u0000b\n\"\\\/é","count":1})"}));
  const std::string name = std::string("a\0b\n\"\\/\xc3\xa9", 9);
  CHECK(rows_of(all.at(0)) == Rows{name + " {type=" + name + "} - 1"});
}
