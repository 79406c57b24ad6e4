#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Rows = std::vector<std::string>;

TEST_CASE("tracker lines: the shortest file is header, snapshot, one live, end") {
  const auto all = read_lines(one_snapshot({R"({"k":"live","type":"T","count":1})"}));
  REQUIRE(all.size() == 1);
  CHECK(rows_of(all[0]) == Rows{"T {type=T} - 1"});
  CHECK(all[0].facts.format == "snapdiff-tracker");
  CHECK_FALSE(all[0].facts.partial);
  CHECK(all[0].facts.complete);
  CHECK(all[0].facts.notes.empty());
}

TEST_CASE("tracker lines: rows by stack, by type and by both, with tags") {
  const auto all = read_lines(one_snapshot({
      R"j({"k":"live","stack":["f (a.c:3)","main (a.c:9)"],"bytes":10,"count":1})j",
      R"({"k":"live","type":"byte[]","bytes":20,"count":2})",
      R"j({"k":"live","stack":["f (a.c:3)","main (a.c:9)"],"type":"byte[]","bytes":30,"count":3})j",
      R"({"k":"live","type":"byte[]","bytes":40,"count":4,"tags":{"thread":"2","gen":"1"}})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"byte[] {gen=1,thread=2,type=byte[]} 40 4", "byte[] {type=byte[]} 20 2",
                                   "f@a.c:3;main@a.c:9 {type=byte[]} 30 3", "f@a.c:3;main@a.c:9 {} 10 1"});
}

TEST_CASE("tracker lines: equal keys are summed, whatever the order of their tags") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"live","type":"T","bytes":1,"count":1,"tags":{"a":"1","b":"2"}})",
      R"({"k":"live","type":"T","bytes":2,"count":1,"tags":{"b":"2","a":"1"}})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"T {a=1,b=2,type=T} 3 2"});
}

TEST_CASE("tracker lines: a missing amount is unknown, and so is every sum with it") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"live","type":"A","bytes":1})",
      R"({"k":"live","type":"A","bytes":2,"count":5})",
      R"({"k":"live","type":"B","bytes":null,"count":3})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"A {type=A} 3 ?", "B {type=B} ? 3"});
}

TEST_CASE("tracker lines: amounts are exact up to 2^63-1, and 1e3 and 12.0 are integers") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"live","type":"A","bytes":9223372036854775807})",
      R"({"k":"live","type":"B","bytes":0,"count":1e3})",
      R"({"k":"live","type":"C","bytes":0,"count":12.0})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"A {type=A} 9223372036854775807 ?", "B {type=B} 0 1000", "C {type=C} 0 12"});
}

TEST_CASE("tracker lines: frames and stacks of the tables") {
  const auto all = read_lines(lines({
      kHeader,
      R"({"k":"frame","id":7,"fn":"leaf","file":"a.cs","line":88})",
      R"({"k":"frame","id":9,"addr":"0x10","module":"libx.so","inlined":false})",
      R"({"k":"frame","id":10,"addr":32,"module":"libx.so"})",
      R"({"k":"snapshot","id":"s"})",
      R"({"k":"stack","id":4611686018427387904,"frames":[7,9,10]})",
      R"({"k":"live","stack":4611686018427387904,"bytes":5})",
      R"j({"k":"live","stack":["leaf (a.cs:88)"],"bytes":6})j",
      R"({"k":"end","id":"s","rows":2})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"leaf@a.cs:88 {} 6 -", "leaf@a.cs:88;libx.so+16;libx.so+32 {} 5 -"});
}

TEST_CASE("tracker lines: root-first turns both kinds of stacks") {
  const auto all = read_lines(lines({
      R"({"k":"header","format":"snapdiff-tracker","version":1,"order":"root-first"})",
      R"({"k":"frame","id":1,"fn":"main"})",
      R"({"k":"frame","id":2,"fn":"leaf"})",
      R"({"k":"stack","id":1,"frames":[1,2]})",
      R"({"k":"snapshot","id":"s"})",
      R"({"k":"live","stack":1,"bytes":1})",
      R"({"k":"live","stack":["main","leaf"],"bytes":1})",
      R"({"k":"end","id":"s","rows":2})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"leaf;main {} 2 -"});
}

TEST_CASE("tracker lines: an empty stack is one that nobody recorded") {
  const auto all = read_lines(one_snapshot({R"({"k":"live","stack":[],"bytes":1})"}));
  CHECK(rows_of(all.at(0)) == Rows{"[no stack recorded] {} 1 -"});
}

TEST_CASE("tracker lines: a definition is of the whole run, and may stand twice when it says the same") {
  const auto all = read_lines(lines({
      kHeader,
      R"({"k":"frame","id":1,"fn":"f"})",
      R"({"k":"stack","id":1,"frames":[1]})",
      R"({"k":"snapshot","id":"a"})",
      R"({"k":"live","stack":1,"bytes":1})",
      R"({"k":"end","id":"a","rows":1})",
      R"({"k":"frame","id":1,"fn":"f","x_note":"again"})",
      R"({"k":"stack","id":1,"frames":[1]})",
      R"({"k":"snapshot","id":"b"})",
      R"({"k":"live","stack":1,"bytes":2})",
      R"({"k":"end","id":"b","rows":1})",
  }));
  REQUIRE(all.size() == 2);
  CHECK(rows_of(all[0]) == Rows{"f {} 1 -"});
  CHECK(rows_of(all[1]) == Rows{"f {} 2 -"});
  CHECK_FALSE(all[1].facts.partial);
}

TEST_CASE("tracker lines: counters, their tags in the name in order of keys") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"counter","name":"live","value":3,"unit":"count","tags":{"thread":"3","level":"tensor"}})",
      R"({"k":"counter","name":"made","value":-7,"mode":"cumulative"})",
      R"({"k":"counter","name":"load","value":1.75,"mode":"gauge"})",
      R"({"k":"counter","name":"twice","value":1})",
      R"({"k":"counter","name":"twice","value":2})",
  }));
  const Snapshot& s = all.at(0);
  REQUIRE(s.facts.counters.size() == 4);
  CHECK(s.facts.counters[0] == Counter{"live{level=tensor,thread=3}", 3, "count", false, 0});
  CHECK(s.facts.counters[1] == Counter{"made", -7, "", true, 0});
  CHECK(s.facts.counters[2] == Counter{"load", 2, "", false, 1});
  CHECK(s.facts.counters[3].value == 2);
  CHECK(note_with(s, "a counter occurs twice") != nullptr);
  CHECK(note_with(s, "fractions of counters") != nullptr);
  CHECK(s.samples.columns.empty());
}

TEST_CASE("tracker lines: what header and snapshot tell are facts") {
  const auto all = read_lines(lines({
      R"({"k":"header","format":"snapdiff-tracker","version":1,"producer":"mine","producer_version":"2.1","complete":false,)"
      R"("process":{"pid":4242,"host":"gpu-7","cmdline":"train --epochs 3"},"bytes_kind":"estimated","x_site":"lab",)"
      R"("attrs":{"job":"resnet","sizes":[1,{"a":true}]}})",
      R"({"k":"snapshot","id":"e0","seq":3,"time":1767225600.5,"label":"after epoch 0","x_note":"first"})",
      R"({"k":"live","type":"T","bytes":1})",
      R"({"k":"end","id":"e0","rows":1})",
      R"({"k":"snapshot","id":"e1","seq":4,"time":"2026-01-01T01:00:01.25+01:00","complete":true})",
      R"({"k":"live","type":"T","bytes":1})",
      R"({"k":"end","id":"e1","rows":1})",
  }));
  const SnapshotFacts& facts = all.at(0).facts;
  CHECK(facts.producer == "mine 2.1");
  CHECK(facts.pid == 4242);
  CHECK(facts.host == "gpu-7");
  CHECK(facts.command_line == "train --epochs 3");
  CHECK(facts.taken_at_ns == 1767225600500000000);
  CHECK_FALSE(facts.complete);
  CHECK(facts.sampling == Sampling::unknown);
  CHECK(facts.comments == Rows{"id: e0", "label: after epoch 0", "seq: 3", "bytes_kind: estimated", "attrs.job: resnet",
                               R"(attrs.sizes: [1,{"a":true}])", "x_site: lab", "x_note: first"});
  CHECK(all.at(1).facts.complete);
  CHECK(all.at(1).facts.taken_at_ns == 1767225601250000000);
}

TEST_CASE("tracker lines: stated totals are counters, and a difference to the rows is told") {
  const auto text = [](const char* bytes) {
    return lines({kHeader, std::string(R"({"k":"snapshot","id":"s","totals":{"bytes":)") + bytes + R"(,"count":2}})",
                  R"({"k":"live","type":"A","bytes":30,"count":1})", R"({"k":"live","type":"B","bytes":12,"count":1})",
                  R"({"k":"end","id":"s","rows":2})"});
  };
  const auto same = read_lines(text("42"));
  CHECK(counter_called(same.at(0), "total_bytes") == Counter{"total_bytes", 42, "bytes", false, 0});
  CHECK(counter_called(same.at(0), "total_count") == Counter{"total_count", 2, "count", false, 0});
  CHECK(same.at(0).facts.notes.empty());
  const auto other = read_lines(text("50"));
  CHECK(counter_called(other.at(0), "total_bytes")->value == 50);
  REQUIRE(note_with(other.at(0), "totals of the snapshot differ") != nullptr);
  CHECK(note_with(other.at(0), "totals of the snapshot differ")->severity == Severity::warning);
  CHECK_FALSE(other.at(0).facts.partial);
}

TEST_CASE("tracker lines: empty lines, comments, CRLF and a byte order mark mean nothing") {
  std::string text =
      "\xef\xbb\xbf# made by hand\n\n" + one_snapshot({R"({"k":"live","type":"T","count":1})", "# x", "  "});
  // The comment and the empty line are no rows.
  text.replace(text.find("\"rows\":3"), 8, "\"rows\":1");
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  for (const std::string& form : {text, crlf}) {
    const auto all = read_lines(form);
    CHECK(rows_of(all.at(0)) == Rows{"T {type=T} - 1"});
    CHECK(all.at(0).facts.notes.empty());
    CHECK(check_lines(form).empty());
  }
}

TEST_CASE("tracker lines: the last line needs no end") {
  std::string text = one_snapshot({R"({"k":"live","type":"T","count":1})"});
  text.pop_back();
  CHECK_FALSE(read_lines(text).at(0).facts.partial);
}

TEST_CASE("tracker lines: unknown keys are told once each, x_ keys are attributes") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"live","type":"T","count":1,"colour":"red","x_a":1})",
      R"({"k":"live","type":"T","count":1,"colour":"red","fn":"no key of live"})",
  }));
  const Snapshot& s = all.at(0);
  REQUIRE(note_with(s, "live: unknown key colour") != nullptr);
  CHECK(note_with(s, "live: unknown key colour")->count == 2);
  CHECK(note_with(s, "live: unknown key colour")->severity == Severity::warning);
  CHECK(note_with(s, "live: unknown key fn") != nullptr);
  CHECK(note_with(s, "x_ keys of live lines are not kept") != nullptr);
  CHECK_FALSE(s.facts.partial);
}

TEST_CASE("tracker lines: of keys that stand twice the last is taken, and told") {
  const auto all = read_lines(one_snapshot({
      R"({"k":"live","type":"A","type":"B","count":1})",
      R"({"k":"live","type":"B","count":1,"tags":{"t":"1","t":"2"}})",
  }));
  CHECK(rows_of(all.at(0)) == Rows{"B {t=2,type=B} - 1", "B {type=B} - 1"});
  REQUIRE(note_with(all.at(0), "occurs twice") != nullptr);
  CHECK(note_with(all.at(0), "occurs twice")->count == 2);
}

TEST_CASE("tracker lines: unknown kinds of lines are ignored and counted, and are no rows") {
  const auto all = read_lines(
      lines({kHeader, R"({"k":"snapshot","id":"s"})", R"({"k":"gauge","bytes":"any"})",
             R"({"k":"live","type":"T","count":1})", R"({"k":"gauge"})", R"({"k":"end","id":"s","rows":1})"}));
  REQUIRE(note_with(all.at(0), "unknown k") != nullptr);
  CHECK(note_with(all.at(0), "unknown k")->count == 2);
  CHECK_FALSE(all.at(0).facts.partial);
}

TEST_CASE("tracker lines: long texts of a header are cut, since each snapshot has a copy of them") {
  const std::string text(5000, 'x');
  std::string attributes;
  for (int i = 0; i < 70; ++i)
    attributes += (i == 0 ? "\"a" : ",\"a") + std::to_string(i) + "\":\"" + text.substr(0, 100) + "\"";
  const auto all = read_lines(lines({R"({"k":"header","format":"snapdiff-tracker","version":1,"process":{"cmdline":")" +
                                         text + R"("},"attrs":{)" + attributes + "}}",
                                     R"({"k":"snapshot","id":"s"})", R"({"k":"end","id":"s","rows":0})"}));
  CHECK(all.at(0).facts.command_line.size() == 1024);
  CHECK(all.at(0).facts.comments.size() < 64);
  REQUIRE(note_with(all.at(0), "texts beyond 1024 bytes are cut") != nullptr);
  CHECK(note_with(all.at(0), "texts beyond 1024 bytes are cut")->severity == Severity::info);
}
