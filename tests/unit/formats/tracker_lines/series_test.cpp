#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "formats/registry.hpp"
#include "helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Rows = std::vector<std::string>;

namespace {

/// A snapshot with one row of `bytes`; `more` is put into its first line.
std::string snapshot_of(const std::string& id, int bytes, const std::string& more = {}) {
  return lines({R"({"k":"snapshot","id":")" + id + "\"" + more + "}",
                R"({"k":"live","type":"T","bytes":)" + std::to_string(bytes) + "}",
                R"({"k":"end","id":")" + id + R"(","rows":1})"});
}

std::vector<std::int64_t> bytes_of(const std::vector<Snapshot>& all) {
  std::vector<std::int64_t> out;
  for (const Snapshot& snapshot : all) {
    const Column* column = snapshot.column("inuse_space");
    out.push_back(column == nullptr || column->value.empty() ? 0 : column->value[0]);
  }
  return out;
}

using Order = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("tracker lines: order by seq, else by time, else by place") {
  const std::string head = kHeader + "\n";
  CHECK(bytes_of(read_lines(head + snapshot_of("a", 1, R"(,"seq":2,"time":1)") +
                            snapshot_of("b", 2, R"(,"seq":1,"time":2)"))) == Order{2, 1});
  CHECK(bytes_of(read_lines(head + snapshot_of("a", 1, R"(,"seq":2,"time":20)") +
                            snapshot_of("b", 2, R"(,"time":10)"))) == Order{2, 1});
  CHECK(bytes_of(read_lines(head + snapshot_of("a", 1, R"(,"seq":2,"time":20)") + snapshot_of("b", 2) +
                            snapshot_of("c", 3, R"(,"seq":0,"time":0)"))) == Order{1, 2, 3});
  const auto turned = read_lines(head + snapshot_of("a", 1, R"(,"seq":2)") + snapshot_of("b", 2, R"(,"seq":1)"));
  CHECK(note_with(turned.at(0), "in the order of their seq") != nullptr);
  CHECK(turned.at(0).facts.position == 0);
}

TEST_CASE("tracker lines: an appended run keeps its place, its own ids and its own tables") {
  const std::string run = kHeader + "\n" +
                          lines({R"({"k":"frame","id":1,"fn":"f"})", R"({"k":"stack","id":1,"frames":[1]})"}) +
                          snapshot_of("a", 1, R"(,"seq":5)");
  const std::string again = kHeader + "\n" +
                            lines({R"({"k":"frame","id":1,"fn":"g"})", R"({"k":"stack","id":1,"frames":[1]})"}) +
                            snapshot_of("a", 2, R"(,"seq":1)");
  const auto all = read_lines(run + again);
  CHECK(bytes_of(all) == Order{1, 2});
  CHECK(check_lines(run + again).empty());
  const auto told =
      check_lines(run + kHeader + "\n" + R"({"k":"snapshot","id":"b"})" + "\n" + R"({"k":"live","stack":1,"bytes":1})" +
                  "\n" + R"({"k":"end","id":"b","rows":1})" + "\n");
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("stack that is not defined") != std::string::npos);
}

TEST_CASE("tracker lines: an id that is there already costs the second snapshot, not the rest") {
  const std::string bytes = kHeader + "\n" + snapshot_of("a", 1) + snapshot_of("a", 2) + snapshot_of("b", 3);
  const auto all = read_lines(bytes);
  CHECK(bytes_of(all) == Order{1, 3});
  CHECK(note_with(all.at(1), "snapshot id is there already") != nullptr);
  CHECK(note_with(all.at(1), "rows of a snapshot whose first line was dropped") != nullptr);
  CHECK(error_of_lines(bytes, true)
            .message.find("line 5 (rule 4): snapshot id is there already in this run: found \"a\"") == 0);
}

TEST_CASE("tracker lines: a snapshot line that is dropped takes its rows with it") {
  for (const char* bad :
       {R"({"k":"snapshot"})", R"({"k":"snapshot","id":7})", R"({"k":"snapshot","id":"x","seq":"1"})",
        R"({"k":"snapshot","id":"x","time":"yesterday"})", R"({"k":"snapshot","id":"x","time":1e12})",
        R"({"k":"snapshot","id":"x","totals":{"bytes":-1}})", R"({"k":"snapshot","id":"x","complete":0})"}) {
    const std::string bytes = kHeader + "\n" + snapshot_of("a", 1) + bad + "\n" +
                              R"({"k":"live","type":"T","bytes":9})" + "\n" + R"({"k":"end","id":"x","rows":1})" +
                              "\n" + snapshot_of("b", 3);
    INFO(bad);
    const auto all = read_lines(bytes);
    CHECK(bytes_of(all) == Order{1, 3});
    CHECK_FALSE(all.at(0).facts.partial);
    CHECK(all.at(1).facts.partial);
  }
}

TEST_CASE("tracker lines: a snapshot with other rows than its end says is dropped") {
  for (const char* rows : {"0", "2", "9223372036854775807"}) {
    std::string wrong = snapshot_of("a", 1);
    wrong.replace(wrong.find("\"rows\":1") + 7, 1, rows);
    const auto all = read_lines(kHeader + "\n" + wrong + snapshot_of("b", 2));
    CHECK(bytes_of(all) == Order{2});
    REQUIRE(note_with(all.at(0), "row count differs") != nullptr);
    CHECK(note_with(all.at(0), "row count differs")->severity == Severity::data_loss);
    CHECK_FALSE(all.at(0).facts.partial);
  }
  std::string other = snapshot_of("a", 1);
  other.replace(other.rfind("\"a\""), 3, "\"z\"");
  CHECK(bytes_of(read_lines(kHeader + "\n" + other + snapshot_of("b", 2))) == Order{2});
}

TEST_CASE("tracker lines: a snapshot without an end is kept and partial") {
  std::string open = snapshot_of("a", 1);
  open.erase(open.find(R"({"k":"end")"));
  const std::string head = kHeader + "\n";
  for (const std::string& bytes : {head + open + snapshot_of("b", 2), head + open + head + snapshot_of("a", 2)}) {
    const auto all = read_lines(bytes);
    CHECK(bytes_of(all) == Order{1, 2});
    CHECK(all.at(0).facts.partial);
    CHECK_FALSE(all.at(1).facts.partial);
    CHECK(check_lines(bytes).size() == 1);
  }
  const auto last = read_lines(head + snapshot_of("b", 2) + open);
  CHECK(bytes_of(last) == Order{2, 1});
  CHECK(last.at(1).facts.partial);
  CHECK_FALSE(last.at(0).facts.partial);
}

TEST_CASE("tracker lines: a last line that is not whole is dropped with a warning and is no bad line") {
  const std::string whole = kHeader + "\n" + snapshot_of("a", 1) + snapshot_of("b", 2);
  const auto all = read_lines(whole + R"({"k":"snapsh)");
  CHECK(bytes_of(all) == Order{1, 2});
  CHECK(note_with(all.at(1), "the last line is not whole") != nullptr);
  CHECK_FALSE(all.at(1).facts.partial);
}

TEST_CASE("tracker lines: a snapshot without rows in a run with rows says zero, not nothing") {
  const auto all = read_lines(lines({kHeader, R"({"k":"snapshot","id":"a"})", R"({"k":"end","id":"a","rows":0})"}) +
                              snapshot_of("b", 2));
  REQUIRE(all.size() == 2);
  REQUIRE(all[0].column("inuse_space") != nullptr);
  CHECK(all[0].samples.size() == 0);
}

TEST_CASE("tracker lines: the shared series give the growth of their truth") {
  const std::string folder = SNAPDIFF_SHARED_DATA "/trackers/native-jsonl/";
  const auto read_shared = [&](const char* name) {
    std::ifstream file(folder + name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string types = read_shared("gc_types.sdt.jsonl");
  if (types.empty()) {
    WARN("skipped: the shared tracker series are not here");
    return;
  }
  CHECK(formats::detect(types.substr(0, kSniffBytes), false).value()->info.name == "snapdiff-tracker");
  const auto all = read_lines(types);
  REQUIRE(all.size() == 4);
  for (std::size_t step = 0; step < 4; ++step) {
    // SOURCES.md: +25 objects, +1400 bytes a step.
    const auto n = static_cast<long>(25 * (step + 1));
    const std::string row = "__main__.Job {type=__main__.Job} " + std::to_string(n * 56) + " " + std::to_string(n);
    const Rows rows = rows_of(all[step]);
    CHECK(std::find(rows.begin(), rows.end(), row) != rows.end());
    CHECK(all[step].facts.notes.empty());
  }
  const auto full = read_lines(read_shared("constructed-full.sdt.jsonl"));
  REQUIRE(full.size() == 2);
  CHECK(rows_of(full[1]) == Rows{"Cache.Put@cache.cs:31;Program.Main@program.cs:12 {type=byte[]} 4096 1",
                                 "Trainer.step@trainer.cs:88;Program.Main@program.cs:12 "
                                 "{device=cuda:0,dtype=float32,type=Tensor} 2097152 40"});
  CHECK_FALSE(full[1].facts.partial);
  CHECK(full[1].graph != nullptr);
  CHECK(counter_called(full[1], "DetachedFromScopeCount{thread=1}") ==
        Counter{"DetachedFromScopeCount{thread=1}", 40, "objects", true, 0});
  const auto cut = read_lines(read_shared("constructed-truncated.sdt.jsonl"));
  REQUIRE(cut.size() == 2);
  CHECK_FALSE(cut[0].facts.partial);
  CHECK(cut[1].facts.partial);
  CHECK(rows_of(cut[1]) == rows_of(full[1]));
}

TEST_CASE("tracker lines: rows in the order of the snapshot before, in another, repeated, or some of them") {
  const auto live = [](const char* type, int bytes) {
    return std::string(R"({"k":"live","type":")") + type + R"(","bytes":)" + std::to_string(bytes) + "}";
  };
  int number = 0;
  const auto snapshot = [&](std::initializer_list<std::string> rows) {
    const std::string id = std::to_string(number++);
    return lines({R"({"k":"snapshot","id":")" + id + "\"}"}) + lines(rows) +
           lines({R"({"k":"end","id":")" + id + R"(","rows":)" + std::to_string(rows.size()) + "}"});
  };
  std::string bytes = kHeader + "\n";
  bytes += snapshot({live("A", 1), live("B", 2), live("A", 4), live("C", 8)});
  bytes += snapshot({live("A", 1), live("B", 2), live("C", 8)});
  bytes += snapshot({live("A", 1), live("B", 2), live("B", 2), live("A", 1), live("D", 3)});
  bytes += snapshot({live("B", 2), live("A", 1), live("B", 2)});
  bytes += snapshot({live("B", 2), live("A", 1), live("B", 2), live("A", 5)});
  const auto all = read_lines(bytes);
  REQUIRE(all.size() == 5);
  CHECK(rows_of(all[0]) == Rows{"A {type=A} 5 -", "B {type=B} 2 -", "C {type=C} 8 -"});
  CHECK(rows_of(all[1]) == Rows{"A {type=A} 1 -", "B {type=B} 2 -", "C {type=C} 8 -"});
  CHECK(rows_of(all[2]) == Rows{"A {type=A} 2 -", "B {type=B} 4 -", "D {type=D} 3 -"});
  CHECK(rows_of(all[3]) == Rows{"A {type=A} 1 -", "B {type=B} 4 -"});
  CHECK(rows_of(all[4]) == Rows{"A {type=A} 6 -", "B {type=B} 4 -"});
}
