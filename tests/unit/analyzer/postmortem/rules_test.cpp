#include "unit/analyzer/postmortem/told.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const std::string kRule = "[[hint]]\nid = \"ours\"\ntitle = \"t\"\nusually = \"u\"\n";

std::string refused(const std::string& text) {
  const Result<postmortem::Rules> rules = postmortem::parse_rules(text, "own.toml", {});
  REQUIRE_FALSE(rules);
  CHECK(rules.error().code == ErrorCode::usage);
  return rules.error().text();
}

}  // namespace

TEST_CASE("rules: the built-in ones are read") { CHECK(postmortem::built_in_rules()); }

TEST_CASE("rules: every cut of the built-in file is read or refused with its file") {
  const std::string text(postmortem::built_in_rules_text());
  for (std::size_t size = 0; size < text.size(); size += 37) {
    const Result<postmortem::Rules> rules = postmortem::parse_rules(text.substr(0, size), "cut.toml", {});
    CAPTURE(size);
    if (!rules) CHECK(rules.error().subject == "cut.toml");
  }
}

TEST_CASE("rules: mistakes are told with line, found and expected") {
  CHECK(refused(kRule + "frames = ['[']\n").find("own.toml: usage: line 5: 'frames': invalid regular expression '['") ==
        0);
  CHECK(refused(kRule + "block = 0\n").find("line 5: 'block': expected a number of bytes") != std::string::npos);
  CHECK(refused(kRule).find("line 1: hint 'ours': found no condition") != std::string::npos);
  CHECK(refused(kRule + "steady = true\ncounter = 'x'\n").find("conditions of several kinds") != std::string::npos);
  CHECK(refused(kRule + "steady = true\nequals = 'x'\n").find("go with counter") != std::string::npos);
  CHECK(refused(kRule + "steady = true\n" + kRule + "steady = true\n").find("'ours' is there twice") !=
        std::string::npos);
  CHECK(refused("hint = 1\n").find("'hint' is unknown: expected [[hint]] entries") != std::string::npos);
  CHECK(refused("[[hint]]\nid = \"\xff\"\n").find("own.toml") == 0);
  CHECK(refused(kRule + "frames = ['" + std::string(300000, 'a') + "{1000}']\n").size() < 700000);
}

TEST_CASE("rules: rows that fit are the evidence") {
  const auto rules =
      postmortem::parse_rules(kRule + "frames = ['^leak$', 'leak[.]cc']\nsteady = true\n", "own.toml", {});
  REQUIRE(rules);
  const Postmortem report = told(leaking(9), {}, *rules);
  REQUIRE(report.narrative.hints.size() == 1);
  const Hint& hint = report.narrative.hints.front();
  CHECK(hint.rule == "ours");
  CHECK(hint.growth == 8000);
  CHECK(hint.rows.size() == 1);
  CHECK(plain(hint.evidence).find("+7.81 KiB (100 % of the growth, +8 objects) in 1 stack through leak: leak") == 0);
  CHECK(plain(hint.evidence).find("Every step leaves about 1 object. u.") != std::string::npos);
  const auto other = postmortem::parse_rules(kRule + "frames = ['^leak$', 'cache[.]cc']\n", "own.toml", {});
  CHECK(told(leaking(9), {}, *other).narrative.hints.empty());
  const auto without = postmortem::parse_rules(kRule + "frames = 'leak'\nnot_frames = 'serve'\n", "own.toml", {});
  CHECK(told(leaking(9), {}, *without).narrative.hints.empty());
}

TEST_CASE("rules: the frame that allocated can be asked for") {
  const auto hints = [](const std::string& conditions) {
    const auto rules = postmortem::parse_rules(kRule + conditions, "own.toml", {});
    REQUIRE(rules);
    return told(leaking(9), {}, *rules).narrative.hints;
  };
  REQUIRE(hints("leaf = '^leak$'\n").size() == 1);
  CHECK(plain(hints("leaf = '^leak$'\n").front().evidence).find("in 1 stack from leak: leak") != std::string::npos);
  CHECK(hints("leaf = 'serve'\n").empty());  // a caller
  CHECK(hints("frames = 'leak'\nnot_leaf = 'leak[.]cc'\n").empty());
  CHECK(hints("frames = 'leak'\nnot_leaf = 'serve'\n").size() == 1);
  CHECK(refused(kRule + "not_leaf = 'x'\n").find("every growing row would fit") != std::string::npos);
}

TEST_CASE("rules: one of the same id takes the other's place") {
  const auto first = postmortem::parse_rules(kRule + "steady = true\n", "own.toml", {});
  REQUIRE(first);
  const auto second = postmortem::parse_rules(
      "[[hint]]\nid = \"ours\"\ntitle = \"other\"\nusually = \"u\"\nframes = 'leak'\n", "own.toml", *first);
  REQUIRE(second);
  const Postmortem report = told(leaking(9), {}, *second);
  REQUIRE(report.narrative.hints.size() == 1);
  CHECK(report.narrative.hints.front().title == "other");
}
