#include "formats/json/json_walk.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats::json;

namespace {

void value(JsonScanner& json, std::string& out, std::size_t depth) {
  const Kind kind = json.kind();
  switch (kind) {
    case Kind::object:
      json.check_depth(depth, 64);
      out += '{';
      json.each_member([&](std::string_view key) {
        out += "K(" + std::string(key) + ")";
        value(json, out, depth + 1);
      });
      out += '}';
      return;
    case Kind::array:
      json.check_depth(depth, 64);
      out += '[';
      json.each_item([&](std::size_t) { value(json, out, depth + 1); });
      out += ']';
      return;
    case Kind::text: {
      std::string text;
      json.text(text);
      out += "T(" + text + ")";
      return;
    }
    case Kind::number: out += "N(" + std::string(json.number_text()) + ")"; return;
    case Kind::boolean: out += json.boolean() ? "W(true)" : "W(false)"; return;
    case Kind::null:
      json.null();
      out += "W(null)";
      return;
  }
}

/// All tokens as one line; "!" and the message with its offset where it is refused.
std::string tokens(std::string_view text, std::size_t window = 0) {
  test::MemoryInput in(text, window);
  JsonScanner json(in);
  std::string out;
  try {
    value(json, out, 0);
    if (!json.at_end()) json.unexpected("nothing after the value");
    return out;
  } catch (const snapdiff::Failure& failure) {
    return out + "!" + std::to_string(failure.error.offset.value_or(999'999)) + " " + failure.error.message;
  }
}

/// The same where the value is skipped; "" when it was.
std::string skipped(std::string_view text, std::size_t window = 0) {
  test::MemoryInput in(text, window);
  JsonScanner json(in);
  try {
    json.skip_value();
    if (!json.at_end()) json.unexpected("nothing after the value");
    return {};
  } catch (const snapdiff::Failure& failure) {
    return "!" + std::to_string(failure.error.offset.value_or(999'999)) + " " + failure.error.message;
  }
}

/// The rows of an array of numbers, each with its offset, and the error where there is one. `at_once`: with rows(),
/// which is counted in `quick`.
std::string rows_of(std::string_view text, std::size_t width, bool at_once, std::size_t window, std::size_t& quick) {
  test::MemoryInput in(text, window);
  JsonScanner json(in);
  std::string out;
  NumberRun run{};
  try {
    json.expect('[', "[");
    json.token();
    for (bool more = true; more;) {
      const std::uint64_t start = json.offset();
      if (const std::size_t rows = at_once ? json.rows(run, width, 1000) : 0; rows > 0) {
        quick += rows;
        for (std::size_t i = 0; i < rows * width; ++i) {
          if (i % width == 0) out += "@" + std::to_string(start + run.begin[i]);
          out += " " + std::to_string(run.value[i]);
        }
        continue;
      }
      out += "@" + std::to_string(start);
      for (std::size_t field = 0; field < width; ++field) {
        out += " " + std::to_string(json.number());
        more = json.next_item();
        if (!more && field + 1 < width) return out + " ends within a row";
      }
    }
    return out;
  } catch (const snapdiff::Failure& failure) {
    return out + "!" + std::to_string(failure.error.offset.value_or(999'999)) + " " + failure.error.message;
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
      {"", "!0 truncated JSON: the input ends, expected a value"},
      {"{", "{!1 truncated JSON: the input ends, expected a key or }"},
      {"[1", "[N(1)!2 truncated JSON: the input ends, expected , or ]"},
      {"[1 2]", "[N(1)!3 malformed JSON: found \"2\", expected , or ]"},
      {"[1,]", "[N(1)!3 malformed JSON: found \"]\", expected a value"},
      {"{\"a\" 1}", "{!5 malformed JSON: found \"1\", expected :"},
      {"{\"a\":1,}", "{K(a)N(1)!7 malformed JSON: found \"}\", expected a key"},
      {"{a:1}", "{!1 malformed JSON: found \"a\", expected a key or }"},
      {"[01]", "[!1 malformed JSON: bad number \"01\""},
      {"[1.]", "[!1 malformed JSON: bad number \"1.\""},
      {"[1e]", "[!1 malformed JSON: bad number \"1e\""},
      {"[-]", "[!1 malformed JSON: bad number \"-\""},
      {"[nul]", "[!4 malformed JSON: found \"]\", expected null"},
      {"[truetrue]", "[W(true)!5 malformed JSON: found \"t\", expected , or ]"},
      {"\"abc", "!4 truncated JSON: the input ends, expected the end of the text that begins at byte 0"},
      {"\"\\", "!2 truncated JSON: the input ends, expected the rest of an escape"},
      {"\"\\u12", "!5 truncated JSON: the input ends, expected four hexadecimal digits"},
      {"\"\\x\"", "!2 malformed JSON: found \"x\", expected an escape"},
      {"\"\\u12g4\"", "!5 malformed JSON: found \"g\", expected four hexadecimal digits"},
      {"[]]", "[]!2 malformed JSON: found \"]\", expected nothing after the value"},
      {"]", "!0 malformed JSON: found \"]\", expected a value"},
  }));
  for (const std::size_t window : {0U, 1U}) CHECK(tokens(text, window) == words);
}

TEST_CASE("json: a value that is skipped is checked like one that is read") {
  const std::string text = GENERATE(std::string("[1 2]"), "[1,]", "{\"a\" 1}", "{\"a\":1,}", "[01]", "[-]", "[nul]",
                                    "[1", "\"abc", "[]]", "]");
  for (const std::size_t window : {0U, 1U}) {
    const std::string read = tokens(text, window);
    CHECK(skipped(text, window) == read.substr(read.find('!')));
  }
  for (const std::size_t window : {0U, 1U, 2U, 5U}) {
    CHECK(skipped(R"( {"a":[1,-2.5e3 ,true,null],"b":{"c":"x\"\\\u00e9"},"d":[],"e":{}} )", window).empty());
  }
}

TEST_CASE("json: a long text is cut before a character") {
  test::MemoryInput in("\"abc\xc3\xa9xyz\" 7", 0);
  JsonScanner json(in);
  std::string text;
  CHECK(json.text(text, 4));
  CHECK(text == "abc");
  CHECK(json.number() == 7);
}

TEST_CASE("json: NULs behind a value are padding") {
  for (const auto& [text, rest] : {std::pair<std::string_view, bool>{"7 ", false},
                                   {std::string_view("7\0 \0", 4), false},
                                   {std::string_view("7\0x", 3), true}}) {
    test::MemoryInput in(text, 0);
    JsonScanner json(in);
    json.skip_value();
    CHECK(json.has_rest() == rest);
  }
}

TEST_CASE("json: deep nesting is refused without recursion") {
  const std::string out = tokens(std::string(10'000, '['));
  CHECK(out == std::string(64, '[') + "!64 nested too deeply: expected at most 64 levels");
  CHECK(skipped(std::string(10'000, '[')) == "!1024 nested too deeply: expected at most 1024 levels");
  CHECK(skipped(std::string(1024, '[') + std::string(1024, ']')).empty());
}

TEST_CASE("json: a walk refuses texts that only damage makes, a scanner keeps their bytes") {
  const auto walked = [](std::string_view text) {
    test::MemoryInput in(text);
    Walk walk;
    try {
      read_value(in, walk);
      return std::string();
    } catch (const snapdiff::Failure& failure) {
      return std::to_string(failure.error.offset.value_or(999'999)) + " " + failure.error.message;
    }
  };
  CHECK(walked("[\"a\\n\\u0001\xc3\xa9\"]").empty());
  CHECK(walked("[\"a\x1f\"]") == "3 malformed JSON: found \"\\x1f\", expected no control character in a text");
  CHECK(walked("[\"a\xff\"]") == "1 malformed JSON: text that is not UTF-8");
  CHECK(walked("{\"\\ud800\":1}") == "1 malformed JSON: text that is not UTF-8");
  CHECK(walked("[1e400]") == "6 malformed JSON: number \"1e400\" is beyond any double");
  CHECK(tokens("[\"a\x1f\"]") == "[T(a\x1f)]");
}

TEST_CASE("json: rows of numbers are the same one by one and at once") {
  std::mt19937_64 random(7);
  const auto number = [&] {
    return std::to_string(random() %
                          std::array{10ULL, 1'000ULL, 100'000'000ULL, 1'000'000'000'000'000'000ULL}[random() % 4]);
  };
  std::size_t quick = 0;
  std::vector<std::string> texts = {"[1,2]", "[1", "[1,", "[]"};
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t width = 1 + i % 4;
    std::string text = "[";
    for (std::size_t n = 1 + random() % 600; n > 0; --n) {
      text += number();
      if (n > 1) text += n % width == 0 && i % 2 == 0 ? "\n," : ",";
    }
    text += "]";
    // One byte of most of them is another.
    constexpr std::string_view kOthers = ",\n 0]x-.\"\t";
    if (i % 4 != 0) text[random() % text.size()] = kOthers[random() % kOthers.size()];
    if (i % 16 == 1) text.insert(random() % text.size(), 19, '9');
    texts.push_back(text);
  }
  for (const std::string& text : texts) {
    for (const std::size_t width : {1U, 3U, 7U}) {
      std::size_t none = 0;
      const std::string expected = rows_of(text, width, false, 0, none);
      CHECK(rows_of(text, width, true, 0, quick) == expected);
      CHECK(rows_of(text, width, true, 100, quick) == expected);
    }
  }
  CHECK(quick > 20'000);
}
