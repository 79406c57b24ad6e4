#include "formats/valgrind/json_tokens.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "formats/input/read_failure.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats::valgrind;

namespace {

/// All tokens as one line; "!" and the message where it is refused.
std::string tokens(std::string_view text, std::size_t window = 0) {
  test::MemoryInput in(text, window);
  JsonTokens reader(in);
  std::string out;
  try {
    for (;;) {
      switch (reader.next()) {
        case JsonTokens::Kind::object_begin: out += '{'; break;
        case JsonTokens::Kind::object_end: out += '}'; break;
        case JsonTokens::Kind::array_begin: out += '['; break;
        case JsonTokens::Kind::array_end: out += ']'; break;
        case JsonTokens::Kind::key: out += "K(" + std::string(reader.text()) + ")"; break;
        case JsonTokens::Kind::text: out += "T(" + std::string(reader.text()) + ")"; break;
        case JsonTokens::Kind::number: out += "N(" + std::string(reader.text()) + ")"; break;
        case JsonTokens::Kind::word: out += "W(" + std::string(reader.text()) + ")"; break;
        case JsonTokens::Kind::end: return out;
      }
    }
  } catch (const formats::ReadFailure& failure) {
    return out + "!" + failure.error.message;
  }
}

}  // namespace

TEST_CASE("json: tokens in order, in any window") {
  const std::string text = R"( {"a" : [1, -2.5e3 ,true,null], "b":{"c":"x\n\u00e9\ud83d\ude00"}, "d":[], "e":{}} )";
  const std::string expected =
      "{K(a)[N(1)N(-2.5e3)W(true)W(null)]K(b){K(c)T(x\n\xc3\xa9\xf0\x9f\x98\x80)}K(d)[]K(e){}}";
  for (const std::size_t window : {0U, 1U, 2U, 5U}) CHECK(tokens(text, window) == expected);
  CHECK(tokens("7") == "N(7)");
}

TEST_CASE("json: texts are bytes, a lone surrogate is kept") {
  CHECK(tokens("\"\xff\xfe\"") == "T(\xff\xfe)");
  CHECK(tokens(R"("\ud800")") == "T(\xed\xa0\x80)");
  CHECK(tokens(R"("\ud800\n")") == "T(\xed\xa0\x80\n)");
  CHECK(tokens(R"("\ud800\u0041")") ==
        "T(\xed\xa0\x80"
        "A)");
}

TEST_CASE("json: broken grammar is refused with what was found") {
  const auto [text, words] = GENERATE(table<std::string, std::string>({
      {"", "!JSON ends early: expected a value"},
      {"{", "{!JSON ends early: expected a key or }"},
      {"[1", "[N(1)!JSON ends early: expected , or ]"},
      {"[1 2]", "[N(1)!malformed JSON: found \"2\", expected , or ]"},
      {"[1,]", "[N(1)!malformed JSON: found \"]\", expected a value"},
      {"{\"a\" 1}", "{!malformed JSON: found \"1\", expected :"},
      {"{\"a\":1,}", "{K(a)N(1)!malformed JSON: found \"}\", expected a key"},
      {"{a:1}", "{!malformed JSON: found \"a\", expected a key or }"},
      {"[01]", "[!malformed JSON: bad number \"01\""},
      {"[1.]", "[!malformed JSON: bad number \"1.\""},
      {"[1e]", "[!malformed JSON: bad number \"1e\""},
      {"[-]", "[!malformed JSON: bad number \"-\""},
      {"[nul]", "[!malformed JSON: found \"nul\", expected a value"},
      {"[truetrue]", "[!malformed JSON: found \"truetr\", expected a value"},
      {"\"abc", "!JSON ends early: expected the end of a text"},
      {"\"\\x\"", "!malformed JSON: found \"x\", expected an escape"},
      {"\"\\u12g4\"", "!malformed JSON: found \"g\", expected four hexadecimal digits"},
      {"[]]", "[]!malformed JSON: found \"]\", expected nothing after the value"},
      {"]", "!malformed JSON: found \"]\", expected a value"},
  }));
  CHECK(tokens(text) == words);
}

TEST_CASE("json: deep nesting is refused without recursion") {
  const std::string out = tokens(std::string(10'000, '['));
  CHECK(out == std::string(64, '[') + "!JSON is nested too deeply: expected at most 64 levels");
}
