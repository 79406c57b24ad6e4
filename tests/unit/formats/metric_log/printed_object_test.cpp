#include <catch2/catch.hpp>

#include <random>

#include "formats/input/window_input.hpp"
#include "formats/metric_log/printed_object.hpp"
#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using formats::metric_log::json_of_printed;
using Values = std::vector<std::int64_t>;

namespace {

constexpr std::string_view kNode =
    "{\n  rss: 4935680,\n  heapTotal: 1826816,\n  heapUsed: 650472,\n  external: 49879,\n  arrayBuffers: 9386\n}\n";

}  // namespace

TEST_CASE("printed objects: each language's own form") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"{ rss: '496.01 MB', heapUsed: '51.52 MB' }", "rss=520104182 heap_used=54022636"},
      {"[3] { rss: '4 MB', heapUsed: \"5 MB\", name: undefined, big: 12n }", "rss=4194304 heap_used=5242880"},
      {"memory {:rss=>\"120 MB\", :heap=>\"50 MB\"}", "rss=125829120 heap=52428800"},
      {"{Alloc:12 HeapAlloc:34 HeapInuse:56}", "alloc=12 heap_alloc=34 heap_inuse=56"},
      {"Stats { rss: 4935680, virtual_mem: 12 }", "rss=4935680 virtual_mem=12"},
      {"{'rss': 5, 'vms': 7}", "rss=5 vms=7"},
      {"2024-05-01T10:00:00Z INFO {\"memory\": {\"rss\": 5}}", "rss=5"},
  }));
  CAPTURE(text);
  const auto snapshots = read_log(text + "\n" + text + "\n");
  REQUIRE(snapshots.size() == 2);
  CHECK(counters(snapshots[1]) == expected);
}

TEST_CASE("printed objects: over several lines they say what they say on one") {
  const auto one = read_log(kNode);
  REQUIRE(one.size() == 1);
  CHECK(counters(one[0]) == "rss=4935680 heap_total=1826816 heap_used=650472 external=49879 array_buffers=9386");
  CHECK(formats::kMetricLog.sniff(kNode) == Match::possible);
  const std::string twice = std::string(kNode) + "Memory usage: " + std::string(kNode);
  CHECK(series(read_log(twice), "rss") == Values{4935680, 4935680});
  CHECK(formats::kMetricLog.sniff(twice) == Match::certain);
}

TEST_CASE("printed objects: those of a list are a series") {
  const std::string_view list =
      GENERATE(R"([{"time": 1700000000, "rss": 5}, {"time": 1700000010, "rss": 7}])",
               "[\n  {\n    \"time\": 1700000000,\n    \"memory\": {\n      \"rss\": 5\n    }\n"
               "  },\n  {\n    \"time\": 1700000010,\n    \"memory\": {\n      \"rss\": 7\n    }\n  }\n]");
  const auto snapshots = read_log(std::string(list) + "\n");
  CHECK(series(snapshots, "rss") == Values{5, 7});
  REQUIRE(snapshots.size() == 2);
  CHECK(snapshots[1].facts.taken_at_ns == 1700000010'000'000'000);
}

TEST_CASE("printed objects: lines that are none come out as they are") {
  // The block is code, and never ends.
  CHECK(series(read_log("run {\n  x = 5\nRSS: 3 MB\nRSS: 4 MB\n"), "rss") == Values{3145728, 4194304});
  CHECK(series(read_log("step 1 rss=3 MB {\nstep 2 rss=4 MB {\n"), "rss") == Values{3145728, 4194304});
  CHECK(series(read_log("[\nRSS: 3 MB\n]\nRSS: 4 MB\n"), "rss") == Values{3145728, 4194304});
  // What the end cuts is as far as its lines are whole.
  CHECK(series(read_log("{\n  rss: 3,\n  vms: 4,\n"), "rss") == Values{3});
  // Expressions see the lines.
  formats::ReadRequest request;
  request.patterns = {R"(^  rss: (?P<value>\d+))"};
  CHECK(series(read_log(kNode, request), "value") == Values{4935680});
  // More in front of the brackets is not lost.
  CHECK(series(read_log("rss=3 MB vms=4 MB {a: '5 MB'}\n"), "vms") == Values{4194304});
}

TEST_CASE("printed objects: as JSON") {
  const auto [text, json] = GENERATE(table<std::string, std::string>({
      {"{a: 1, b: '2 MB', c: [1, 2,], d: {e: null}}", R"({"a":1,"b":"2 MB","c":[1,2],"d":{"e":null}})"},
      {"A { b: B(c: 1), d: [Object], e: 007 }", R"({"b":{"c":1},"d":[null],"e":"007"})"},
      {R"({a: 'x"y\z', b: -1.5, c: 1,234})", R"({"a":"x\"y\\z","b":-1.5,"c":1,"234":null})"},
  }));
  CAPTURE(text);
  const auto made = json_of_printed(text);
  if (text.find("1,234") != std::string::npos) {
    CHECK_FALSE(made);  // a number with a comma is two items
  } else {
    CHECK(made == json);
  }
  for (const std::string none : {"", "{", "}", "text", "[1, 2]", "{a: 1", "{a: 1}}", "{a 1}", "rss=5 {a: 1}"})
    CHECK_FALSE(json_of_printed(none));
  CHECK_FALSE(json_of_printed(std::string(100000, '[') + std::string(100000, ']')));
}

TEST_CASE("printed objects: whatever is in the lines, none is lost or read twice") {
  std::mt19937 random(11);
  const std::string letters = "{}[]()'\"`:=>,\n\n  ab1-. ";
  for (int round = 0; round < 3000; ++round) {
    std::string log;
    for (std::size_t i = random() % 120; i > 0; --i) log += letters[random() % letters.size()];
    log += "\n";
    formats::MemoryInput in(log, {});
    formats::text::LogLines lines(in, formats::text::Returns::end_lines);
    formats::metric_log::ObjectLines objects(lines, true);
    formats::metric_log::LogLine line;
    std::string seen, wanted;
    while (objects.next(line)) seen += line.text;
    const auto is_kept = [](char c) { return std::string_view("{}'\"`:=>ab1-.").find(c) != std::string_view::npos; };
    std::erase_if(seen, [&](char c) { return !is_kept(c); });
    for (const char c : log) {
      if (is_kept(c)) wanted += c;
    }
    CAPTURE(log);
    CHECK(seen == wanted);
  }
}
