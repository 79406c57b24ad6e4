#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Rows = std::vector<std::string>;

namespace {

const std::string kGood = R"({"k":"live","type":"T","bytes":8,"count":1})";

/// A file whose third line is `bad`, and whose writer counted it as a row.
std::string with_bad_line(const std::string& bad) { return one_snapshot({bad, kGood}); }

}  // namespace

TEST_CASE("tracker lines: a line that breaks a rule is dropped, named, and makes its snapshot partial") {
  const auto [bad, rule, text] = GENERATE(table<std::string, std::string, std::string>({
      {"{\"k\":\"live\"", "rule 7", "invalid JSON"},
      {"no JSON at all", "rule 7", "invalid JSON"},
      {"[1,2]", "rule 7", "line is no object: found an array"},
      {"12", "rule 7", "line is no object: found 12"},
      {"{}", "rule 7", "line without k"},
      {R"({"k":3})", "rule 7", "line: k is not what is expected: found 3, expected a text"},
      {R"({"k":"live","type":"T"})", "rule 7", "live without bytes or count"},
      {R"({"k":"live","bytes":1})", "rule 7", "live without stack or type"},
      {R"({"k":"live","type":3,"bytes":1})", "rule 7", "live: type is not what is expected: found 3, expected a text"},
      {R"({"k":"live","type":"T","bytes":-1})", "rule 7", "found -1, expected an integer from 0 to 2^63-1"},
      {R"({"k":"live","type":"T","count":1.5})", "rule 7", "found 1.5, expected an integer from 0 to 2^63-1"},
      {R"({"k":"live","type":"T","bytes":"12"})", "rule 7", "found \"12\", expected an integer"},
      {R"({"k":"live","type":"T","bytes":9223372036854775808})", "rule 7", "expected an integer from 0 to 2^63-1"},
      {R"({"k":"live","type":"T","bytes":1e19})", "rule 7", "expected an integer from 0 to 2^63-1"},
      {R"({"k":"live","type":"T","bytes":NaN})", "rule 7", "invalid JSON"},
      {R"({"k":"live","type":"T","bytes":Infinity})", "rule 7", "invalid JSON"},
      {R"({"k":"live","type":"T","bytes":1e999})", "rule 7", "invalid JSON"},
      {R"({"k":"live","type":"T","bytes":true})", "rule 7", "found true"},
      {R"({"k":"live","type":"T","bytes":1,"tags":{"a":1}})", "rule 7", "something else than texts: found 1"},
      {R"({"k":"live","type":"T","bytes":1,"tags":"a"})", "rule 7", "expected an object of texts"},
      {R"({"k":"live","stack":7,"bytes":1})", "rule 1", "live names a stack that is not defined: found 7"},
      {R"({"k":"live","stack":[7],"bytes":1})", "rule 7", "inline stack holds something else than texts: found 7"},
      {R"({"k":"live","stack":"f","bytes":1})", "rule 7", "expected the id of a stack line, or an array of texts"},
      {R"({"k":"live","type":"T","bytes":1,"x":[[[[[[[[1]]]]]]]]})", "rule 7", "nested deeper than 8 levels"},
      {R"({"k":"frame","id":0,"fn":"f"})", "rule 7", "expected an integer from 1"},
      {R"({"k":"frame","id":1})", "rule 7", "frame without fn or addr"},
      {R"({"k":"frame","fn":"f"})", "rule 7", "frame without id"},
      {R"({"k":"frame","id":1,"fn":"f","line":2147483648})", "rule 7", "expected a line number below 2^31"},
      {R"({"k":"frame","id":1,"addr":"0xyz"})", "rule 7", "expected an address"},
      {R"({"k":"frame","id":1,"fn":"f","inlined":1})", "rule 7", "expected true or false"},
      {R"({"k":"stack","id":1,"frames":[4]})", "rule 1", "stack names a frame that is not defined: found 4"},
      {R"({"k":"stack","id":1,"frames":["4"]})", "rule 7", "stack names a frame that is not defined: found \"4\""},
      {R"({"k":"stack","id":1})", "rule 7", "stack without frames"},
      {R"({"k":"counter","name":"n"})", "rule 7", "counter without value"},
      {R"({"k":"counter","value":1})", "rule 7", "counter without name"},
      {R"({"k":"counter","name":"n","value":1e300})", "rule 7", "expected a number from -2^63 to 2^63-1"},
      {R"({"k":"counter","name":"n","value":1,"mode":"sum"})", "rule 7", "expected gauge or cumulative"},
      {R"({"k":"node","type":"T"})", "rule 7", "node without id"},
      {R"({"k":"node","id":1})", "rule 7", "node without type"},
      {R"({"k":"node","id":1.5,"type":"T"})", "rule 7", "expected a text or an integer"},
      {R"({"k":"node","id":1,"type":"T","root":3})", "rule 7", "expected the kind of the root, or true"},
      {R"({"k":"edge","from":1})", "rule 7", "edge without to"},
      {R"({"k":"edge","to":1})", "rule 7", "edge without from"},
      {R"({"k":"edge","from":1,"to":1,"label":-1})", "rule 7", "expected a text, or the index in an array"},
  }));
  INFO(bad);
  const std::string bytes = with_bad_line(bad);
  const auto all = read_lines(bytes);
  REQUIRE(all.size() == 1);
  CHECK(rows_of(all[0]) == Rows{"T {type=T} 8 1"});
  CHECK(all[0].facts.partial);
  REQUIRE(all[0].facts.notes.all().size() == 1);
  const Note& note = all[0].facts.notes.all()[0];
  CHECK(note.severity == Severity::data_loss);
  CHECK(note.text.find("line dropped: ") == 0);
  CHECK(note.text.find(", line 3") != std::string::npos);
  CHECK(note.first_offset == bytes.find(bad));

  const auto told = check_lines(bytes);
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("3 " + rule + " data loss ") == 0);
  CHECK(told[0].find(text) != std::string::npos);

  const Error error = error_of_lines(bytes, true);
  CHECK(error.code == ErrorCode::malformed);
  CHECK(error.offset == bytes.find(bad));
  CHECK(error.message.find("line 3 (" + rule + "): ") == 0);
  CHECK(error.message.find(text) != std::string::npos);
}

TEST_CASE("tracker lines: frames and stacks defined again, and differently") {
  const std::string bytes = lines({
      kHeader,
      R"({"k":"frame","id":1,"fn":"f"})",
      R"({"k":"stack","id":1,"frames":[1]})",
      R"({"k":"frame","id":1,"fn":"g"})",
      R"({"k":"stack","id":1,"frames":[1,1]})",
      R"({"k":"snapshot","id":"s"})",
      R"({"k":"live","stack":1,"bytes":1})",
      R"({"k":"end","id":"s","rows":1})",
  });
  CHECK(
      check_lines(bytes) ==
      Rows{"4 rule 1 data loss frame defined again, and differently: found id 1, expected equal content or another id",
           "5 rule 1 data loss stack defined again, and differently: found id 1, expected equal content or another "
           "id"});
  const auto all = read_lines(bytes);
  CHECK(rows_of(all.at(0)) == Rows{"f {} 1 -"});
  CHECK(all.at(0).facts.partial);
}

TEST_CASE("tracker lines: rows outside a snapshot") {
  const std::string row = GENERATE(R"({"k":"live","type":"T","bytes":8})", R"({"k":"counter","name":"n","value":1})",
                                   R"({"k":"node","id":1,"type":"T"})", R"({"k":"edge","from":1,"to":1})",
                                   R"({"k":"end","id":"s","rows":0})");
  const auto told = check_lines(lines({kHeader, row}) + one_snapshot({kGood}).substr(kHeader.size() + 1));
  REQUIRE(told.size() == 1);
  CHECK(told[0].find(" outside a snapshot") != std::string::npos);
  CHECK(told[0].find("2 rule ") == 0);
}

TEST_CASE("tracker lines: a hundred bad lines are borne, not one more") {
  std::string bad;
  for (int i = 0; i < 100; ++i) bad += "{\"k\":\"live\"}\n";
  const std::string head = lines({kHeader, R"({"k":"snapshot","id":"s"})"});
  const std::string tail = lines({kGood, R"({"k":"end","id":"s","rows":101})"});
  const auto all = read_lines(head + bad + tail);
  REQUIRE(note_with(all.at(0), "live without") != nullptr);
  CHECK(note_with(all.at(0), "live without")->count == 100);
  const Error error = error_of_lines(head + bad + "{\n" + tail);
  CHECK(error.code == ErrorCode::malformed);
  CHECK(error.message.find("more than 100 bad lines, the first: line 3: live without") == 0);
  // A check goes through to the end.
  CHECK(check_lines(head + bad + bad + tail).size() == 200);
}

TEST_CASE("tracker lines: what does not begin with a header is another format") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {R"({"k":"snapshot","id":"s"})", "first line is no header"},
      {R"({"k":"header","format":"other","version":1})", "header without \"format\""},
      {R"({"k":"header","version":1})", "header without \"format\""},
      {R"({"k":"header","format":"snapdiff-tracker"})", "header without version"},
      {R"({"k":"header","format":"snapdiff-tracker","version":0})", "found 0, expected 1"},
      {R"({"k":"header","format":"snapdiff-tracker","version":"1"})", "found \"1\", expected 1"},
      {R"({"k":"header","format":"snapdiff-tracker","version":1,"order":"up"})", "expected leaf-first or root-first"},
      {R"({"k":"header","format":"snapdiff-tracker","version":1,"bytes_kind":"x"})", "expected requested, allocated"},
      {R"({"k":"header","format":"snapdiff-tracker","version":1,"process":{"pid":"x"}})", "process.pid"},
      {"hello", "invalid JSON"},
      {"# nothing but a comment", "no header line"},
  }));
  const Error error = error_of_lines(text + "\n" + one_snapshot({kGood}).substr(kHeader.size() + 1));
  INFO(error.message);
  CHECK(error.code == ErrorCode::malformed);
  if (text[0] != '#') CHECK(error.message.find("expected a header") != std::string::npos);
  if (text[0] != '#') CHECK(error.message.find(message) != std::string::npos);
}

TEST_CASE("tracker lines: a later version is refused by its number") {
  const Error error = error_of_lines("{\"k\":\"header\",\"format\":\"snapdiff-tracker\",\"version\":2}\n");
  CHECK(error.code == ErrorCode::unsupported);
  CHECK(error.message == "written for version 2, this build reads 1");
}

TEST_CASE("tracker lines: a file without a whole snapshot says why") {
  CHECK(error_of_lines(kHeader + "\n").message == "no snapshot in the input, expected at least one");
  const Error error =
      error_of_lines(lines({kHeader, R"({"k":"snapshot","id":"s"})", R"({"k":"end","id":"s","rows":4})"}));
  CHECK(error.message.find("line 3: snapshot dropped: row count differs from the end record: found 0, expected 4") !=
        std::string::npos);
}

TEST_CASE("tracker lines: sums beyond 2^63-1 are refused") {
  const std::string most = R"("bytes":9223372036854775807})";
  CHECK(error_of_lines(one_snapshot({R"({"k":"live","type":"A",)" + most, R"({"k":"live","type":"A",)" + most})).code ==
        ErrorCode::limit);
  CHECK(error_of_lines(one_snapshot({R"({"k":"live","type":"A",)" + most, R"({"k":"live","type":"B",)" + most})).code ==
        ErrorCode::limit);
  CHECK(error_of_lines(one_snapshot({R"({"k":"node","id":1,"type":"A",)" + most,
                                     R"({"k":"node","id":2,"type":"B",)" + most, kGood}))
            .code == ErrorCode::limit);
}
