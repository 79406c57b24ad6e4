#include "analyzer/session/operands.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "analyzer/session/list_text.hpp"

namespace snapdiff::session {
namespace {

template <class What>
What parsed(const std::string& text) {
  const Result<Operand> operand = parse_operand(text);
  REQUIRE(operand);
  CHECK(operand->text == text);
  REQUIRE(std::holds_alternative<What>(operand->what));
  return std::get<What>(operand->what);
}

TEST_CASE("operands: an existing path wins over every other reading") {
  CHECK(parsed<PathOperand>("-").path == "-");
  CHECK(parsed<PathOperand>(SNAPDIFF_TEST_DATA).is_directory);
  const std::string file = std::string(SNAPDIFF_TEST_DATA) + "/go_text/SOURCES.md";
  const PathOperand moment = parsed<PathOperand>(file + "@peak");
  CHECK(moment.path == file);
  CHECK(moment.point == "peak");
  CHECK(parsed<SeriesOperand>(std::string(SNAPDIFF_TEST_DATA) + "@peak").position == 0);  // no moment of a folder
}

TEST_CASE("operands: references into a store") {
  CHECK(parsed<StoredOperand>("@7").id == 7);
  CHECK(parsed<StoredOperand>("@last").word == "last");
  CHECK(parsed<StoredOperand>("@3@peak").point == "peak");
  CHECK(parsed<RangeOperand>("@2..@9").to == 9);
  CHECK(parsed<SeriesOperand>("web#-1").position == -1);
  CHECK(parsed<SeriesOperand>("web#2..#9").last == 9);
  CHECK(parsed<SeriesOperand>("web#3@oom").point == "oom");
  CHECK(parsed<LabelOperand>("label:release=1.4").value == "1.4");
  CHECK(is_whole_series(*parse_operand("web")));
  CHECK_FALSE(is_whole_series(*parse_operand("web#1")));
}

TEST_CASE("operands: what begins like a reference and is not one is an error of usage") {
  for (const std::string text : {"@", "@0", "@9..@2", "@first..", "label:", "label:=x"}) {
    INFO(text);
    const Result<Operand> operand = parse_operand(text);
    REQUIRE_FALSE(operand);
    CHECK(operand.error().code == ErrorCode::usage);
  }
  CHECK_FALSE(parse_operands({"@1", "@0"}));
}

TEST_CASE("lists say how many they leave out") {
  CHECK(list_text({}) == "");
  CHECK(list_text({"a", "b"}) == "a, b");
  CHECK(list_and_others({"a", "b"}, 2) == "a, b");
  CHECK(list_and_others({"a", "b", "c", "d", "e"}, 2) == "a, b and 3 others");
  CHECK(list_and_more({"a", "b", "c"}, 2) == "a, b, ...");
  CHECK(list_and_more({"a"}, 2) == "a");
}

}  // namespace
}  // namespace snapdiff::session
